//! Values that several tables have: lists of words, flags, paths and hosts, prefixes and limits.

use std::collections::HashSet;

use palisade_policy::{GitAccess, NetworkAllowlistEntry, PathSpec, Protocol};
use toml::de::DeValue;

use super::super::error::Problem;
use super::super::keys;
use super::super::model::{LimitsSpec, OptionTable};
use super::reader::{At, Reader, Value};
use super::units;
use crate::decision::RuleDecision;

/// One entry for each position, each with its alternatives.
pub(super) type Prefix = Vec<Vec<String>>;

/// The items of a list; nothing if it is none.
pub(super) fn items<'v, 'i>(
    reader: &mut Reader<'_>,
    value: &'v Value<'i>,
    at: &At<'_>,
) -> &'v [Value<'i>] {
    reader.list(value, at, "a list").unwrap_or_default()
}

/// The items of a list as whatever `read` makes of them, each once.
pub(super) fn each<T: PartialEq>(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    at: &At<'_>,
    mut read: impl FnMut(&mut Reader<'_>, &Value<'_>, &At<'_>) -> Option<T>,
) -> Vec<T> {
    let items = items(reader, value, at);
    let mut list: Vec<T> = Vec::with_capacity(items.len());
    // Lists of authors are short; a long one must not take the square of its length.
    let mut texts = HashSet::new();
    for (index, value) in items.iter().enumerate() {
        let at = at.index(index);
        let Some(item) = read(reader, value, &at) else {
            continue;
        };
        let twice = match value.get_ref() {
            DeValue::String(text) if items.len() > 16 => !texts.insert(text.as_ref()),
            _ => list.len() < 1024 && list.contains(&item),
        };
        if twice {
            let shown = match value.get_ref() {
                DeValue::String(text) => text.to_string(),
                _ => "this".to_owned(),
            };
            reader.fail(value.span(), &at, Problem::Repeated(shown));
        } else {
            list.push(item);
        }
    }
    list
}

/// A prefix: positions that are one word or a list of alternatives.
pub(super) fn prefix(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Option<Prefix> {
    let DeValue::Array(positions) = value.get_ref() else {
        let hint = match value.get_ref() {
            DeValue::String(text) if text.len() < 60 => {
                let words: Vec<_> = text.split_whitespace().collect();
                Some(format!("write `{words:?}`"))
            }
            _ => None,
        };
        reader.wrong_type(value, at, "a list of words", hint);
        return None;
    };
    if positions.is_empty() {
        reader.fail(value.span(), at, Problem::Empty("a prefix"));
        return None;
    }
    let mut prefix = Vec::with_capacity(positions.len());
    let mut whole = true;
    for (index, value) in positions.iter().enumerate() {
        let at = at.index(index);
        let alternatives = match value.get_ref() {
            DeValue::Array(alternatives) if alternatives.is_empty() => {
                let problem = Problem::Empty("the alternatives of a position");
                reader.fail(value.span(), &at, problem);
                Vec::new()
            }
            DeValue::Array(_) => each(reader, value, &at, token),
            DeValue::String(_) => token(reader, value, &at).into_iter().collect(),
            _ => {
                reader.wrong_type(value, &at, "a word or a list of alternatives", None);
                Vec::new()
            }
        };
        whole &= !alternatives.is_empty();
        prefix.push(alternatives);
    }
    whole.then_some(prefix)
}

fn token(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Option<String> {
    reader.word(value, at, "a word").map(str::to_owned)
}

/// Flags, each with its dashes.
pub(super) fn flags(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Vec<String> {
    each(reader, value, at, |reader, value, at| {
        let text = reader.word(value, at, "a flag")?;
        let name = text.trim_start_matches('-');
        let dashes = text.len() - name.len();
        let plain = !name.contains(|c: char| c == '=' || c.is_whitespace() || c.is_control());
        if (1..=2).contains(&dashes) && !name.is_empty() && plain {
            return Some(text.to_owned());
        }
        let problem = Problem::NotA("a flag: one or two dashes and a name, without a value");
        let bare = (dashes == 0 && plain).then(|| match name.chars().nth(1) {
            None => format!("did you mean `-{name}`?"),
            Some(_) => format!("did you mean `--{name}`?"),
        });
        reader.fail_with(value.span(), at, problem, bare);
        None
    })
}

/// `{ value = [...], flag = [...] }`.
pub(super) fn option_table(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> OptionTable {
    let mut options = OptionTable::default();
    let Some(table) = reader.table(value, at) else {
        return options;
    };
    for (key, value) in table {
        let Some(name) = reader.known(&keys::OPTIONS, key, at) else {
            continue;
        };
        let at = at.key(name);
        match name {
            "value" => options.value = flags(reader, value, &at),
            "flag" => options.flag = flags(reader, value, &at),
            "optional" => options.optional = flags(reader, value, &at),
            _ => reader.unread(value, &at),
        }
    }
    let values: HashSet<_> = options.value.iter().collect();
    let without = options.flag.iter().chain(&options.optional);
    let both = without.into_iter().find(|flag| values.contains(flag));
    if let Some(flag) = both {
        let problem = Problem::Repeated(flag.clone());
        reader.fail_table(value.span().start, at, problem, None);
    }
    options
}

/// Paths and patterns.
pub(super) fn paths(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Vec<PathSpec> {
    each(reader, value, at, |reader, value, at| {
        let text = reader.text(value, at)?;
        path(reader, value, at, text)
    })
}

/// Paths that are no patterns.
pub(super) fn literal_paths(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    at: &At<'_>,
) -> Vec<PathSpec> {
    each(reader, value, at, |reader, value, at| {
        let text = reader.text(value, at)?;
        literal(reader, value, at, text).then(|| path(reader, value, at, text))?
    })
}

pub(super) fn path(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    at: &At<'_>,
    text: &str,
) -> Option<PathSpec> {
    match PathSpec::parse(text) {
        Ok(spec) => Some(spec),
        Err(error) => {
            reader.fail(value.span(), at, error);
            None
        }
    }
}

/// Whether a text names one path; what is a pattern is refused.
pub(super) fn literal(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>, text: &str) -> bool {
    let literal = !text.contains(['*', '?', '[']);
    if !literal {
        let problem = Problem::NotA("one path: patterns can guard, but not open");
        reader.fail(value.span(), at, problem);
    }
    literal
}

/// Hosts, as texts or tables.
pub(super) fn hosts(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    at: &At<'_>,
) -> Vec<NetworkAllowlistEntry> {
    each(reader, value, at, |reader, value, at| {
        let entry = match value.get_ref() {
            DeValue::String(text) => units::host(text),
            DeValue::Table(_) => return host_table(reader, value, at),
            _ => {
                reader.wrong_type(value, at, "a host", None);
                return None;
            }
        };
        match entry {
            Ok(entry) => Some(entry),
            Err(problem) => {
                let url = value
                    .get_ref()
                    .as_str()
                    .is_some_and(|text| text.contains('/'));
                let hint = url.then(|| "write the host alone, without scheme and path".to_owned());
                reader.fail_with(value.span(), at, problem, hint);
                None
            }
        }
    })
}

fn host_table(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    at: &At<'_>,
) -> Option<NetworkAllowlistEntry> {
    let (mut domain, mut port, mut protocol) = (None, Some(443), Some(Protocol::Tcp));
    for (key, value) in reader.table(value, at)? {
        let Some(name) = reader.known(&keys::HOST, key, at) else {
            continue;
        };
        let at = at.key(name);
        match name {
            "domain" => {
                let text = reader.text(value, &at)?;
                match palisade_policy::HostPattern::parse(text) {
                    Ok(pattern) => domain = Some(pattern),
                    Err(error) => {
                        reader.fail(value.span(), &at, error);
                        return None;
                    }
                }
            }
            "port" => {
                let number = reader.number(value, &at, 1, u64::from(u16::MAX));
                port = number.and_then(|number| u16::try_from(number).ok());
            }
            "protocol" => {
                protocol = reader.one_of(value, &at, keys::PROTOCOLS, |name| match name {
                    "tcp" => Some(Protocol::Tcp),
                    "udp" => Some(Protocol::Udp),
                    _ => None,
                });
            }
            _ => reader.unread(value, &at),
        }
    }
    let Some(domain) = domain else {
        reader.fail_table(value.span().start, at, Problem::MissingKey("domain"), None);
        return None;
    };
    NetworkAllowlistEntry::new(domain, port?, protocol?).ok()
}

pub(super) fn decision(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    at: &At<'_>,
) -> Option<RuleDecision> {
    reader.one_of(value, at, keys::DECISIONS, |name| match name {
        "allow" => Some(RuleDecision::Allow),
        "prompt" => Some(RuleDecision::Prompt),
        "forbid" => Some(RuleDecision::Forbid),
        _ => None,
    })
}

pub(super) fn git(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Option<GitAccess> {
    reader.one_of(value, at, keys::GIT, |name| match name {
        "read-only" => Some(GitAccess::ReadOnly),
        "commit" => Some(GitAccess::Commit),
        "full" => Some(GitAccess::Full),
        _ => None,
    })
}

/// `{ wall = "5m", memory = "2GiB", ... }`.
pub(super) fn limits(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    at: &At<'_>,
) -> Option<LimitsSpec> {
    let mut limits = LimitsSpec::default();
    for (key, value) in reader.table(value, at)? {
        let Some(name) = reader.known(&keys::LIMITS, key, at) else {
            continue;
        };
        let at = at.key(name);
        match name {
            "wall" => limits.wall_secs = limit(reader, value, &at, units::seconds),
            "cpu" => limits.cpu_secs = limit(reader, value, &at, units::seconds),
            "memory" => limits.memory_mb = limit(reader, value, &at, units::mebibytes),
            "disk" => limits.disk_mb = limit(reader, value, &at, units::mebibytes),
            "procs" => limits.procs = processes(reader, value, &at),
            _ => reader.unread(value, &at),
        }
    }
    Some(limits)
}

fn limit(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    at: &At<'_>,
    read: impl FnOnce(&str) -> Result<u64, Problem>,
) -> Option<u64> {
    let text = reader.text(value, at)?;
    match read(text) {
        Ok(limit) => Some(limit),
        Err(problem) => {
            reader.fail(value.span(), at, problem);
            None
        }
    }
}

fn processes(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Option<u32> {
    match value.get_ref() {
        DeValue::String(_) => reader.one_of(value, at, keys::UNLIMITED, |_| Some(0)),
        _ => {
            let number = reader.number(value, at, 1, u64::from(u32::MAX));
            number.and_then(|number| u32::try_from(number).ok())
        }
    }
}
