//! Claude Code `settings.json`: the `permissions` lists and the `sandbox` section.

mod bash;
mod paths;

use self::bash::{Effect, bash};
use super::draft::{Draft, Write};
use super::hosts::{self, Listed};
use super::json::{Json, Value};
use super::report::{Import, ImportError};
use super::{srt, text_of};
use crate::language::model::DefaultDecision;

/// Imports the permissions of a `settings.json`.
///
/// # Errors
/// The file is not JSON, has a key twice, has a section that is not an object, or is too large.
pub fn claude_settings(bytes: &[u8]) -> Result<Import, ImportError> {
    let json = Json::parse(text_of(bytes)?)?;
    if !matches!(json.value, Value::Object(_)) {
        return Err(ImportError::Syntax {
            line: json.line,
            problem: "the settings are not an object",
        });
    }
    let mut draft = Draft::default();
    let mut hosts = Hosts::default();
    if denies_every_edit(&json) {
        // Before any list adds a place, wherever the denial stands in the file.
        draft.write = Write::Only(Vec::new());
    }
    for (key, value) in json.entries()? {
        match key.as_str() {
            "permissions" => permissions(&mut draft, &mut hosts, value)?,
            "sandbox" => sandbox(&mut draft, &mut hosts, value)?,
            "$schema" => {}
            _ => draft.leave(value.line, key, "is no permission"),
        }
    }
    if !hosts.allowed.is_empty() || !hosts.denied.is_empty() {
        let note = "allowed for commands, on port 443 unless it names one";
        hosts::add(&mut draft, hosts.allowed, &hosts.denied, note);
    }
    bash::settle(&mut draft);
    draft.finish("Claude Code settings")
}

fn denies_every_edit(json: &Json) -> bool {
    json.get("permissions")
        .and_then(|permissions| permissions.get("deny"))
        .and_then(Json::list)
        .unwrap_or_default()
        .iter()
        .filter_map(Json::text)
        .any(paths::is_every_edit)
}

/// Hosts that the permissions and the sandbox speak about.
#[derive(Default)]
struct Hosts {
    allowed: Vec<Listed>,
    denied: Vec<Listed>,
}

fn permissions(draft: &mut Draft, hosts: &mut Hosts, value: &Json) -> Result<(), ImportError> {
    for (key, value) in value.entries()? {
        let effect = match key.as_str() {
            "allow" => Effect::Allow,
            "ask" => Effect::Ask,
            "deny" => Effect::Deny,
            "additionalDirectories" => {
                for (line, path) in srt::texts(draft, key, value)? {
                    paths::add_directory(draft, line, &path);
                }
                continue;
            }
            "defaultMode" | "disableBypassPermissionsMode" => {
                draft.leave(
                    value.line,
                    format!("permissions.{key} = {}", value.shown()),
                    "the approval policy is picked with `[defaults] ask`",
                );
                continue;
            }
            _ => {
                draft.leave_denial(value.line, format!("permissions.{key}"), "an unknown list");
                draft.doubt(value.line, "");
                continue;
            }
        };
        let entries = srt::texts(draft, key, value)?;
        if effect != Effect::Allow && value.list().is_some_and(|list| list.len() != entries.len()) {
            draft.doubt(value.line, "");
        }
        for (line, text) in entries {
            permission(draft, hosts, effect, line, &text);
        }
    }
    Ok(())
}

/// One entry: `Tool` or `Tool(specifier)`.
fn permission(draft: &mut Draft, hosts: &mut Hosts, effect: Effect, line: usize, text: &str) {
    let text = text.trim();
    let (tool, specifier) = match text.split_once('(') {
        Some((tool, rest)) => match rest.strip_suffix(')') {
            Some(specifier) => (tool.trim(), Some(specifier)),
            None => return unknown(draft, effect, line, text, "a bracket is missing"),
        },
        None => (text.trim(), None),
    };
    match (tool, specifier) {
        ("Bash", None | Some("" | "*" | ":*")) => everything(draft, effect, line, text),
        ("Bash", Some(pattern)) => bash(draft, effect, line, text, pattern),
        ("Read", Some(path)) => paths::read(draft, effect, line, text, path),
        ("Edit" | "Write" | "MultiEdit" | "NotebookEdit", Some(path)) => {
            paths::edit(draft, effect, line, text, path);
        }
        ("Edit" | "Write", None) if effect == Effect::Deny => {
            paths::deny_every_edit(draft, line, text);
        }
        ("WebFetch", Some(specifier)) => match specifier.strip_prefix("domain:") {
            Some(host) => hosts.add(effect, line, text, host),
            None => unknown(draft, effect, line, text, "no domain"),
        },
        ("*", None) => {
            everything(draft, effect, line, text);
        }
        _ => unknown(
            draft,
            effect,
            line,
            text,
            "a tool of its own, which runs no command",
        ),
    }
}

impl Hosts {
    fn add(&mut self, effect: Effect, line: usize, what: &str, host: &str) {
        let listed = Listed {
            line,
            what: what.to_owned(),
            host: host.to_owned(),
        };
        match effect {
            Effect::Allow => self.allowed.push(listed),
            // A question about a host cannot be asked while a command runs, so it is not listed.
            Effect::Ask | Effect::Deny => self.denied.push(listed),
        }
    }
}

/// An entry about every command.
fn everything(draft: &mut Draft, effect: Effect, line: usize, what: &str) {
    match effect {
        Effect::Allow => draft.leave(
            line,
            what,
            "nothing allows every command; what no rule matches runs in the sandbox anyway",
        ),
        Effect::Ask => {
            draft.unmatched = draft.unmatched.or(Some(DefaultDecision::Prompt));
            draft.doubt(line, "");
            draft.carry(
                line,
                what,
                "what no rule matches asks, and so does what was allowed",
            );
        }
        Effect::Deny => {
            draft.unmatched = Some(DefaultDecision::Forbid);
            draft.deny_all = true;
            draft.carry(
                line,
                what,
                "what no rule matches is forbidden; allows are left out, those of other layers still hold",
            );
        }
    }
}

/// An entry that is not read. If it may have been about commands, what it denied is in doubt.
fn unknown(draft: &mut Draft, effect: Effect, line: usize, what: &str, why: &str) {
    match effect {
        Effect::Ask | Effect::Deny if is_like_bash(what) => {
            let why = "looks like an entry about commands, but cannot be read";
            draft.leave_denial(line, what, why);
            draft.doubt(line, "");
        }
        Effect::Deny => draft.leave_denial(line, what, why),
        Effect::Allow | Effect::Ask => draft.leave(line, what, why),
    }
}

/// Whether an entry begins like one about commands, in any case and behind any mark.
fn is_like_bash(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    // This tool shows what a command printed and runs none.
    text != "BashOutput"
        && text
            .get(..4)
            .is_some_and(|head| head.eq_ignore_ascii_case("bash"))
}

/// The `sandbox` section has the lists of the sandbox runtime.
fn sandbox(draft: &mut Draft, hosts: &mut Hosts, value: &Json) -> Result<(), ImportError> {
    for (key, value) in value.entries()? {
        match key.as_str() {
            "network" => {
                for (key, value) in value.entries()? {
                    let effect = match key.as_str() {
                        "allowedDomains" => Effect::Allow,
                        "deniedDomains" => Effect::Deny,
                        _ => {
                            let what = format!("sandbox.network.{key}");
                            draft.leave(value.line, what, "has no counterpart in a policy");
                            continue;
                        }
                    };
                    for (line, host) in srt::texts(draft, key, value)? {
                        hosts.add(effect, line, &host, &host);
                    }
                }
            }
            "filesystem" => paths::sandbox(draft, value)?,
            "excludedCommands" => {
                for (line, command) in srt::texts(draft, key, value)? {
                    draft.leave(line, command, "an import lets nothing out of the sandbox");
                }
            }
            _ => draft.leave(
                value.line,
                format!("sandbox.{key} = {}", value.shown()),
                "has no counterpart in a policy",
            ),
        }
    }
    Ok(())
}
