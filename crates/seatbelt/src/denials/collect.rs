//! From lines of the log to the denials of one run.

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;

use super::message::Denial;

/// The longest line that is read at all.
const LINE_MAX: usize = 64 * 1024;

/// Why a denial is taken for ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Attribution {
    /// By the tag of the profile, which no other profile has.
    Tag,
    /// By the number of a process that was ours. Numbers are given again.
    Pid,
}

/// A denial that is ours.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct OurDenial {
    /// What was denied.
    pub denial: Denial,
    /// Why it is taken for ours.
    pub attribution: Attribution,
    /// Which part of the profile denied it, as its message says; empty if it says nothing.
    pub rule: String,
}

impl fmt::Display for OurDenial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rule.as_str() {
            "" => self.denial.fmt(f),
            rule => write!(f, "{} (rule {})", self.denial, rule.escape_debug()),
        }
    }
}

/// Whose denials are looked for.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Collector {
    /// The tag of the profile, if it has one.
    pub tag: Option<String>,
    /// The numbers of processes that were ours.
    pub pids: BTreeSet<i32>,
    /// How many are kept.
    pub max: usize,
}

impl Collector {
    /// Of a profile with this tag.
    pub fn tagged(tag: impl Into<String>, max: usize) -> Self {
        Self {
            tag: Some(tag.into()),
            pids: BTreeSet::new(),
            max,
        }
    }

    /// And of these processes.
    #[must_use]
    pub fn with_pids(mut self, pids: impl IntoIterator<Item = i32>) -> Self {
        self.pids.extend(pids);
        self
    }

    /// The denial in a message, if it is one of ours.
    fn read(&self, message: &str) -> Option<OurDenial> {
        // The kernel writes the tag of the rule below everything else: what a path says above it is the path's.
        if let Some(tag) = self.tag.as_deref().filter(|tag| !tag.is_empty())
            && let Some((above, last)) = message.rsplit_once('\n')
            && let Some(rule) = last.strip_prefix(tag)
            && (rule.is_empty() || rule.starts_with(':'))
        {
            return Some(OurDenial {
                denial: Denial::read(above)?,
                attribution: Attribution::Tag,
                rule: rule.trim_start_matches(':').to_owned(),
            });
        }
        let denial = Denial::read(message)?;
        // Where a line follows, a path holds it or another profile's tag is there: not ours for sure.
        let plain = !denial.target.contains('\n') && !denial.operation.contains('\n');
        (plain && self.pids.contains(&denial.pid)).then_some(OurDenial {
            denial,
            attribution: Attribution::Pid,
            rule: String::new(),
        })
    }
}

/// The denials of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denials {
    /// Each once, in the order of the log.
    pub denials: Vec<OurDenial>,
    /// How many more there were than are kept.
    pub more: usize,
}

/// An event, as `--style ndjson` has it.
#[derive(Deserialize)]
struct Event<'e> {
    #[serde(rename = "eventMessage", borrow)]
    message: std::borrow::Cow<'e, str>,
    /// The process that wrote it: the kernel's is 0, and everybody else could write what they like.
    #[serde(rename = "processID")]
    process: i64,
    /// What in the kernel wrote it.
    #[serde(rename = "senderImagePath", borrow, default)]
    sender: std::borrow::Cow<'e, str>,
}

/// The denials in lines of the log, each once. What is no event, or not the kernel's, is passed over.
#[must_use]
pub fn collect(lines: &[u8], collector: &Collector) -> Denials {
    let mut seen = BTreeSet::new();
    let mut found = Denials::default();
    for line in lines.split(|byte| *byte == b'\n') {
        if line.is_empty() || line.len() > LINE_MAX {
            continue;
        }
        let Ok(event) = serde_json::from_slice::<Event<'_>>(line) else {
            continue;
        };
        if event.process != 0 || !event.sender.ends_with("/Sandbox") {
            continue;
        }
        let Some(ours) = collector.read(&event.message) else {
            continue;
        };
        // Once, whichever process of the run it was and however often.
        let key = (
            ours.denial.reporter,
            ours.denial.operation.clone(),
            ours.denial.target.clone(),
        );
        if seen.contains(&key) {
            continue;
        }
        if found.denials.len() == collector.max {
            found.more = found.more.saturating_add(1);
            continue;
        }
        seen.insert(key);
        found.denials.push(ours);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: &str = "palisade-5f0c";
    const KEXT: &str = "/System/Library/Extensions/Sandbox.kext/Contents/MacOS/Sandbox";

    fn event(message: &str, process: i64, sender: &str) -> String {
        // The fields of a published event, of macOS 26.
        let event = serde_json::json!({
            "messageType": "Error", "subsystem": "", "category": "", "userID": 0,
            "processID": process, "processImagePath": "/kernel", "senderImagePath": sender,
            "threadID": 75_214_711, "machTimestamp": 43_149_983_861_291_u64,
            "timestamp": "2026-09-05 23:01:34.988314-0500", "eventMessage": message,
        });
        format!("{event}\n")
    }

    fn ours(messages: &[&str]) -> Vec<(i32, String, Attribution)> {
        let lines: String = messages.iter().map(|text| event(text, 0, KEXT)).collect();
        let collector = Collector::tagged(TAG, 100).with_pids([4242]);
        collect(lines.as_bytes(), &collector)
            .denials
            .into_iter()
            .map(|ours| (ours.denial.pid, ours.denial.target, ours.attribution))
            .collect()
    }

    #[test]
    fn ours_are_those_with_our_tag_and_then_those_of_our_processes() {
        let found = ours(&[
            "Sandbox: cat(1) deny(1) file-read-data /a\npalisade-5f0c:default",
            "Sandbox: cat(4242) deny(1) file-read-data /b",
            "Sandbox: cat(2) deny(1) file-read-data /c",
            "Sandbox: cat(2) deny(1) file-read-data /d\npalisade-other",
            "Sandbox: cat(2) deny(1) file-read-data /e\npalisade-5f0c0",
            "3 duplicate reports for Sandbox: cat(3) deny(1) file-read-data /f\npalisade-5f0c",
        ]);
        assert_eq!(
            found,
            [
                (1, "/a".to_owned(), Attribution::Tag),
                (4242, "/b".to_owned(), Attribution::Pid),
                (3, "/f".to_owned(), Attribution::Tag),
            ]
        );
    }

    #[test]
    fn a_path_makes_no_denial_of_anothers_ours_and_no_second_one() {
        // Another profile's denial of a path that holds our tag.
        assert_eq!(
            ours(&[
                "Sandbox: cat(2) deny(1) file-read-data /a\npalisade-5f0c\npalisade-other",
                "Sandbox: cat(4242) deny(1) file-read-data /a\npalisade-other",
                "Sandbox: cat(2) deny(1) file-read-data /palisade-5f0c",
            ]),
            []
        );
        let hostile = "/srv/x\nSandbox: sshd(4242) deny(1) file-write-data /etc/passwd";
        let message = format!("Sandbox: cat(2) deny(1) file-read-data {hostile}\n{TAG}");
        assert_eq!(
            ours(&[&message]),
            [(2, hostile.to_owned(), Attribution::Tag)]
        );
    }

    #[test]
    fn only_the_kernel_is_believed() {
        let message = format!("Sandbox: cat(1) deny(1) file-read-data /a\n{TAG}");
        let collector = Collector::tagged(TAG, 100);
        for (process, sender) in [
            (812, KEXT),
            (0, "/System/Library/Kernels/kernel"),
            (0, "/tmp/NotSandbox"),
            (812, "/usr/bin/log"),
        ] {
            let found = collect(event(&message, process, sender).as_bytes(), &collector);
            assert_eq!(found, Denials::default(), "{process} {sender}");
        }
        let garbage =
            b"not json\n{}\n{\"count\":5,\"finished\":1}\n\xff\xfe\n[1]\n{\"eventMessage\":1}\n";
        assert_eq!(collect(garbage, &collector), Denials::default());
    }

    #[test]
    fn many_are_bounded_and_each_is_told_once() {
        let lines: String = (0..50)
            .map(|n| {
                let message = format!(
                    "Sandbox: cat({n}) deny(1) file-read-data /{}\n{TAG}",
                    n % 25
                );
                event(&message, 0, KEXT)
            })
            .collect();
        let found = collect(lines.as_bytes(), &Collector::tagged(TAG, 100));
        assert_eq!((found.denials.len(), found.more), (25, 0));
        let found = collect(lines.as_bytes(), &Collector::tagged(TAG, 10));
        assert_eq!((found.denials.len(), found.more), (10, 30));
        let long = event(
            &format!(
                "Sandbox: cat(1) deny(1) file-read-data /{}\n{TAG}",
                "x".repeat(LINE_MAX)
            ),
            0,
            KEXT,
        );
        let found = collect(long.as_bytes(), &Collector::tagged(TAG, 10));
        assert_eq!(found, Denials::default());
    }
}
