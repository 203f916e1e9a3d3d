//! The built-in data as it is compiled in: one line for each rule and table, which is read in a small part of the time
//! that the files take which people write. Every start of a program that judges a command waits for it.
//!
//! A line is a letter and its fields. Fields end with a tab; lists in them are separated by the separators of ASCII.

use palisade_policy::GitAccess;
use serde::Deserialize;
use serde::de::IntoDeserializer as _;
use serde::de::value::{Error as NameError, StrDeserializer};

use super::DANGER_SOURCE;
use crate::decision::RuleDecision;
use crate::language::Trust;
use crate::language::model::{
    ArgPredicate, Example, FlagRule, Layer, OptionTable, Origin, PolicyFile, Rule, SandboxGrants,
};

/// Between words, between lists of words, between lists of those.
const LISTS: [char; 3] = ['\u{1f}', '\u{1e}', '\u{1d}'];

/// A new line within a field.
const NEW_LINE: char = '\u{1c}';

/// Programs or subcommands that share a table of options.
pub(crate) type Options = (Vec<String>, OptionTable);

/// Files, each with its rules. `None` for what cannot be written: the files have settings that no built-in file has had so
/// far.
pub(super) fn write_files(files: &[PolicyFile]) -> Option<String> {
    let mut text = String::new();
    for file in files {
        line(&mut text, 'f', &[&file.source]);
        for (key, at) in &file.places {
            let fields = [key, &at.line.to_string(), &at.column.to_string()];
            line(&mut text, 'p', &fields.map(String::as_str));
        }
        for (name, decision) in &file.env.prefix {
            line(&mut text, 'e', &[name, decision_name(*decision)]);
        }
        for rule in &file.rules {
            write_rule(&mut text, rule);
        }
    }
    (read_files(&text, Wanted::Everything)? == *files).then_some(text)
}

/// How much of the files is read: a launch waits for every line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Everything,
    /// No examples, which are half of all lines: only those who write rules look at them.
    ToJudge,
    /// No rules either.
    Settings,
}

impl Wanted {
    /// Whether a line that begins with this is none of it.
    const fn skips(self, tag: Option<&u8>) -> bool {
        match self {
            Self::Everything => false,
            Self::ToJudge => matches!(tag, Some(b'm' | b'n')),
            Self::Settings => matches!(tag, Some(b'm' | b'n' | b'r')),
        }
    }
}

pub(super) fn read_files(text: &str, wanted: Wanted) -> Option<Vec<PolicyFile>> {
    let mut files: Vec<PolicyFile> = Vec::new();
    for line in text.lines() {
        if wanted.skips(line.as_bytes().first()) {
            continue;
        }
        let mut fields = Fields::of(line);
        let tag = fields.next()?;
        if tag == "f" {
            let name = fields.next()?;
            files.push(PolicyFile::new(Layer::BuiltIn, name, Trust::Trusted));
            continue;
        }
        let file = files.last_mut()?;
        match tag {
            "p" => {
                let key = fields.owned()?;
                file.places.insert(key, fields.origin(&file.source)?);
            }
            "e" => {
                let name = fields.owned()?;
                file.env.prefix.insert(name, fields.decision()?);
            }
            "r" => file.rules.push(read_rule(&mut fields, &file.source)?),
            "m" | "n" => {
                let command = fields.next()?.replace(NEW_LINE, "\n");
                let origin = fields.origin(&file.source)?;
                let rule = file.rules.last_mut()?;
                let examples = match tag {
                    "m" => &mut rule.matches,
                    _ => &mut rule.not_matches,
                };
                examples.push(Example { command, origin });
            }
            _ => return None,
        }
    }
    Some(files)
}

pub(super) fn write_options(options: &[Options]) -> Option<String> {
    let mut text = String::new();
    for (of, table) in options {
        let lists = [of, &table.value, &table.flag, &table.optional];
        let fields = lists.map(|list| words(list));
        line(&mut text, 'o', &fields.each_ref().map(String::as_str));
    }
    (read_options(&text)? == *options).then_some(text)
}

pub(super) fn read_options(text: &str) -> Option<Vec<Options>> {
    text.lines().map(read_options_line).collect()
}

pub(super) fn read_options_line(line: &str) -> Option<Options> {
    let mut fields = Fields::of(line);
    (fields.next()? == "o").then_some(())?;
    let of = fields.words()?;
    let (value, flag) = (fields.words()?, fields.words()?);
    let optional = fields.words()?;
    let table = OptionTable {
        value,
        flag,
        optional,
    };
    Some((of, table))
}

/// The programs or subcommands that share the table in a line.
pub(super) fn programs(line: &str) -> Option<impl Iterator<Item = &str>> {
    let mut fields = Fields::of(line);
    (fields.next()? == "o").then_some(())?;
    let [between, ..] = LISTS;
    fields.next().map(|names| split(names, between))
}

pub(super) fn write_dangers(dangers: &[Rule]) -> Option<String> {
    let mut text = String::new();
    for danger in dangers {
        write_rule(&mut text, danger);
    }
    (read_dangers(&text)? == *dangers).then_some(text)
}

pub(super) fn read_dangers(text: &str) -> Option<Vec<Rule>> {
    let read = |line| {
        let mut fields = Fields::of(line);
        (fields.next()? == "r").then_some(())?;
        read_rule(&mut fields, DANGER_SOURCE)
    };
    text.lines().map(read).collect()
}

fn write_rule(text: &mut String, rule: &Rule) {
    let maybe = |value: Option<&str>| value.map_or(String::new(), |value| format!("={value}"));
    let flags = rule.flags.as_ref().map(|flags| {
        let allow = flags.allow.as_deref().map(words);
        let [_, _, apart] = LISTS;
        format!(
            "{}{apart}{}{apart}{}",
            decision_name(flags.otherwise),
            maybe(allow.as_deref()),
            words(&flags.forbid)
        )
    });
    let git = rule.sandbox.git.map(|git| match git {
        GitAccess::ReadOnly => "read-only",
        GitAccess::Commit => "commit",
        GitAccess::Full => "full",
    });
    let except: Vec<String> = rule.except.iter().map(|one| positions(one)).collect();
    let [_, _, apart] = LISTS;
    let fields = [
        rule.id.clone(),
        rule.origin.line.to_string(),
        rule.origin.column.to_string(),
        decision_name(rule.decision).to_owned(),
        maybe(rule.why.as_deref()),
        maybe(rule.args.map(ArgPredicate::name)),
        maybe(git),
        positions(&rule.prefix),
        words(&rule.when_flags),
        maybe(flags.as_deref()),
        except.join(&apart.to_string()),
    ];
    line(text, 'r', &fields.each_ref().map(String::as_str));
    for (tag, examples) in [('m', &rule.matches), ('n', &rule.not_matches)] {
        for example in examples {
            let (at, column) = (example.origin.line, example.origin.column);
            let command = example.command.replace('\n', &NEW_LINE.to_string());
            let fields = [command, at.to_string(), column.to_string()];
            line(text, tag, &fields.each_ref().map(String::as_str));
        }
    }
}

fn read_rule(fields: &mut Fields<'_>, source: &str) -> Option<Rule> {
    let id = fields.owned()?;
    let origin = fields.origin(source)?;
    let decision = fields.decision()?;
    let why = fields.maybe()?.map(str::to_owned);
    let args = match fields.maybe()? {
        Some(name) => Some(named::<ArgPredicate>(name)?),
        None => None,
    };
    let git = match fields.maybe()? {
        Some(name) => Some(named::<GitAccess>(name)?),
        None => None,
    };
    let prefix = read_positions(fields.next()?);
    let when_flags = fields.words()?;
    let flags = match fields.maybe()? {
        Some(flags) => Some(read_flags(flags)?),
        None => None,
    };
    let [_, _, apart] = LISTS;
    let except = split(fields.next()?, apart).map(read_positions).collect();
    Some(Rule {
        id,
        prefix,
        globals: OptionTable::default(),
        decision,
        when_flags,
        flags,
        except,
        args,
        unsandboxed: false,
        sandbox: SandboxGrants {
            git,
            ..SandboxGrants::default()
        },
        why,
        matches: Vec::new(),
        not_matches: Vec::new(),
        origin,
    })
}

fn read_flags(text: &str) -> Option<FlagRule> {
    let [_, _, apart] = LISTS;
    let mut parts = text.split(apart);
    let otherwise = read_decision(parts.next()?)?;
    let allow = parts.next()?.strip_prefix('=').map(read_words);
    let forbid = read_words(parts.next()?);
    Some(FlagRule {
        allow,
        forbid,
        otherwise,
    })
}

/// What a name stands for, as policy files spell it.
fn named<'n, T: Deserialize<'n>>(name: &'n str) -> Option<T> {
    let name: StrDeserializer<'n, NameError> = name.into_deserializer();
    T::deserialize(name).ok()
}

const fn decision_name(decision: RuleDecision) -> &'static str {
    match decision {
        RuleDecision::Allow => "a",
        RuleDecision::Prompt => "p",
        RuleDecision::Forbid => "f",
    }
}

fn read_decision(name: &str) -> Option<RuleDecision> {
    match name {
        "a" => Some(RuleDecision::Allow),
        "p" => Some(RuleDecision::Prompt),
        "f" => Some(RuleDecision::Forbid),
        _ => None,
    }
}

fn line(text: &mut String, tag: char, fields: &[&str]) {
    text.push(tag);
    for field in fields {
        text.push('\t');
        text.push_str(field);
    }
    // Nothing ends with a blank.
    text.push_str("\t.\n");
}

fn words(words: &[String]) -> String {
    let [between, ..] = LISTS;
    words.join(&between.to_string())
}

fn read_words(text: &str) -> Vec<String> {
    let [between, ..] = LISTS;
    split(text, between).map(str::to_owned).collect()
}

fn positions(positions: &[Vec<String>]) -> String {
    let [_, between, _] = LISTS;
    let lists: Vec<String> = positions.iter().map(|list| words(list)).collect();
    lists.join(&between.to_string())
}

fn read_positions(text: &str) -> Vec<Vec<String>> {
    let [_, between, _] = LISTS;
    split(text, between).map(read_words).collect()
}

/// The parts of a list; nothing is an empty one.
fn split(text: &str, between: char) -> impl Iterator<Item = &str> {
    let parts = (!text.is_empty()).then(|| text.split(between));
    parts.into_iter().flatten()
}

/// The fields of a line, in their order.
struct Fields<'t>(std::str::Split<'t, char>);

impl<'t> Fields<'t> {
    fn of(line: &'t str) -> Self {
        Self(line.split('\t'))
    }

    fn next(&mut self) -> Option<&'t str> {
        self.0.next()
    }

    fn owned(&mut self) -> Option<String> {
        self.next().map(str::to_owned)
    }

    /// One that may be missing.
    fn maybe(&mut self) -> Option<Option<&'t str>> {
        self.next().map(|field| field.strip_prefix('='))
    }

    fn words(&mut self) -> Option<Vec<String>> {
        self.next().map(read_words)
    }

    fn decision(&mut self) -> Option<RuleDecision> {
        read_decision(self.next()?)
    }

    fn origin(&mut self, source: &str) -> Option<Origin> {
        let line = self.next()?.parse().ok()?;
        let column = self.next()?.parse().ok()?;
        Some(Origin::new(Layer::BuiltIn, source, line, column))
    }
}
