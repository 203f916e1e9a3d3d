//! Logs: what the system of macOS says about denials, our own records read back, and what is hidden in them.

use palisade_runner::audit::{AuditRecord, redact};
use palisade_seatbelt::denials::{Collector, Denial, collect};

const TAG: &str = "palisade-1";

/// Reads the bytes as each kind of log.
pub fn run(data: &[u8]) {
    let collector = Collector::tagged(TAG, 3).with_pids([1, 42]);
    let found = collect(data, &collector);
    assert!(found.denials.len() <= 3);
    for denial in &found.denials {
        assert!(!denial.to_string().contains('\n'), "{denial}");
    }
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Some(denial) = Denial::read(text) {
        assert!(!denial.to_string().contains('\n'), "{denial}");
    }
    if let Ok(record) = serde_json::from_str::<AuditRecord>(text) {
        let line = serde_json::to_string(&record).expect("a record can be written");
        assert!(!line.contains('\n'));
        let back: AuditRecord = serde_json::from_str(&line).expect("and read back");
        assert_eq!(back, record);
    }
    redaction(text);
}

/// Nothing is said that was not there, and hiding what is hidden hides nothing more.
fn redaction(text: &str) {
    let clean = redact::text(text);
    let kept = clean.replace(redact::MASK, "");
    assert!(kept.len() <= text.len());
    assert_eq!(redact::text(&clean), clean);
    let words: Vec<std::ffi::OsString> = text.split(' ').map(Into::into).collect();
    assert_eq!(redact::argv(&words).len(), words.len());
}
