//! The built-in data: the curated rules, the option tables and the danger table.

use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::options::Tables;
use crate::decision::RuleDecision;
use crate::language::Source;
use crate::language::model::{ArgPredicate, Layer, OptionTable, Origin, Rule, SandboxGrants};

/// What the source of the built-in readers is called.
pub const READERS_SOURCE: &str = "built-in/readers.toml";
/// What the source of the other built-in rules is called.
pub const RULES_SOURCE: &str = "built-in/rules.toml";

/// The built-in policy files, as name and text: every rule of the first only reads.
pub const SOURCES: [(&str, &str); 2] = [
    (READERS_SOURCE, include_str!("../data/readers.toml")),
    (RULES_SOURCE, include_str!("../data/rules.toml")),
];

/// The built-in policy files, ready to be loaded.
#[must_use]
pub fn sources() -> [Source<'static>; 2] {
    SOURCES.map(|(name, text)| Source::new(Layer::BuiltIn, name, text))
}

const OPTIONS: &str = include_str!("../data/options.toml");
const DANGER: &str = include_str!("../data/danger.toml");

/// Whether a rule is one of the built-in readers.
pub(crate) fn is_reader(rule: &Rule) -> bool {
    rule.origin.layer == Layer::BuiltIn && rule.origin.source == READERS_SOURCE
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionsFile {
    options: Vec<OptionsEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct OptionsEntry {
    /// Programs or subcommands that share the table.
    of: Vec<String>,
    #[serde(default)]
    value: Vec<String>,
    #[serde(default)]
    flag: Vec<String>,
    #[serde(default)]
    optional: Vec<String>,
}

fn read_tables() -> Result<Tables, toml::de::Error> {
    let file: OptionsFile = toml::from_str(OPTIONS)?;
    let mut tables = Tables::default();
    for entry in file.options {
        let table = Arc::new(OptionTable {
            value: entry.value,
            flag: entry.flag,
            optional: entry.optional,
        });
        for path in &entry.of {
            tables.add(path, &table);
        }
    }
    Ok(tables)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DangerFile {
    danger: Vec<DangerEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DangerEntry {
    id: String,
    why: String,
    prefix: Vec<OneOrMany>,
    #[serde(default)]
    flags: Vec<String>,
    args: Option<ArgPredicate>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

fn read_dangers() -> Result<Vec<Rule>, toml::de::Error> {
    let file: DangerFile = toml::from_str(DANGER)?;
    Ok(file
        .danger
        .into_iter()
        .map(|entry| Rule {
            id: entry.id,
            prefix: entry
                .prefix
                .into_iter()
                .map(|position| match position {
                    OneOrMany::One(token) => vec![token],
                    OneOrMany::Many(tokens) => tokens,
                })
                .collect(),
            globals: OptionTable::default(),
            decision: RuleDecision::Prompt,
            when_flags: entry.flags,
            flags: None,
            except: Vec::new(),
            args: entry.args,
            unsandboxed: false,
            sandbox: SandboxGrants::default(),
            why: Some(entry.why),
            matches: Vec::new(),
            not_matches: Vec::new(),
            origin: Origin::new(Layer::BuiltIn, "built-in/danger.toml", 1, 1),
        })
        .collect())
}

/// The option tables. A test reads them; were they unreadable, every option would be unknown.
pub(crate) fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> = LazyLock::new(|| read_tables().unwrap_or_default());
    &TABLES
}

/// The danger table. A test reads it.
pub(crate) fn dangers() -> &'static [Rule] {
    static DANGERS: LazyLock<Vec<Rule>> = LazyLock::new(|| read_dangers().unwrap_or_default());
    &DANGERS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_can_be_read() {
        read_tables().unwrap();
        assert!(!read_dangers().unwrap().is_empty());
    }
}
