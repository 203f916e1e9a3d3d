//! Commands, decisions and places in words, safe to show.

use palisade_shell_analysis::{PlainCommand, Word};

use crate::decision::RuleDecision;
use crate::language::model::{ArgPredicate, LimitsSpec, SandboxGrants};

/// The name of a decision, as policy files spell it.
pub(super) const fn decision(decision: RuleDecision) -> &'static str {
    match decision {
        RuleDecision::Allow => "allow",
        RuleDecision::Prompt => "prompt",
        RuleDecision::Forbid => "forbid",
    }
}

/// Text on one line, without characters that change how the rest is displayed.
pub(super) fn shown(text: &str) -> String {
    text.chars()
        .flat_map(|c| match c {
            '"' | '\'' | '\\' => vec![c],
            _ => c.escape_debug().collect(),
        })
        .collect()
}

/// The words of a command.
pub(super) fn command(command: &PlainCommand) -> String {
    let words: Vec<String> = command.words.iter().map(word).collect();
    words.join(" ")
}

/// One word, quoted where it has to be.
pub(super) fn word(word: &Word) -> String {
    match word {
        Word::Literal(bytes) => literal(bytes),
        Word::Pattern(pattern) => bytes(pattern.text()),
        Word::ProcessSubstitution(plain) => {
            let commands: Vec<String> = plain.commands.iter().map(command).collect();
            format!("<({})", commands.join("; "))
        }
        _ => "<?>".to_owned(),
    }
}

/// Bytes of a word, quoted where a shell would read them otherwise.
pub(super) fn literal(bytes: &[u8]) -> String {
    let quoted = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| super::toml_text::shell_words(&[text]));
    quoted.unwrap_or_else(|| format!("'{}'", self::bytes(bytes)))
}

/// Bytes with everything escaped that is no printable ASCII.
pub(super) fn bytes(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

/// Rule prefixes: `git push|pull`.
pub(super) fn prefix(positions: &[Vec<String>]) -> String {
    let positions: Vec<String> = positions
        .iter()
        .map(|position| shown(&position.join("|")))
        .collect();
    positions.join(" ")
}

/// What the sandbox grants, one entry each.
pub(super) fn grants(grants: &SandboxGrants) -> Vec<String> {
    let mut out = opened(grants);
    out.extend(grants.limits.as_ref().map(limits));
    out
}

/// What the sandbox opens, without limits.
pub(super) fn opened(grants: &SandboxGrants) -> Vec<String> {
    let mut out = Vec::new();
    out.extend(grants.network.iter().map(|host| format!("reach {host}")));
    out.extend(grants.write.iter().map(|path| format!("write {path}")));
    out.extend(grants.read.iter().map(|path| format!("read {path}")));
    out.extend(grants.git.map(|git| format!("git {}", git_name(git))));
    out
}

/// The name of a check, as policy files spell it.
pub(super) fn predicate(predicate: ArgPredicate) -> String {
    let mut name = String::new();
    for c in format!("{predicate:?}").chars() {
        if c.is_ascii_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

/// The name of a way to treat `.git`, as policy files spell it.
pub(super) const fn git_name(git: palisade_policy::GitAccess) -> &'static str {
    match git {
        palisade_policy::GitAccess::ReadOnly => "read-only",
        palisade_policy::GitAccess::Commit => "commit",
        palisade_policy::GitAccess::Full => "full",
    }
}

fn limits(limits: &LimitsSpec) -> String {
    let mut parts = Vec::new();
    let mut part = |name: &str, value: Option<u64>, unit: &str| {
        parts.extend(value.map(|value| match value {
            0 => format!("{name} unlimited"),
            value => format!("{name} {value}{unit}"),
        }));
    };
    part("wall", limits.wall_secs, " s");
    part("cpu", limits.cpu_secs, " s");
    part("memory", limits.memory_mb, " MiB");
    part("disk", limits.disk_mb, " MiB");
    part("procs", limits.procs.map(u64::from), "");
    format!("limits {}", parts.join(", "))
}
