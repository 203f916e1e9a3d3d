//! The built-in data: the curated rules, the option tables and the danger table.
//!
//! People write them in `src/data/*.toml`. What is compiled in is `src/data/compiled.txt`, which says the same, and which
//! `cargo xtask codegen` writes.

mod record;

use std::sync::LazyLock;

use serde::Deserialize;

use super::options::{Tables, Written};
use crate::decision::RuleDecision;
use crate::language::model::{
    ArgPredicate, Layer, OptionTable, Origin, PolicyFile, Rule, SandboxGrants,
};
use crate::language::{PolicyErrors, Source, parse};
use record::{Options, Wanted};

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
    read_files(Wanted::Everything)
}

/// The same without the examples of their rules, for whoever only judges: a launch waits for every line that is read.
///
/// # Errors
/// As [`files`].
pub fn files_to_judge() -> Result<Vec<PolicyFile>, PolicyErrors> {
    read_files(Wanted::ToJudge)
}

/// The same without their rules.
///
/// # Errors
/// As [`files`].
pub(crate) fn settings() -> Result<Vec<PolicyFile>, PolicyErrors> {
    let mut files = read_files(Wanted::Settings)?;
    for file in &mut files {
        file.rules.clear();
    }
    Ok(files)
}

/// The rules alone. A test reads them; were they unreadable, no command would match one.
pub(crate) fn rules() -> Vec<Rule> {
    let files = files_to_judge().unwrap_or_default();
    files.into_iter().flat_map(|file| file.rules).collect()
}

fn read_files(wanted: Wanted) -> Result<Vec<PolicyFile>, PolicyErrors> {
    match part(0).and_then(|text| record::read_files(text, wanted)) {
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
    PARTS.get(index).copied()
}

/// Where each part is, found when this is built: searching through all of it takes longer than to judge a command.
const PARTS: [&str; 3] = {
    let (files, rest) = before_mark(COMPILED);
    let (options, dangers) = before_mark(rest);
    [files, options, dangers]
};

/// What stands before the first mark, and what after it; nothing after it where there is none.
#[expect(
    clippy::indexing_slicing,
    reason = "it is done when this is built, and lengths are compared first"
)]
const fn before_mark(text: &str) -> (&str, &str) {
    let (bytes, mark) = (text.as_bytes(), PART.as_bytes());
    let mut rest = bytes;
    while rest.len() >= mark.len() {
        let mut same = 0;
        while same < mark.len() && rest[same] == mark[same] {
            same += 1;
        }
        if same == mark.len() {
            let (before, _) = text.split_at(bytes.len() - rest.len());
            let (_, after) = text.split_at(bytes.len() - rest.len() + mark.len());
            return (before, after);
        }
        (_, rest) = rest.split_at(1);
    }
    (text, "")
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

/// The option tables, each to be read when somebody looks into it. A test reads them; were they unreadable, every option
/// would be unknown.
pub(crate) fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> = LazyLock::new(|| {
        let mut tables = Tables::default();
        let lines = part(1).into_iter().flat_map(str::lines);
        let compiled: Option<Vec<_>> = lines
            .map(|line| Some((record::programs(line)?, line)))
            .collect();
        for (programs, line) in compiled.into_iter().flatten() {
            for path in programs {
                tables.add(path, Written::Compiled(line));
            }
        }
        tables
    });
    &TABLES
}

/// The options in a line that is compiled in.
pub(crate) fn read_options_line(line: &str) -> Option<OptionTable> {
    record::read_options_line(line).map(|(_, table)| table)
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
        let compiled = part(0).and_then(|text| record::read_files(text, Wanted::Everything));
        assert_eq!(compiled.as_deref(), Some(&written[..]));
        assert_eq!(files().unwrap(), written);

        let mut judging = written;
        for rule in judging.iter_mut().flat_map(|file| &mut file.rules) {
            assert!(!rule.matches.is_empty(), "{}", rule.id);
            rule.matches.clear();
            rule.not_matches.clear();
        }
        assert_eq!(files_to_judge().unwrap(), judging);
        let all = judging.iter().flat_map(|file| file.rules.clone());
        assert_eq!(rules(), all.collect::<Vec<_>>());
        assert!(!rules().is_empty());

        for file in &mut judging {
            file.rules.clear();
        }
        assert_eq!(settings().unwrap(), judging);

        let options = read_options().unwrap();
        let compiled = part(1).and_then(record::read_options);
        assert_eq!(compiled.as_ref(), Some(&options));
        for (of, _) in options {
            assert!(of.iter().all(|path| tables().get(path).is_some()), "{of:?}");
        }

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
            assert_eq!(
                record::read_files(text, Wanted::Everything),
                None,
                "{text:?}"
            );
        }
        assert_eq!(record::read_options("o\ta"), None);
        assert_eq!(record::read_dangers("o\ta"), None);
    }
}
