//! Settings of the sandbox runtime `srt`: lists of paths and hosts.

use super::draft::{Draft, Write};
use super::hosts::{self, Listed};
use super::json::{Json, Value};
use super::render::reads_back;
use super::report::{Import, ImportError};
use super::{MAX_ENTRIES, text_of};
use crate::authoring::toml_text::string;

/// Imports a settings file of the sandbox runtime.
///
/// # Errors
/// The file is not JSON, has a key twice, has a section that is not an object, or is too large.
pub fn srt_settings(bytes: &[u8]) -> Result<Import, ImportError> {
    let json = Json::parse(text_of(bytes)?)?;
    let mut draft = Draft::default();
    let Value::Object(entries) = &json.value else {
        return Err(ImportError::Syntax {
            line: json.line,
            problem: "the settings are not an object",
        });
    };
    for (key, value) in entries {
        match key.as_str() {
            "network" | "filesystem" => {}
            _ => draft.leave(value.line, key, "has no counterpart in a policy"),
        }
    }
    network(&mut draft, json.get("network"))?;
    filesystem(&mut draft, json.get("filesystem"))?;
    draft.finish("srt settings")
}

/// `network`: what is not listed is denied there and here.
pub(super) fn network(draft: &mut Draft, network: Option<&Json>) -> Result<(), ImportError> {
    let mut allowed = Vec::new();
    let mut denied = Vec::new();
    for (key, value) in network.map(Json::entries).transpose()?.unwrap_or_default() {
        match key.as_str() {
            "allowedDomains" => allowed = texts(draft, key, value)?,
            "deniedDomains" => denied = texts(draft, key, value)?,
            "allowUnixSockets"
            | "allowAllUnixSockets"
            | "allowLocalBinding"
            | "allowMachLookup" => draft.leave(
                value.line,
                format!("network.{key}"),
                "sockets of the host are granted by hand, not by an import",
            ),
            _ => draft.leave(
                value.line,
                format!("network.{key}"),
                "has no counterpart in a policy",
            ),
        }
    }
    let listed = |(line, host): (usize, String)| Listed {
        line,
        what: host.clone(),
        host,
    };
    let denied: Vec<Listed> = denied.into_iter().map(listed).collect();
    let allowed = allowed.into_iter().map(listed).collect();
    hosts::add(
        draft,
        allowed,
        &denied,
        "allowed, on port 443 unless it names one",
    );
    Ok(())
}

/// `filesystem`: reads are open but for a list, writes are closed but for a list.
pub(super) fn filesystem(draft: &mut Draft, filesystem: Option<&Json>) -> Result<(), ImportError> {
    let mut write = Vec::new();
    for (key, value) in filesystem
        .map(Json::entries)
        .transpose()?
        .unwrap_or_default()
    {
        match key.as_str() {
            "denyRead" => {
                for (line, path) in texts(draft, key, value)? {
                    deny(draft, line, &path, &path, "neither read nor written");
                }
            }
            "denyWrite" => {
                for (line, path) in texts(draft, key, value)? {
                    read_only(draft, line, &path, &path, "read, not written");
                }
            }
            "allowWrite" => write = texts(draft, key, value)?,
            "allowRead" => draft.leave(
                value.line,
                "filesystem.allowRead",
                "what is denied is not opened again by a list; grant it to the rule that needs it",
            ),
            _ => draft.leave(
                value.line,
                format!("filesystem.{key}"),
                "has no counterpart in a policy",
            ),
        }
    }
    allow_write(draft, write);
    Ok(())
}

/// Writable places. Whoever may write at all may write the project, so without it nothing is writable.
pub(super) fn allow_write(draft: &mut Draft, write: Vec<(usize, String)>) {
    let mut paths: Vec<String> = Vec::new();
    let mut kept = Vec::new();
    let has_project = write.iter().any(|(_, path)| is_project(path));
    for (line, path) in write {
        if !has_project {
            draft.leave(
                line,
                path,
                "a policy that writes anything writes the project, which the original does not",
            );
            continue;
        }
        if is_project(&path) {
            if !paths.iter().any(|path| path == ".") {
                paths.push(".".to_owned());
            }
            kept.push((line, path));
            continue;
        }
        let here = directory(&path);
        let piece = format!("[filesystem]\nwrite = [\".\", {}]\n", string(&here));
        match reads_back(&piece) {
            Ok(()) => {
                if !paths.contains(&here) {
                    paths.push(here);
                }
                kept.push((line, path));
            }
            Err(why) => draft.leave(line, path, why),
        }
    }
    paths.sort_by_key(|path| path != ".");
    draft.write = Write::Only(paths);
    for (line, path) in kept {
        draft.write_lines.insert(directory(&path), line);
        draft.carry(line, path, "writable");
    }
}

pub(super) fn deny(draft: &mut Draft, line: usize, what: &str, path: &str, note: &str) {
    let path = directory(path);
    match reads_back(&format!("[filesystem]\ndeny = [{}]\n", string(&path))) {
        Ok(()) => {
            if !draft.deny.contains(&path) {
                draft.deny.push(path);
            }
            draft.carry(line, what, note);
        }
        Err(why) => draft.leave_denial(line, what, why),
    }
}

pub(super) fn read_only(draft: &mut Draft, line: usize, what: &str, path: &str, note: &str) {
    let path = directory(path);
    match reads_back(&format!("[filesystem]\nread_only = [{}]\n", string(&path))) {
        Ok(()) => {
            if !draft.read_only.contains(&path) {
                draft.read_only.push(path);
            }
            draft.carry(line, what, note);
        }
        Err(why) => draft.leave_denial(line, what, why),
    }
}

fn is_project(path: &str) -> bool {
    matches!(path, "." | "./" | "./**" | "**")
}

/// A place with everything below it, which is what a path means here.
fn directory(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    let short = path
        .strip_suffix("/**")
        .or_else(|| path.strip_suffix('/'))
        .unwrap_or(path);
    let short = if short.is_empty() { path } else { short };
    short.to_owned()
}

/// The strings of a list with their lines; what is no string is left out.
pub(super) fn texts(
    draft: &mut Draft,
    key: &str,
    value: &Json,
) -> Result<Vec<(usize, String)>, ImportError> {
    let Some(items) = value.list() else {
        return Err(ImportError::Syntax {
            line: value.line,
            problem: "a list of strings is expected here",
        });
    };
    if items.len() > MAX_ENTRIES {
        return Err(ImportError::TooMany { limit: MAX_ENTRIES });
    }
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        match item.text() {
            Some(text) => texts.push((item.line, text.to_owned())),
            None => draft.leave_denial(
                item.line,
                format!("{key}: {}", item.shown()),
                "not a string",
            ),
        }
    }
    Ok(texts)
}
