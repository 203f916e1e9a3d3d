//! The flags that change settings, as the text of the session's layer: so the floor binds them like any other layer.

use std::fmt::Write as _;

use palisade::runner::exec_policy::language::{Layer, Origin, PolicyFile, Trust};

use super::flags::{Mode, PolicyFlags};

/// The session's layer; empty if no flag sets anything. What the files say decides whether a command has a time limit:
/// that of a preset is for agents, who forget their commands, not for people, who wait for theirs.
pub(super) fn text(flags: &PolicyFlags, files: &[PolicyFile]) -> String {
    let mut text = String::new();
    let mode = match flags.read_only {
        true => Some(Mode::ReadOnly),
        false => flags.mode,
    };
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    if let Some(mode) = mode {
        line(format!("preset = {:?}", mode.name()));
    }
    if let Some(approval) = flags.approval {
        line(format!("[defaults]\nask = {:?}", approval.to_string()));
    }
    if flags.whole_network() {
        line("[network]\naccess = \"full\"".to_owned());
    } else if !flags.net.is_empty() {
        // What cannot be opened for one host is refused by the sandbox, with the guarantee that is missing.
        line(format!("[network]\nallow = {:?}", flags.net));
    }
    let mut limits = String::new();
    let written = files.iter().any(|file| {
        file.layer != Layer::BuiltIn
            && file.trust == Trust::Trusted
            && file.limits.is_some_and(|limits| limits.wall_secs.is_some())
    });
    match &flags.timeout {
        Some(time) => limit(&mut limits, "wall", time),
        None if !written => limit(&mut limits, "wall", "unlimited"),
        None => {}
    }
    if let Some(memory) = &flags.memory {
        limit(&mut limits, "memory", memory);
    }
    if let Some(pids) = flags.pids {
        let _ = writeln!(limits, "procs = {pids}");
    }
    if !limits.is_empty() {
        line(format!("[limits]\n{}", limits.trim_end()));
    }
    match text.is_empty() {
        true => text,
        false => format!("version = 1\n{text}"),
    }
}

/// A limit as a TOML string: Rust's quoting of what people type on a command line is TOML's, but for exotic characters,
/// which the parser refuses.
fn limit(limits: &mut String, name: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(limits, "{name} = {value:?}");
}

/// The flag that wrote what is wrong, if one did.
pub(super) fn flag(origin: &Origin, key: &str) -> Option<&'static str> {
    if origin.layer != Layer::Session {
        return None;
    }
    let flags = [
        ("limits.wall", "--timeout"),
        ("limits.memory", "--memory"),
        ("limits.procs", "--pids"),
        ("network", "--net"),
        ("defaults.ask", "--approval"),
        ("preset", "--mode"),
    ];
    flags
        .into_iter()
        .find(|(known, _)| key.starts_with(known))
        .map(|(_, flag)| flag)
}
