//! `Read(...)`, `Edit(...)` and the lists of places.
//!
//! `//x` is absolute, `~/x` is below home, `/x` is below the directory of the settings, and the rest is below the
//! working directory; both of the latter are the project here.

use super::bash::Effect;
use crate::authoring::toml_text::string;
use crate::import::draft::{Draft, Write};
use crate::import::json::Json;
use crate::import::render::reads_back;
use crate::import::report::ImportError;
use crate::import::srt;

/// A path of the settings as a policy writes it.
fn path(text: &str) -> String {
    if let Some(rest) = text.strip_prefix("//") {
        return format!("/{rest}");
    }
    if text == "~" || text.starts_with("~/") {
        return text.to_owned();
    }
    let below = text
        .strip_prefix("./")
        .or_else(|| text.strip_prefix('/'))
        .unwrap_or(text);
    // A name without a directory stands for the file wherever it is.
    let anywhere = !text.contains('/') && !below.is_empty() && below != "." && below != "**";
    if anywhere {
        format!("**/{below}")
    } else {
        below.to_owned()
    }
}

pub(super) fn read(draft: &mut Draft, effect: Effect, line: usize, what: &str, text: &str) {
    match effect {
        Effect::Deny => srt::deny(draft, line, what, &path(text), "neither read nor written"),
        Effect::Ask => draft.leave(
            line,
            what,
            "a question about a file cannot be asked while a command runs; deny it or leave it open",
        ),
        Effect::Allow => draft.leave(
            line,
            what,
            "everything but secrets can be read already, and secrets are not opened by an import",
        ),
    }
}

pub(super) fn edit(draft: &mut Draft, effect: Effect, line: usize, what: &str, text: &str) {
    let here = path(text);
    match effect {
        Effect::Deny => srt::read_only(draft, line, what, &here, "read, not written"),
        Effect::Ask => srt::read_only(
            draft,
            line,
            what,
            &here,
            "read, not written, because no question can be asked while a command runs",
        ),
        Effect::Allow if nothing_is_written(draft) => draft.leave(line, what, NOTHING_WRITTEN),
        Effect::Allow if here.starts_with(['/', '~']) => add_directory(draft, line, text),
        Effect::Allow => draft.leave(line, what, "the project can be written already"),
    }
}

const NOTHING_WRITTEN: &str = "the settings let nothing be written";

fn nothing_is_written(draft: &Draft) -> bool {
    matches!(&draft.write, Write::Only(paths) if paths.is_empty())
}

/// Whether an entry is about every edit.
pub(super) fn is_every_edit(text: &str) -> bool {
    matches!(text.trim(), "Edit" | "Write")
}

/// A denial of every edit: no place is writable.
pub(super) fn deny_every_edit(draft: &mut Draft, line: usize, what: &str) {
    draft.write = Write::Only(Vec::new());
    draft.carry(line, what, "nothing is writable, also for commands");
}

/// A further place to write.
pub(super) fn add_directory(draft: &mut Draft, line: usize, text: &str) {
    let here = path(text);
    let here = here.strip_suffix("/**").unwrap_or(&here).to_owned();
    let piece = format!("[filesystem]\nwrite = [\".\", {}]\n", string(&here));
    if let Err(why) = reads_back(&piece) {
        draft.leave(line, text, why);
        return;
    }
    let paths = match &mut draft.write {
        Write::Only(paths) => paths,
        Write::Unsaid => {
            draft.write = Write::Only(vec![".".to_owned()]);
            return add_directory(draft, line, text);
        }
    };
    // A list that says that nothing is written is not opened by an addition to it.
    if paths.is_empty() {
        draft.leave(line, text, NOTHING_WRITTEN);
        return;
    }
    draft.write_lines.insert(here.clone(), line);
    if !paths.contains(&here) {
        paths.push(here);
    }
    draft.carry(line, text, "writable");
}

/// `sandbox.filesystem`: additions to what is writable, and what is taken away.
pub(super) fn sandbox(draft: &mut Draft, value: &Json) -> Result<(), ImportError> {
    for (key, value) in value.entries()? {
        match key.as_str() {
            "allowWrite" => {
                for (line, path) in srt::texts(draft, key, value)? {
                    add_directory(draft, line, &path);
                }
            }
            "denyWrite" => {
                for (line, text) in srt::texts(draft, key, value)? {
                    srt::read_only(draft, line, &text, &path(&text), "read, not written");
                }
            }
            "denyRead" => {
                for (line, text) in srt::texts(draft, key, value)? {
                    srt::deny(draft, line, &text, &path(&text), "neither read nor written");
                }
            }
            _ => draft.leave(
                value.line,
                format!("sandbox.filesystem.{key}"),
                "has no counterpart in a policy",
            ),
        }
    }
    Ok(())
}
