//! Reads `[[rule]]` and `[[case]]`.

use std::collections::HashSet;

use toml::de::DeTable;

use super::super::error::{Problem, RuleContradiction};
use super::super::keys;
use super::super::model::{
    ArgPredicate, Case, Example, FlagRule, OptionTable, Rule, SandboxGrants,
};
use super::reader::{At, Reader, Value};
use super::shapes::{self, Prefix};
use crate::decision::RuleDecision;

/// What a rule's table says, before it is known to be complete.
#[derive(Default)]
struct Draft {
    id: Option<String>,
    prefix: Option<Prefix>,
    globals: OptionTable,
    decision: Option<RuleDecision>,
    when_flags: Vec<String>,
    flags: Option<DraftFlags>,
    except: Vec<Prefix>,
    args: Option<ArgPredicate>,
    unsandboxed: bool,
    sandbox: SandboxGrants,
    why: Option<String>,
    matches: Vec<Example>,
    not_matches: Vec<Example>,
}

#[derive(Default)]
struct DraftFlags {
    allow: Option<Vec<String>>,
    forbid: Vec<String>,
    otherwise: Option<RuleDecision>,
}

pub(super) fn rule(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Option<Rule> {
    let table = reader.table(value, at)?;
    let mut draft = Draft::default();
    for (key, value) in table {
        if let Some(name) = reader.known(&keys::RULE, key, at) {
            read_key(reader, name, value, &at.key(name), &mut draft);
        }
    }
    let start = value.span().start;
    let missing = [
        ("id", table.contains_key("id")),
        ("prefix", table.contains_key("prefix")),
        ("decision", table.contains_key("decision")),
    ];
    for (key, there) in missing {
        if !there {
            let hint = (key == "id")
                .then(|| suggested_id(draft.prefix.as_ref()))
                .flatten();
            reader.fail_table(start, at, Problem::MissingKey(key), hint);
        }
    }
    let decision = draft.decision?;
    let flags = draft.flags.take().map(|flags| FlagRule {
        allow: flags.allow,
        forbid: flags.forbid,
        otherwise: flags
            .otherwise
            .unwrap_or(decision.max(RuleDecision::Prompt)),
    });
    let rule = Rule {
        id: draft.id?,
        prefix: draft.prefix?,
        globals: draft.globals,
        decision,
        when_flags: draft.when_flags,
        flags,
        except: draft.except,
        args: draft.args,
        unsandboxed: draft.unsandboxed,
        sandbox: draft.sandbox,
        why: draft.why,
        matches: draft.matches,
        not_matches: draft.not_matches,
        origin: reader.origin(start),
    };
    check(reader, &rule, table, at);
    Some(rule)
}

fn read_key(
    reader: &mut Reader<'_>,
    name: &'static str,
    value: &Value<'_>,
    at: &At<'_>,
    draft: &mut Draft,
) {
    match name {
        "id" => draft.id = reader.word(value, at, "an id").map(str::to_owned),
        "prefix" => draft.prefix = shapes::prefix(reader, value, at),
        "globals" => draft.globals = shapes::option_table(reader, value, at),
        "when" => draft.when_flags = when(reader, value, at),
        "flags" => draft.flags = flags(reader, value, at),
        "except" => draft.except = shapes::each(reader, value, at, shapes::prefix),
        "args" => draft.args = args(reader, value, at),
        "decision" => draft.decision = shapes::decision(reader, value, at),
        "unsandboxed" => draft.unsandboxed = reader.switch(value, at).unwrap_or(false),
        "sandbox" => draft.sandbox = sandbox(reader, value, at).unwrap_or_default(),
        "why" => draft.why = reader.word(value, at, "`why`").map(str::to_owned),
        "match" => draft.matches = examples(reader, value, at),
        "not_match" => draft.not_matches = examples(reader, value, at),
        _ => reader.unread(value, at),
    }
}

/// An id made of the first words of a prefix.
fn suggested_id(prefix: Option<&Prefix>) -> Option<String> {
    let words: Vec<_> = prefix?
        .iter()
        .take(3)
        .filter_map(|position| position.first())
        .map(|word| {
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
            let word: String = word.chars().take(20).map(plain).collect();
            word.trim_matches('-').to_owned()
        })
        .filter(|word| !word.is_empty())
        .collect();
    (!words.is_empty()).then(|| format!("write `id = \"{}\"`", words.join("-")))
}

fn when(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Vec<String> {
    let mut flags = Vec::new();
    let Some(table) = reader.table(value, at) else {
        return flags;
    };
    for (key, value) in table {
        let Some(name) = reader.known(&keys::WHEN, key, at) else {
            continue;
        };
        let at = at.key(name);
        match name {
            "flags" => {
                flags = shapes::flags(reader, value, &at);
                if value
                    .get_ref()
                    .as_array()
                    .is_some_and(|list| list.is_empty())
                {
                    reader.fail(value.span(), &at, Problem::Empty("`when.flags`"));
                }
            }
            _ => reader.unread(value, &at),
        }
    }
    flags
}

fn flags(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Option<DraftFlags> {
    let mut draft = DraftFlags::default();
    for (key, value) in reader.table(value, at)? {
        let Some(name) = reader.known(&keys::RULE_FLAGS, key, at) else {
            continue;
        };
        let at = at.key(name);
        match name {
            "allow" => draft.allow = Some(shapes::flags(reader, value, &at)),
            "forbid" => draft.forbid = shapes::flags(reader, value, &at),
            "else" => draft.otherwise = shapes::decision(reader, value, &at),
            _ => reader.unread(value, &at),
        }
    }
    Some(draft)
}

fn args(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Option<ArgPredicate> {
    reader.one_of(value, at, keys::PREDICATES, |name| match name {
        "sed-print" => Some(ArgPredicate::SedPrint),
        "awk-pure" => Some(ArgPredicate::AwkPure),
        "find-no-action" => Some(ArgPredicate::FindNoAction),
        "paths-in-project" => Some(ArgPredicate::PathsInProject),
        "no-secrets" => Some(ArgPredicate::NoSecrets),
        "system-paths" => Some(ArgPredicate::SystemPaths),
        "whole-project" => Some(ArgPredicate::WholeProject),
        "git-internals" => Some(ArgPredicate::GitInternals),
        "startup-files" => Some(ArgPredicate::StartupFiles),
        "devices" => Some(ArgPredicate::Devices),
        "private-keys" => Some(ArgPredicate::PrivateKeys),
        "downloaded-script" => Some(ArgPredicate::DownloadedScript),
        "no-operands" => Some(ArgPredicate::NoOperands),
        "alone" => Some(ArgPredicate::Alone),
        "harmless-exports" => Some(ArgPredicate::HarmlessExports),
        "host-mount" => Some(ArgPredicate::HostMount),
        "no-options" => Some(ArgPredicate::NoOptions),
        "project-script" => Some(ArgPredicate::ProjectScript),
        _ => None,
    })
}

fn sandbox(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Option<SandboxGrants> {
    let mut grants = SandboxGrants::default();
    for (key, value) in reader.table(value, at)? {
        let Some(name) = reader.known(&keys::SANDBOX, key, at) else {
            continue;
        };
        let at = at.key(name);
        match name {
            "network" => grants.network = shapes::hosts(reader, value, &at),
            "write" => grants.write = shapes::literal_paths(reader, value, &at),
            "read" => grants.read = shapes::literal_paths(reader, value, &at),
            "git" => grants.git = shapes::git(reader, value, &at),
            "limits" => grants.limits = shapes::limits(reader, value, &at),
            _ => reader.unread(value, &at),
        }
    }
    Some(grants)
}

fn examples(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Vec<Example> {
    let items = shapes::items(reader, value, at);
    let mut examples = Vec::with_capacity(items.len());
    for (index, value) in items.iter().enumerate() {
        if let Some(command) = reader.word(value, &at.index(index), "an example") {
            examples.push(Example {
                command: command.to_owned(),
                origin: reader.origin(value.span().start),
            });
        }
    }
    examples
}

pub(super) fn case(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Option<Case> {
    let table = reader.table(value, at)?;
    let (mut run, mut expect) = (None, None);
    for (key, value) in table {
        let Some(name) = reader.known(&keys::CASE, key, at) else {
            continue;
        };
        let at = at.key(name);
        match name {
            "run" => run = reader.word(value, &at, "a command"),
            "expect" => expect = shapes::decision(reader, value, &at),
            _ => reader.unread(value, &at),
        }
    }
    let start = value.span().start;
    for key in ["run", "expect"] {
        if !table.contains_key(key) {
            reader.fail_table(start, at, Problem::MissingKey(key), None);
        }
    }
    Some(Case {
        run: run?.to_owned(),
        expect: expect?,
        origin: reader.origin(start),
    })
}

/// Refuses a rule whose parts cannot all be meant.
fn check(reader: &mut Reader<'_>, rule: &Rule, table: &DeTable<'_>, at: &At<'_>) {
    let place = |key: &str| {
        table
            .get_key_value(key)
            .map_or(0, |(key, _)| key.span().start)
    };
    if let Some(flags) = &rule.flags {
        let forbid: HashSet<_> = flags.forbid.iter().collect();
        let allow = flags.allow.iter().flatten();
        for flag in allow.filter(|flag| forbid.contains(flag)) {
            let problem = RuleContradiction::FlagAllowedAndForbidden(flag.clone());
            reader.fail_table(place("flags"), &at.key("flags"), problem, None);
        }
        if flags.otherwise < rule.decision {
            let at = at.key("flags");
            let problem = RuleContradiction::LooserElse;
            reader.fail_table(place("flags"), &at.key("else"), problem, None);
        }
    }
    let grants = rule.sandbox != SandboxGrants::default();
    if rule.decision == RuleDecision::Forbid && (rule.unsandboxed || grants) {
        let key = if rule.unsandboxed {
            "unsandboxed"
        } else {
            "sandbox"
        };
        let problem = RuleContradiction::ForbidWithGrants;
        reader.fail_table(place(key), &at.key(key), problem, None);
    } else if rule.unsandboxed && grants {
        let problem = RuleContradiction::UnsandboxedWithGrants;
        reader.fail_table(place("sandbox"), &at.key("sandbox"), problem, None);
    }
    for (index, except) in rule.except.iter().enumerate() {
        if !continues(except, &rule.prefix) {
            let at = at.key("except");
            let problem = RuleContradiction::ExceptOutsidePrefix;
            reader.fail_table(place("except"), &at.index(index), problem, None);
        }
    }
}

/// Whether every command that begins like `longer` begins like `prefix` too.
fn continues(longer: &Prefix, prefix: &Prefix) -> bool {
    let covered = |(position, alternatives): (&Vec<String>, &Vec<String>)| {
        let alternatives: HashSet<_> = alternatives.iter().collect();
        position.iter().all(|word| alternatives.contains(word))
    };
    longer.len() > prefix.len() && longer.iter().zip(prefix).all(covered)
}
