//! What is expected of a probe on a host, and whether that is what was seen.

use palisade::runner::policy::{Guarantee, Level, LimitKind, LimitLevel};
use palisade_probes::{Expected, Outcome, Probe, Verdict};
use serde::Deserialize;

use super::hosts::{Host, OLDER, Older, Said};

/// What our own report says about a sandbox.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Promises {
    guarantees: Vec<(Guarantee, Promise)>,
    limits: Vec<(LimitKind, LimitLevel)>,
    notes: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Promise {
    level: Level,
}

impl Promises {
    /// Whether the report says that this gets through.
    fn admits(&self, said: Said) -> bool {
        match said {
            Said::Lost(name) => !self.guarantees.iter().any(|(guarantee, promise)| {
                guarantee.name() == name && promise.level == Level::Enforced
            }),
            Said::Noted(words) => self.notes.iter().any(|note| note.contains(words)),
        }
    }

    fn pids(&self) -> LimitLevel {
        let found = self
            .limits
            .iter()
            .find(|(kind, _)| *kind == LimitKind::Pids);
        found.map_or(LimitLevel::NotEnforced, |(_, level)| *level)
    }
}

/// Probes that start more processes than the limit.
const CROWDS: [&str; 2] = ["res-fork-bomb", "res-thread-bomb"];

/// What is known about a probe on a host, where that is not what its tier says.
fn older(probe: &Probe, host: &Host) -> Option<&'static Older> {
    OLDER.iter().find(|older| {
        older.probe == probe.name && older.tier == host.tier && host.landlock() < older.since
    })
}

/// What is expected on a host.
pub(super) fn expected(probe: &Probe, host: &Host) -> Expected {
    match older(probe, host) {
        Some(older) => Expected::Residue(older.why),
        None => probe.expected(host.tier),
    }
}

/// Whether this is how a known probe gets through on a host.
pub(super) fn gets_through(probe: &Probe, host: &Host, verdict: &Verdict) -> bool {
    let ended = verdict.said.contains("the sandbox session ended");
    verdict.outcome == Outcome::Escaped
        || ended && older(probe, host).is_some_and(|older| older.ends_the_session)
}

/// Why this is not what is promised; `None` if it is.
pub(super) fn deviation(
    probe: &Probe,
    host: &Host,
    verdict: &Verdict,
    promises: &Promises,
) -> Option<String> {
    if let Some(older) = older(probe, host) {
        if !promises.admits(older.said) {
            return Some(format!(
                "the report does not say so: {older:?}: {verdict:?}"
            ));
        }
        let through = gets_through(probe, host, verdict);
        return (!through).then(|| format!("expected to get through: {verdict:?}"));
    }
    // Whether processes can be limited at all depends on the host's control groups: where the report says that they are, a
    // known residue must be contained; where it says that they are counted now and then, a burst may or may not be over
    // before somebody counts.
    let residue = matches!(probe.expected(host.tier), Expected::Residue(_));
    if residue && CROWDS.contains(&probe.name) {
        let fine = match promises.pids() {
            LimitLevel::Enforced => verdict.outcome == Outcome::Contained,
            LimitLevel::Sampled => {
                matches!(verdict.outcome, Outcome::Contained | Outcome::Escaped)
            }
            LimitLevel::PerProcess | LimitLevel::NotEnforced => verdict.outcome == Outcome::Escaped,
        };
        let pids = promises.pids();
        return (!fine).then(|| format!("the report says {pids:?} about processes: {verdict:?}"));
    }
    verdict.deviation(probe, host.tier)
}

#[cfg(test)]
mod tests {
    use palisade_probes::{Report, find};

    use super::*;
    use crate::escapes::hosts::HOSTS;

    fn host(name: &str) -> &'static Host {
        HOSTS.iter().find(|host| host.name == name).unwrap()
    }

    fn promises(level: &str, pids: &str) -> Promises {
        serde_json::from_str(&format!(
            r#"{{"guarantees":[["process-isolation",{{"level":"{level}","mechanism":"x"}}]],
                "limits":[["pids","{pids}"]],"notes":[]}}"#
        ))
        .unwrap()
    }

    fn said(probe: &Probe, line: &str) -> Verdict {
        Verdict::new(probe, &Report::parse(line).unwrap(), Vec::new(), false)
    }

    #[test]
    fn an_older_landlock_lets_through_what_it_says_and_no_more() {
        let kill = find("proc-kill").unwrap();
        let (got_through, refused) = (said(kill, "escaped: x"), said(kill, "refused: EPERM x"));
        let lost = promises("not-enforced", "enforced");
        let (old, new) = (host("Landlock ABI 5"), host("Landlock ABI 6"));
        assert_eq!(deviation(kill, old, &got_through, &lost), None);
        assert!(deviation(kill, old, &refused, &lost).is_some());
        assert!(deviation(kill, new, &got_through, &lost).is_some());
        assert_eq!(deviation(kill, new, &refused, &lost), None);
        // A report that still promises it is wrong.
        let kept = promises("enforced", "enforced");
        assert!(deviation(kill, old, &got_through, &kept).is_some());
        for older in OLDER {
            let probe = find(older.probe).unwrap();
            assert_eq!(probe.expected(older.tier), Expected::Contained, "{older:?}");
        }
    }

    #[test]
    fn a_session_that_was_ended_is_a_way_through_only_where_that_is_known() {
        let ended = "broken: exit code 125, output \"\"; the sandbox session ended";
        let (old, new) = (host("Landlock ABI 5"), host("Landlock ABI 6"));
        for (name, through) in [("proc-end-watcher", true), ("proc-kill", false)] {
            let probe = find(name).unwrap();
            let verdict = said(probe, ended);
            assert_eq!(gets_through(probe, old, &verdict), through, "{name}");
            assert!(!gets_through(probe, new, &verdict), "{name}");
        }
    }

    #[test]
    fn a_pipe_is_written_without_landlock_and_the_report_says_so() {
        let pipe = find("fs-pipe-outside").unwrap();
        let through = said(pipe, "escaped: x");
        let none = host("full, no Landlock");
        let mut report = promises("enforced", "enforced");
        assert!(deviation(pipe, none, &through, &report).is_some());
        report
            .notes
            .push("... named pipes outside can be written".to_owned());
        assert_eq!(deviation(pipe, none, &through, &report), None);
        assert!(deviation(pipe, host("full"), &through, &report).is_some());
    }

    #[test]
    fn a_crowd_is_judged_by_what_the_report_says_about_processes() {
        let bomb = find("res-fork-bomb").unwrap();
        let (through, stopped) = (said(bomb, "escaped: x"), said(bomb, "refused: EAGAIN x"));
        let landlock = host("landlock");
        let judge = |verdict, pids| {
            deviation(bomb, landlock, verdict, &promises("enforced", pids)).is_none()
        };
        assert!(judge(&stopped, "enforced") && !judge(&through, "enforced"));
        assert!(judge(&through, "not-enforced") && !judge(&stopped, "not-enforced"));
        assert!(judge(&through, "sampled") && judge(&stopped, "sampled"));
        // Where a tier keeps it, the report does not matter.
        let full = host("full");
        let lost = promises("enforced", "not-enforced");
        assert!(deviation(bomb, full, &through, &lost).is_some());
    }
}
