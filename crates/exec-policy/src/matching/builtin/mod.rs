//! The built-in data: the curated rules, the option tables and the danger table.
//!
//! People write them in `src/data/*.toml`. What is compiled in is `src/data/compiled.txt`, which says the same, and which
//! `cargo xtask codegen` writes.

mod record;

use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use super::options::Tables;
use crate::decision::RuleDecision;
use crate::language::model::{
    ArgPredicate, Layer, OptionTable, Origin, PolicyFile, Rule, SandboxGrants,
};
use crate::language::{PolicyErrors, Source, parse};
use record::Options;

/// What the source of the built-in readers is called.
pub const READERS_SOURCE: &str = "built-in/readers.toml";
/// What the source of the other built-in rules is called.
pub const RULES_SOURCE: &str = "built-in/rules.toml";

/// The built-in policy files, as name and text: every rule of the first only reads.
pub const SOURCES: [(&str, &str); 2] = [
    (READERS_SOURCE, include_str!("../../data/readers.toml")),
    (RULES_SOURCE, include_str!("../../data/rules.toml")),
];

/// The built-in policy files, ready to be loaded.
#[must_use]
pub fn sources() -> [Source<'static>; 2] {
    SOURCES.map(|(name, text)| Source::new(Layer::BuiltIn, name, text))
}

/// What the source of the danger table is called.
const DANGER_SOURCE: &str = "built-in/danger.toml";

/// Policy files, options, dangers.
const COMPILED: &str = include_str!("../../data/compiled.txt");
/// Between the three.
const PART: &str = "\n--\n";

/// The built-in policy files, parsed.
///
/// # Errors
/// Never, unless this crate was built wrong.
pub fn files() -> Result<Vec<PolicyFile>, PolicyErrors> {
    match part(0).and_then(record::read_files) {
        Some(files) => Ok(files),
        None => sources().iter().map(parse).collect(),
    }
}

/// What is to be compiled in, from what people wrote.
///
/// # Errors
/// A file cannot be read, or says something that no built-in file has said so far.
pub fn compile() -> Result<String, Box<dyn std::error::Error>> {
    let files = sources().iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    let parts = [
        record::write_files(&files),
        record::write_options(&read_options()?),
        record::write_dangers(&read_dangers()?),
    ];
    let [Some(files), Some(options), Some(dangers)] = parts else {
        return Err("the built-in files say something that `record` cannot write yet".into());
    };
    let parts = [files, options, dangers];
    Ok(format!(
        "{}\n",
        parts.each_ref().map(|part| part.trim_end()).join(PART)
    ))
}

fn part(index: usize) -> Option<&'static str> {
    COMPILED.split(PART).nth(index)
}

const OPTIONS: &str = include_str!("../../data/options.toml");
const DANGER: &str = include_str!("../../data/danger.toml");

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

fn read_options() -> Result<Vec<Options>, toml::de::Error> {
    let file: OptionsFile = toml::from_str(OPTIONS)?;
    let entries = file.options.into_iter().map(|entry| {
        let table = OptionTable {
            value: entry.value,
            flag: entry.flag,
            optional: entry.optional,
        };
        (entry.of, table)
    });
    Ok(entries.collect())
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
            origin: Origin::new(Layer::BuiltIn, DANGER_SOURCE, 1, 1),
        })
        .collect())
}

/// The options of programs, by those who share them.
pub(crate) fn options() -> Vec<Options> {
    let compiled = part(1).and_then(record::read_options);
    compiled.unwrap_or_else(|| read_options().unwrap_or_default())
}

/// The option tables. A test reads them; were they unreadable, every option would be unknown.
pub(crate) fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> = LazyLock::new(|| {
        let mut tables = Tables::default();
        for (of, table) in options() {
            let table = Arc::new(table);
            for path in &of {
                tables.add(path, &table);
            }
        }
        tables
    });
    &TABLES
}

/// The danger table. A test reads it.
pub(crate) fn dangers() -> &'static [Rule] {
    static DANGERS: LazyLock<Vec<Rule>> = LazyLock::new(|| {
        let compiled = part(2).and_then(record::read_dangers);
        compiled.unwrap_or_else(|| read_dangers().unwrap_or_default())
    });
    &DANGERS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_in_is_what_people_wrote() {
        let written: Vec<PolicyFile> = sources()
            .iter()
            .map(|source| parse(source).unwrap())
            .collect();
        let compiled = part(0).and_then(record::read_files);
        assert_eq!(compiled.as_deref(), Some(&written[..]));
        assert_eq!(files().unwrap(), written);

        let options = read_options().unwrap();
        let compiled = part(1).and_then(record::read_options);
        assert_eq!(compiled, Some(options));

        let dangers = read_dangers().unwrap();
        assert!(!dangers.is_empty());
        let compiled = part(2).and_then(record::read_dangers);
        assert_eq!(compiled, Some(dangers));
        assert_eq!(part(3), None);
    }

    #[test]
    fn what_cannot_be_written_is_not() {
        let mut files = files().unwrap();
        let rule = files.iter_mut().flat_map(|file| &mut file.rules).next();
        rule.unwrap().unsandboxed = true;
        assert_eq!(record::write_files(&files), None);
    }

    #[test]
    fn a_record_cut_short_is_no_record() {
        for text in ["f", "r\tid", "x\ta\t.", "f\ta\t.\nm\tb\t1\t1\t."] {
            assert_eq!(record::read_files(text), None, "{text:?}");
        }
        assert_eq!(record::read_options("o\ta"), None);
        assert_eq!(record::read_dangers("o\ta"), None);
    }
}
