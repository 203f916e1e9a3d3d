//! What the floor, and a missing trust, take away from a rule.

use palisade_policy::GitAccess;

use super::super::model::{DefaultDecision, Layer, LimitsSpec, Rule, SandboxGrants};
use super::super::notice::NoticeKind;
use super::super::settings::{listed, lower};
use super::Loader;
use crate::decision::RuleDecision;

impl Loader {
    /// The rule as it is in force; `None` if nothing of it is.
    pub(super) fn rule(&mut self, rule: Rule, untrusted: bool) -> Option<Rule> {
        let rule = if untrusted {
            self.untrusted(rule)?
        } else {
            rule
        };
        Some(self.floored(rule))
    }

    fn untrusted(&mut self, mut rule: Rule) -> Option<Rule> {
        let name = format!("rule `{}`", rule.id);
        let origin = rule.origin.clone();
        if rule.decision == RuleDecision::Allow {
            self.notice(&origin, name, NoticeKind::Untrusted);
            return None;
        }
        if rule.unsandboxed {
            rule.unsandboxed = false;
            let detail = "`unsandboxed`".to_owned();
            self.notice_about(&origin, &name, NoticeKind::Untrusted, detail);
        }
        let written = std::mem::take(&mut rule.sandbox);
        rule.sandbox.limits = written.limits.map(|limits| self.lower_limits(&limits));
        if rule.sandbox != written {
            let detail = "what `sandbox` grants".to_owned();
            self.notice_about(&origin, &name, NoticeKind::Untrusted, detail);
        }
        rule.sandbox.limits = rule
            .sandbox
            .limits
            .filter(|limits| *limits != LimitsSpec::default());
        // A command that this rule alone matches would be forbidden without it.
        let forbidden = self.settings.unmatched.value == Some(DefaultDecision::Forbid);
        if forbidden && rule.decision == RuleDecision::Prompt {
            rule.decision = RuleDecision::Forbid;
            rule.sandbox = SandboxGrants::default();
            if let Some(flags) = &mut rule.flags {
                flags.otherwise = RuleDecision::Forbid;
            }
            self.notice(&origin, name, NoticeKind::ForbidsInstead);
        }
        Some(rule)
    }

    /// The limits that are lower than those of the policy.
    fn lower_limits(&self, limits: &LimitsSpec) -> LimitsSpec {
        let policy = &self.settings.limits;
        LimitsSpec {
            wall_secs: limits
                .wall_secs
                .filter(|limit| lower(limit, &policy.wall_secs.value)),
            cpu_secs: limits
                .cpu_secs
                .filter(|limit| lower(limit, &policy.cpu_secs.value)),
            memory_mb: limits
                .memory_mb
                .filter(|limit| lower(limit, &policy.memory_mb.value)),
            disk_mb: limits
                .disk_mb
                .filter(|limit| lower(limit, &policy.disk_mb.value)),
            procs: limits
                .procs
                .filter(|limit| lower(limit, &policy.procs.value)),
        }
    }

    fn floored(&mut self, mut rule: Rule) -> Rule {
        let name = format!("rule `{}`", rule.id);
        let place = |key| self.floor.place(key).cloned();
        let mut notices = Vec::new();
        if let (true, Some(floor)) = (rule.unsandboxed, place("no-unsandboxed")) {
            rule.unsandboxed = false;
            notices.push(("`unsandboxed`".to_owned(), floor));
        }
        // The system layer may grant what its own floor keeps from others.
        if rule.origin.layer != Layer::System {
            if let Some(floor) = place("no-network") {
                let system = &self.floor.network;
                let (kept, cut): (Vec<_>, Vec<_>) = std::mem::take(&mut rule.sandbox.network)
                    .into_iter()
                    .partition(|entry| system.holds(entry));
                rule.sandbox.network = kept;
                if !cut.is_empty() {
                    notices.push((format!("`sandbox.network` to {}", listed(cut)), floor));
                }
            }
            if let Some(floor) = self.floor.read_only().cloned() {
                if !rule.sandbox.write.is_empty() {
                    rule.sandbox.write.clear();
                    notices.push(("`sandbox.write`".to_owned(), floor.clone()));
                }
                if rule
                    .sandbox
                    .git
                    .is_some_and(|git| git != GitAccess::ReadOnly)
                {
                    rule.sandbox.git = None;
                    notices.push(("`sandbox.git`".to_owned(), floor));
                }
            }
        }
        for (detail, floor) in notices {
            let kind = NoticeKind::BelowFloor { floor };
            self.notice_about(&rule.origin, &name, kind, detail);
        }
        rule
    }
}
