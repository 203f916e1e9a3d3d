//! Importers: any bytes are refused or become a policy that reads back, stays in the sandbox, and a report.

use palisade_exec_policy::import::{claude_settings, codex_rules, srt_settings};
use palisade_exec_policy::language::{Layer, Source, fmt, parse};

/// Imports the bytes as the file of each tool.
pub fn run(data: &[u8]) {
    for import in [codex_rules, claude_settings, srt_settings] {
        let Ok(import) = import(data) else { continue };
        let source = Source::new(Layer::User, "imported", &import.text);
        let file = parse(&source).expect("an imported policy reads back");
        assert!(file.rules.iter().all(|rule| !rule.unsandboxed));
        fmt(&source).expect("and can be formatted");
        let _ = import.report.to_string();
    }
}
