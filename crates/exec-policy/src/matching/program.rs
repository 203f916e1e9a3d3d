//! Which program a command runs: the name that rules look for.

use std::borrow::Cow;
use std::collections::HashMap;

use super::facts::{CommandFacts, Names};
use super::paths::resolve;

/// Where bare names may resolve to, by name.
pub(crate) type Pins = HashMap<Vec<u8>, Vec<Vec<u8>>>;

/// The name a program goes by on the strict side: any directory, any case, with or without `.exe`.
pub(crate) fn folded_base(program: &[u8]) -> Cow<'_, [u8]> {
    let base = program
        .rsplit(|&b| b == b'/' || b == b'\\')
        .next()
        .unwrap_or(program);
    let plain = !base.iter().any(u8::is_ascii_uppercase) && !base.ends_with(b".exe");
    if plain {
        return Cow::Borrowed(base);
    }
    let mut base = base.to_ascii_lowercase();
    if base.len() > 4 && base.ends_with(b".exe") {
        base.truncate(base.len().saturating_sub(4));
    }
    Cow::Owned(base)
}

pub(crate) fn is_path(program: &[u8]) -> bool {
    program.iter().any(|b| matches!(b, b'/' | b'\\'))
}

/// The key under which rules about a path are kept: `/usr/bin/x`, or `./x` below the project.
pub(crate) fn rule_key(program: &str) -> Vec<u8> {
    if !is_path(program.as_bytes()) {
        return program.as_bytes().to_vec();
    }
    let absolute = program.starts_with('/');
    let mut names: Vec<&str> = Vec::new();
    for name in program.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    let root = if absolute { "/" } else { "./" };
    format!("{root}{}", names.join("/")).into_bytes()
}

/// The key of the rules that may allow a program; `None` if no rule can.
///
/// A bare name is itself, unless the search path finds it where commands can write or where no pin says. An absolute
/// path is its last name if a pin lists it, or, without pins, if it lies in a system directory. Any other path is only
/// itself, from the project's root.
pub(crate) fn exact_key<'a>(
    program: &'a [u8],
    cwds: &[Names],
    pins: &Pins,
    facts: &CommandFacts<'_>,
) -> Option<Cow<'a, [u8]>> {
    let place = facts.place;
    if !is_path(program) {
        let found = facts
            .programs
            .and_then(|programs| programs.resolve(std::str::from_utf8(program).ok()?));
        let Some(found) = found else {
            return Some(Cow::Borrowed(program));
        };
        let found = found.as_os_str().as_encoded_bytes();
        let trusted = match pins.get(program).filter(|paths| !paths.is_empty()) {
            Some(paths) => paths.iter().any(|path| path == found),
            None => {
                let names: Vec<&[u8]> = found
                    .split(|&b| b == b'/')
                    .filter(|name| !name.is_empty())
                    .collect();
                found.first() == Some(&b'/')
                    && !names.iter().any(|name| matches!(*name, b"." | b".."))
                    && !place.is_anybodys(&names)
            }
        };
        return trusted.then_some(Cow::Borrowed(program));
    }
    if program.first() == Some(&b'/') {
        let at = program.iter().rposition(|&b| b == b'/')?;
        let (directory, name) = (program.get(..at)?, program.get(at.saturating_add(1)..)?);
        if name.is_empty() {
            return None;
        }
        let listed = match pins.get(name).filter(|paths| !paths.is_empty()) {
            Some(paths) => paths.iter().any(|path| path == program),
            None => place
                .system_directories
                .iter()
                .any(|system| system == directory),
        };
        if listed {
            return Some(Cow::Borrowed(name));
        }
    }
    let [cwd] = cwds else {
        return None;
    };
    let path = resolve(cwd, place, program);
    let (root, names) = if path.is_in_project(place) {
        (
            "./",
            path.names.get(place.project.len()..).unwrap_or_default(),
        )
    } else {
        ("/", path.names.as_slice())
    };
    let mut key = root.as_bytes().to_vec();
    key.extend_from_slice(&names.join(&b'/'));
    Some(Cow::Owned(key))
}
