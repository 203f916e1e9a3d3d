//! Rules and settings of other tools, as policies of ours.
//!
//! Each importer reads the bytes of one file and returns the [text](Import::text) of a policy together with a
//! [report](ImportReport): what was carried over, with what differs, and what was not, with the line and the reason.
//! Nothing is guessed. Two laws hold for every file:
//!
//! - what the original denied, the imported text never allows: where a denial cannot be expressed, the allows that it
//!   could touch become questions;
//! - nothing leaves the sandbox: an allow of another tool means *allowed inside the sandbox* here.
//!
//! ```
//! use palisade_exec_policy::import::{codex_rules, claude_settings};
//!
//! let import = codex_rules(br#"prefix_rule(pattern = ["git", "push"], decision = "forbidden")"#)?;
//! assert!(import.text.contains("decision = \"forbid\""));
//!
//! let import = claude_settings(br#"{"permissions": {"allow": ["Bash(cargo test:*)", "mcp__db__query"]}}"#)?;
//! assert!(import.text.contains("prefix = [\"cargo\", \"test\"]"));
//! assert_eq!(import.report.not_carried.len(), 1);
//! # Ok::<(), palisade_exec_policy::import::ImportError>(())
//! ```

mod claude;
mod codex;
mod draft;
mod examples;
mod hosts;
mod json;
mod render;
mod report;
mod srt;

pub use claude::claude_settings;
pub use codex::codex_rules;
pub use report::{Carried, Import, ImportError, ImportReport, NotCarried};
pub use srt::srt_settings;

/// The largest file that is imported.
pub const MAX_IMPORT_BYTES: usize = 1 << 20;
/// The most rules or list entries that are imported from one file.
pub(crate) const MAX_ENTRIES: usize = 10_000;

/// The text of a file that is small enough and text at all.
fn text_of(bytes: &[u8]) -> Result<&str, ImportError> {
    if bytes.len() > MAX_IMPORT_BYTES {
        return Err(ImportError::TooLarge {
            limit: MAX_IMPORT_BYTES,
        });
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count();
        ImportError::NotText {
            line: line.saturating_add(1),
        }
    })
}
