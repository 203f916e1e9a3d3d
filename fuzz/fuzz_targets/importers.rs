//! Importers: any bytes are refused or become a policy that reads back, stays in the sandbox, and a report.
#![no_main]

use libfuzzer_sys::fuzz_target;
use palisade_exec_policy::import::{claude_settings, codex_rules, srt_settings};
use palisade_exec_policy::language::{Layer, Source, parse};

fuzz_target!(|data: &[u8]| {
    for import in [codex_rules, claude_settings, srt_settings] {
        let Ok(import) = import(data) else { continue };
        let file = parse(&Source::new(Layer::User, "imported", &import.text))
            .expect("an imported policy reads back");
        assert!(file.rules.iter().all(|rule| !rule.unsandboxed));
        let _ = import.report.to_string();
    }
});
