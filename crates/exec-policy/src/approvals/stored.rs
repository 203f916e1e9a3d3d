//! Stored approvals as values, and what they answer.

use std::fmt::Write as _;

use palisade_policy::AbsolutePath;

use super::error::ApprovalError;
use super::file;
use super::moment::Moment;
use super::offering::{Refused, may_offer};
use crate::authoring::toml_text;
use crate::decision::ExecPolicyAmendment;
use crate::matching::Approvals;

/// Where an approval holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever keeps an approval must say where it holds"
)]
pub enum Scope {
    /// In the project with this canonical root.
    Project(AbsolutePath),
    /// Everywhere; only on request.
    Global,
}

impl Scope {
    /// Whether the scope includes this project.
    #[must_use]
    pub fn includes(&self, project: &AbsolutePath) -> bool {
        match self {
            Self::Project(root) => root == project,
            Self::Global => true,
        }
    }
}

/// One `[[approval]]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct StoredApproval {
    /// The rule whose question is answered; `None`: no rule spoke, and this is an allow rule.
    pub rule: Option<String>,
    /// How the commands begin.
    pub prefix: ExecPolicyAmendment,
    /// Where it holds.
    pub scope: Scope,
    /// When somebody agreed.
    pub date: Moment,
    /// From when on it no longer answers; `None`: it does until it is removed.
    pub expires: Option<Moment>,
}

impl StoredApproval {
    /// Whether it holds at this time: not before its date, and not from its expiry on.
    #[must_use]
    pub fn holds_at(&self, now: Moment) -> bool {
        self.date <= now && self.expires.is_none_or(|expires| now < expires)
    }

    /// Whether this and another approval are about the same thing, whatever their dates.
    #[must_use]
    pub fn is_about_the_same(&self, other: &Self) -> bool {
        self.rule == other.rule && self.prefix == other.prefix && self.scope == other.scope
    }

    fn covers<W: AsRef<[u8]>>(&self, words: &[W]) -> bool {
        let prefix = self.prefix.prefix();
        words.len() >= prefix.len()
            && prefix
                .iter()
                .zip(words)
                .all(|(token, word)| token.as_bytes() == word.as_ref())
    }
}

/// An entry that is kept in the file and means nothing, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ignored<'a> {
    /// The entry.
    pub approval: &'a StoredApproval,
    /// Why it answers nothing.
    pub why: Refused,
}

/// The approvals of one user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredApprovals {
    entries: Vec<StoredApproval>,
}

impl StoredApprovals {
    /// Reads the text of an approvals file. An empty text is a file with no approvals.
    ///
    /// # Errors
    /// Anything that is not understood: a file that is half understood is one that nobody wrote.
    pub fn parse(text: &str) -> Result<Self, ApprovalError> {
        file::parse(text).map(|entries| Self { entries })
    }

    /// Every entry, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &StoredApproval> {
        self.entries.iter()
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Entries that answer nothing, because their prefix would grant everything: somebody wrote them by hand.
    pub fn ignored(&self) -> impl Iterator<Item = Ignored<'_>> {
        self.entries.iter().filter_map(|approval| {
            may_offer(approval.prefix.prefix())
                .err()
                .map(|why| Ignored { approval, why })
        })
    }

    /// Whether somebody agreed to what this rule asks about a command with these words, wrappers removed.
    ///
    /// Only the question of the rule it names is answered, for words that begin with exactly these tokens, in this
    /// project, from its date on and before it expires. It is for the caller to ask about rules that prompt and never about one that
    /// forbids; see [`SegmentVerdict::Prompt`](crate::SegmentVerdict::Prompt).
    #[must_use]
    pub fn answers<W: AsRef<[u8]>>(
        &self,
        rule: &str,
        words: &[W],
        project: &AbsolutePath,
        now: Moment,
    ) -> bool {
        self.entries.iter().any(|approval| {
            approval.rule.as_deref() == Some(rule)
                && approval.covers(words)
                && approval.scope.includes(project)
                && approval.holds_at(now)
                && may_offer(approval.prefix.prefix()).is_ok()
        })
    }

    /// These approvals in a project at a time, as the matcher asks for them.
    #[must_use]
    pub const fn at<'a>(&'a self, project: &'a AbsolutePath, now: Moment) -> ApprovalsAt<'a> {
        ApprovalsAt {
            stored: self,
            project,
            now,
        }
    }

    /// The allow rules of this project as the text of a policy file of the user's layer.
    ///
    /// An approval of a command that no rule spoke about is such a rule. What expired or would grant everything is
    /// left out; without any rule the text is empty. The id of a rule is made of its prefix alone and begins with
    /// `stored-approval/`: it stays the same whatever else is kept or removed.
    #[must_use]
    pub fn allow_rules(&self, project: &AbsolutePath, now: Moment) -> String {
        let mut text = String::new();
        let mut written: Vec<&[String]> = Vec::new();
        for approval in &self.entries {
            let prefix = approval.prefix.prefix();
            if approval.rule.is_some()
                || !approval.scope.includes(project)
                || !approval.holds_at(now)
                || may_offer(prefix).is_err()
                // Kept for the project and everywhere: one rule says it.
                || written.contains(&prefix)
            {
                continue;
            }
            written.push(prefix);
            if text.is_empty() {
                text.push_str("version = 1\n");
            }
            let id = rule_id(prefix);
            let why = format!("Approved on {}", approval.date);
            toml_text::rule(&mut text, &id, prefix, "allow", Some(&why));
        }
        text
    }
}

/// The id of the allow rule of a prefix: no two prefixes have the same one.
fn rule_id(prefix: &[String]) -> String {
    let mut id = String::from("stored-approval");
    for token in prefix {
        id.push('/');
        for byte in token.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b':' | b'+' => {
                    id.push(char::from(byte));
                }
                _ => drop(write!(id, "%{byte:02X}")),
            }
        }
    }
    id
}

/// Stored approvals in a project at a time.
#[derive(Clone, Copy, Debug)]
pub struct ApprovalsAt<'a> {
    stored: &'a StoredApprovals,
    project: &'a AbsolutePath,
    now: Moment,
}

impl Approvals for ApprovalsAt<'_> {
    fn answers(&self, rule: &str, argv: &[&[u8]]) -> bool {
        self.stored.answers(rule, argv, self.project, self.now)
    }
}
