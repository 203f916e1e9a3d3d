//! What was approved for the session, as a set of keys.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use palisade_exec_policy::{ApprovalPurpose, ExecPolicyAmendment};

use super::key::ApprovalKey;

/// An approval of every command that begins like this.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct PrefixApproval {
    /// What was approved.
    pub purpose: ApprovalPurpose,
    /// How the commands begin.
    pub prefix: ExecPolicyAmendment,
    /// Where they run.
    pub cwd: PathBuf,
    /// The [`fingerprint`](super::fingerprint) of the policy that they run under.
    pub policy: String,
    /// The [`details`](ApprovalKey::details) that they share.
    pub details: String,
}

impl PrefixApproval {
    /// The approval of a prefix, for the purpose, the directory and the policy of this key.
    ///
    /// `None` if the command of the key does not begin so: nobody was asked about that.
    #[must_use]
    pub fn of(key: &ApprovalKey, prefix: ExecPolicyAmendment) -> Option<Self> {
        let approval = Self {
            purpose: key.purpose,
            prefix,
            cwd: key.cwd.clone(),
            policy: key.policy.clone(),
            details: key.details.clone(),
        };
        approval.covers(key).then_some(approval)
    }

    /// Whether the command of this key is one of those.
    #[must_use]
    pub fn covers(&self, key: &ApprovalKey) -> bool {
        let prefix = self.prefix.prefix();
        self.purpose == key.purpose
            && self.cwd == key.cwd
            && self.policy == key.policy
            && self.details == key.details
            && key.argv.len() >= prefix.len()
            && key
                .argv
                .iter()
                .zip(prefix)
                .all(|(word, wanted)| word == OsStr::new(wanted))
    }
}

/// What was approved for the session. Clones are the same cache.
///
/// A key without a command is ignored: it would approve whatever comes later without one. After a panic in the middle of
/// a change, the cache holds nothing and keeps nothing, so everything is asked again.
#[derive(Clone, Debug, Default)]
pub struct ApprovalCache {
    approved: Arc<Mutex<Approved>>,
}

#[derive(Debug, Default)]
struct Approved {
    keys: HashSet<ApprovalKey>,
    prefixes: HashSet<PrefixApproval>,
}

impl ApprovalCache {
    /// An empty cache.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a command.
    pub fn insert(&self, key: ApprovalKey) {
        if key.argv.is_empty() {
            return;
        }
        if let Ok(mut approved) = self.approved.lock() {
            approved.keys.insert(key);
        }
    }

    /// Adds every command that begins like this.
    pub fn insert_prefix(&self, prefix: PrefixApproval) {
        if let Ok(mut approved) = self.approved.lock() {
            approved.prefixes.insert(prefix);
        }
    }

    /// Whether this command was approved, by itself or by how it begins.
    #[must_use]
    pub fn contains(&self, key: &ApprovalKey) -> bool {
        !key.argv.is_empty()
            && self.approved.lock().is_ok_and(|approved| {
                approved.keys.contains(key)
                    || approved.prefixes.iter().any(|prefix| prefix.covers(key))
            })
    }

    /// A copy of the commands that were approved by themselves; what is approved later is not in it.
    #[must_use]
    pub fn snapshot(&self) -> HashSet<ApprovalKey> {
        self.approved
            .lock()
            .map(|approved| approved.keys.clone())
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use palisade_policy::CanonicalSandboxPolicy;

    use super::*;

    fn key(argv: &[&str]) -> ApprovalKey {
        ApprovalKey::new(
            ApprovalPurpose::Run,
            argv.iter().copied(),
            "/srv/app",
            &CanonicalSandboxPolicy::read_only(),
        )
    }

    #[test]
    fn approval_cache_ignores_an_empty_command_and_dedupes() {
        let cache = ApprovalCache::new();
        cache.insert(key(&[]));
        assert!(cache.snapshot().is_empty());
        assert!(!cache.contains(&key(&[])));
        cache.insert(key(&["make"]));
        cache.insert(key(&["make"]));
        assert_eq!(cache.snapshot().len(), 1);
        assert!(cache.contains(&key(&["make"])));
    }

    #[test]
    fn approval_cache_snapshot_is_a_copy() {
        let cache = ApprovalCache::new();
        cache.insert(key(&["make"]));
        let mut snapshot = cache.snapshot();
        cache.insert(key(&["make", "test"]));
        assert_eq!(snapshot.len(), 1);
        snapshot.clear();
        assert_eq!(cache.snapshot().len(), 2);
        assert_eq!(cache.clone().snapshot().len(), 2, "clones share");
    }

    #[test]
    fn approving_a_run_never_approves_an_unsandboxed_run_nor_another_policy_or_directory() {
        let cache = ApprovalCache::new();
        let prefix = ExecPolicyAmendment::new(["cargo", "add"]).unwrap();
        let approved = key(&["cargo", "add", "serde"]);
        cache.insert(approved.clone());
        cache.insert_prefix(PrefixApproval::of(&approved, prefix).unwrap());
        for argv in [&["cargo", "add", "serde"][..], &["cargo", "add", "tokio"]] {
            let same = key(argv);
            assert!(cache.contains(&same));
            assert!(!cache.contains(&same.clone().with_purpose(ApprovalPurpose::RunUnsandboxed)));
            let elsewhere = ApprovalKey {
                cwd: "/srv/other".into(),
                ..same.clone()
            };
            assert!(!cache.contains(&elsewhere));
            let changed = ApprovalKey {
                policy: super::super::fingerprint(&CanonicalSandboxPolicy::full_access()),
                ..same
            };
            assert!(!cache.contains(&changed));
        }
    }

    #[test]
    fn a_prefix_covers_whole_words_only_and_must_have_been_asked_about() {
        let prefix = || ExecPolicyAmendment::new(["cargo", "add"]).unwrap();
        let approval = PrefixApproval::of(&key(&["cargo", "add", "serde"]), prefix()).unwrap();
        assert!(approval.covers(&key(&["cargo", "add"])));
        assert!(!approval.covers(&key(&["cargo"])));
        assert!(!approval.covers(&key(&["cargo", "addendum"])));
        assert!(!approval.covers(&key(&["sh", "-c", "cargo add serde"])));
        assert_eq!(
            PrefixApproval::of(&key(&["cargo", "rm", "serde"]), prefix()),
            None
        );
    }

    #[test]
    fn a_poisoned_cache_approves_nothing() {
        let cache = ApprovalCache::new();
        cache.insert(key(&["make"]));
        let other = cache.clone();
        let panicked = std::thread::spawn(move || {
            let _held = other.approved.lock().unwrap();
            panic!("while holding it");
        });
        assert!(panicked.join().is_err());
        assert!(!cache.contains(&key(&["make"])));
        assert!(cache.snapshot().is_empty());
        cache.insert(key(&["make"]));
        assert!(!cache.contains(&key(&["make"])));
    }
}
