//! Reads the tables that are no rules.

use palisade_policy::{PathSpec, RelativePath, WorkspaceRoot};
use toml::de::{DeTable, DeValue};

use super::super::error::{Problem, RuleContradiction};
use super::super::keys;
use super::super::model::{
    DefaultDecision, Floor, Injection, Layer, LimitsSpec, PolicyFile, Preset,
};
use super::super::settings::PROJECT;
use super::reader::{At, Reader, Value};
use super::{shapes, units};
use crate::decision::{AskForApproval, RejectConfig};

pub(super) fn preset(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Option<Preset> {
    reader.one_of(value, at, keys::PRESETS, |name| match name {
        "read-only" => Some(Preset::ReadOnly),
        "workspace" => Some(Preset::Workspace),
        "ci" => Some(Preset::Ci),
        "open" => Some(Preset::Open),
        _ => None,
    })
}

/// Remembers where a setting stands.
pub(super) fn note(
    reader: &Reader<'_>,
    file: &mut PolicyFile,
    table: &str,
    key: &str,
    start: usize,
) {
    file.places
        .insert(format!("{table}.{key}"), reader.origin(start));
}

pub(super) fn defaults(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    at: &At<'_>,
    file: &mut PolicyFile,
) {
    let Some(table) = reader.table(value, at) else {
        return;
    };
    for (key, value) in table {
        let Some(name) = reader.known(&keys::DEFAULTS, key, at) else {
            continue;
        };
        let at = at.key(name);
        note(reader, file, "defaults", name, key.span().start);
        match name {
            "unmatched" => file.defaults.unmatched = default(reader, value, &at),
            "opaque" => file.defaults.opaque = default(reader, value, &at),
            "danger" => file.defaults.danger = default(reader, value, &at),
            "ask" => file.defaults.ask = ask(reader, value, &at),
            _ => reader.unread(value, &at),
        }
    }
}

fn default(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Option<DefaultDecision> {
    if value.get_ref().as_str() == Some("allow") {
        reader.fail(value.span(), at, RuleContradiction::AllowByDefault);
        return None;
    }
    reader.one_of(value, at, keys::DEFAULTS_WORDS, |name| match name {
        "prompt" => Some(DefaultDecision::Prompt),
        "forbid" => Some(DefaultDecision::Forbid),
        _ => None,
    })
}

fn ask(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Option<AskForApproval> {
    let DeValue::Table(table) = value.get_ref() else {
        return reader.one_of(value, at, keys::APPROVALS, |name| name.parse().ok());
    };
    let mut ask = None;
    for (key, value) in table {
        let Some(name) = reader.known(&keys::ASK, key, at) else {
            continue;
        };
        let at = at.key(name);
        match name {
            "reject" => ask = reject(reader, value, &at),
            _ => reader.unread(value, &at),
        }
    }
    if table.is_empty() {
        reader.fail_table(value.span().start, at, Problem::MissingKey("reject"), None);
    }
    ask
}

fn reject(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Option<AskForApproval> {
    let mut config = RejectConfig::default();
    for (key, value) in reader.table(value, at)? {
        let Some(name) = reader.known(&keys::REJECT, key, at) else {
            continue;
        };
        let at = at.key(name);
        let switch = reader.switch(value, &at).unwrap_or(false);
        match name {
            "sandbox_approval" => config.sandbox_approval = switch,
            "rules" => config.rules = switch,
            "request_permissions" => config.request_permissions = switch,
            "mcp_elicitations" => config.mcp_elicitations = switch,
            _ => reader.unread(value, &at),
        }
    }
    Some(AskForApproval::Reject(config))
}

pub(super) fn floor(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    at: &At<'_>,
    file: &mut PolicyFile,
) {
    let Some(table) = reader.table(value, at) else {
        return;
    };
    let mut floor = Floor::default();
    for (key, value) in table {
        let Some(name) = reader.known(&keys::FLOOR, key, at) else {
            continue;
        };
        let at = at.key(name);
        note(reader, file, "floor", name, key.span().start);
        match name {
            "preset" => floor.preset = preset(reader, value, &at),
            "no-unsandboxed" => floor.no_unsandboxed = reader.switch(value, &at) == Some(true),
            "no-accepted-losses" => {
                floor.no_accepted_losses = reader.switch(value, &at) == Some(true);
            }
            "no-network" => floor.no_network = reader.switch(value, &at) == Some(true),
            _ => reader.unread(value, &at),
        }
    }
    file.floor = Some(floor);
}

pub(super) fn filesystem(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    at: &At<'_>,
    file: &mut PolicyFile,
) {
    let Some(table) = reader.table(value, at) else {
        return;
    };
    for (key, value) in table {
        let Some(name) = reader.known(&keys::FILESYSTEM, key, at) else {
            continue;
        };
        let at = at.key(name);
        note(reader, file, "filesystem", name, key.span().start);
        match name {
            "write" => file.filesystem.write = Some(roots(reader, value, &at)),
            "deny" => file.filesystem.deny = shapes::paths(reader, value, &at),
            "read_only" => file.filesystem.read_only = shapes::paths(reader, value, &at),
            "protected" => file.filesystem.protected = Some(protected(reader, value, &at)),
            "git" => file.filesystem.git = shapes::git(reader, value, &at),
            _ => reader.unread(value, &at),
        }
    }
}

/// Writable roots: none, or the project and others.
fn roots(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Vec<String> {
    let roots = shapes::each(reader, value, at, |reader, value, at| {
        let text = reader.text(value, at)?;
        if text == PROJECT || text == "./" {
            return Some(PROJECT.to_owned());
        }
        if !shapes::literal(reader, value, at, text) {
            return None;
        }
        let spec = shapes::path(reader, value, at, text)?;
        if text.starts_with('/')
            && let Err(error) = WorkspaceRoot::new(text)
        {
            reader.fail(value.span(), at, error);
            return None;
        }
        Some(spec.to_string())
    });
    let given = value
        .get_ref()
        .as_array()
        .is_some_and(|list| !list.is_empty());
    if given && !roots.iter().any(|root| root == PROJECT) {
        reader.fail(value.span(), at, RuleContradiction::WriteWithoutProject);
    }
    roots
}

fn protected(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Vec<String> {
    shapes::each(reader, value, at, |reader, value, at| {
        let text = reader.text(value, at)?;
        if !shapes::literal(reader, value, at, text) {
            return None;
        }
        match RelativePath::new(text) {
            Ok(path) => Some(path.to_string()),
            Err(error) => {
                reader.fail(value.span(), at, error);
                None
            }
        }
    })
}

pub(super) fn network(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    at: &At<'_>,
    file: &mut PolicyFile,
) {
    let Some(table) = reader.table(value, at) else {
        return;
    };
    for (key, value) in table {
        let Some(name) = reader.known(&keys::NETWORK, key, at) else {
            continue;
        };
        let at = at.key(name);
        note(reader, file, "network", name, key.span().start);
        match name {
            "allow" => file.network.allow = Some(shapes::hosts(reader, value, &at)),
            "access" => {
                file.network.full = reader.one_of(value, &at, keys::ACCESS, |name| match name {
                    "full" => Some(true),
                    "restricted" => Some(false),
                    _ => None,
                });
            }
            "inject" => file.network.inject = injections(reader, value, &at),
            _ => reader.unread(value, &at),
        }
    }
    if !file.network.inject.is_empty() && file.layer != Layer::User {
        let start = table
            .get_key_value("inject")
            .map_or(0, |(key, _)| key.span().start);
        let problem = RuleContradiction::InjectOutsideUser;
        reader.fail_table(start, &at.key("inject"), problem, None);
    }
    let clash = match (&file.network.allow, file.network.full) {
        (Some(_), Some(true)) => true,
        (Some(hosts), Some(false)) => !hosts.is_empty(),
        _ => false,
    };
    if clash {
        let start = table
            .get_key_value("access")
            .map_or(0, |(key, _)| key.span().start);
        let problem = RuleContradiction::NetworkAccessAndList;
        reader.fail_table(start, &at.key("access"), problem, None);
    }
}

fn injections(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Vec<Injection> {
    let mut found = Vec::new();
    for (index, value) in shapes::items(reader, value, at).iter().enumerate() {
        found.extend(injection(reader, value, &at.index(index)));
    }
    found
}

fn injection(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Option<Injection> {
    let (mut host, mut header, mut from_env) = (None, None, None);
    let (mut prefix, mut intercept) = (String::new(), false);
    for (key, value) in reader.table(value, at)? {
        let Some(name) = reader.known(&keys::INJECT, key, at) else {
            continue;
        };
        let at = at.key(name);
        match name {
            "host" => match units::host(reader.text(value, &at)?) {
                Ok(entry) => host = Some(entry),
                Err(problem) => {
                    reader.fail(value.span(), &at, problem);
                    return None;
                }
            },
            "header" => header = Some(reader.text(value, &at)?.to_owned()),
            "from-env" => from_env = Some(reader.text(value, &at)?.to_owned()),
            "prefix" => reader.text(value, &at)?.clone_into(&mut prefix),
            "intercept" => intercept = reader.switch(value, &at)?,
            _ => reader.unread(value, &at),
        }
    }
    let mut required = |name: &'static str, there: bool| {
        if !there {
            reader.fail_table(value.span().start, at, Problem::MissingKey(name), None);
        }
    };
    required("host", host.is_some());
    required("header", header.is_some());
    required("from-env", from_env.is_some());
    Some(Injection {
        host: host?,
        header: header?,
        from_env: from_env?,
        prefix,
        intercept,
    })
}

pub(super) fn policy_limits(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    at: &At<'_>,
    file: &mut PolicyFile,
) -> Option<LimitsSpec> {
    if let DeValue::Table(table) = value.get_ref() {
        for (key, _) in table {
            note(reader, file, "limits", key.get_ref(), key.span().start);
        }
    }
    shapes::limits(reader, value, at)
}

/// Refuses settings that cannot all be meant.
pub(super) fn check(reader: &mut Reader<'_>, table: &DeTable<'_>, file: &PolicyFile) {
    let Some(roots) = &file.filesystem.write else {
        return;
    };
    let at = At::FILE.key("filesystem");
    let at = at.key("write");
    let filesystem = table
        .get("filesystem")
        .and_then(|value| value.get_ref().as_table());
    let span = filesystem
        .and_then(|table| table.get("write"))
        .map_or(0..0, |value| value.span());
    if file.preset == Some(Preset::ReadOnly) && !roots.is_empty() {
        reader.fail(span.clone(), &at, RuleContradiction::ReadOnlyWithWrite);
    }
    let guards: [(&'static str, &[PathSpec]); 2] = [
        ("deny", &file.filesystem.deny),
        ("read_only", &file.filesystem.read_only),
    ];
    for (guard, specs) in guards {
        let both = specs
            .iter()
            .map(PathSpec::to_string)
            .find(|spec| roots.contains(spec));
        if let Some(path) = both {
            let problem = RuleContradiction::WriteAndGuarded(path, guard);
            reader.fail(span.clone(), &at, problem);
        }
    }
}
