//! What an approval is for: purpose, command, directory and policy.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::PathBuf;

use palisade_exec_policy::ApprovalPurpose;
use palisade_policy::CanonicalSandboxPolicy;
use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// What an approval is for. Two runs share an approval only if every part is the same, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ApprovalKey {
    /// What was approved: a run, or a run without the sandbox.
    pub purpose: ApprovalPurpose,
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// The [`fingerprint`] of the policy that it runs under.
    pub policy: String,
    /// What else makes it the command that was seen, such as what it reads or the file of its program; empty if nothing
    /// does.
    pub details: String,
}

impl ApprovalKey {
    /// The key of a command under a policy.
    pub fn new<A: Into<OsString>>(
        purpose: ApprovalPurpose,
        argv: impl IntoIterator<Item = A>,
        cwd: impl Into<PathBuf>,
        policy: &CanonicalSandboxPolicy,
    ) -> Self {
        Self {
            purpose,
            argv: argv.into_iter().map(Into::into).collect(),
            cwd: cwd.into(),
            policy: fingerprint(policy),
            details: String::new(),
        }
    }

    /// The same command with more that must be the same.
    #[must_use]
    pub fn with_details(mut self, details: impl Into<String>) -> Self {
        self.details = details.into();
        self
    }

    /// The same command for another purpose.
    #[must_use]
    pub fn with_purpose(mut self, purpose: ApprovalPurpose) -> Self {
        self.purpose = purpose;
        self
    }
}

impl Serialize for ApprovalKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let argv: Vec<Bytes<'_>> = self.argv.iter().map(|word| Bytes(word)).collect();
        let mut fields = serializer.serialize_struct("ApprovalKey", 5)?;
        fields.serialize_field("purpose", &self.purpose)?;
        fields.serialize_field("argv", &argv)?;
        fields.serialize_field("cwd", &Bytes(self.cwd.as_os_str()))?;
        fields.serialize_field("policy", &self.policy)?;
        fields.serialize_field("details", &self.details)?;
        fields.end()
    }
}

/// A string of the system that no two others are written like: Unicode as it is, anything else as a tagged number list.
struct Bytes<'a>(&'a OsStr);

impl Serialize for Bytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = self.0.to_str() {
            return serializer.serialize_str(text);
        }
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt as _;
            serializer.collect_seq(self.0.as_bytes())
        }
        #[cfg(windows)]
        {
            use std::os::windows::ffi::OsStrExt as _;
            serializer.collect_seq(self.0.encode_wide())
        }
        #[cfg(not(any(unix, windows)))]
        Err(serde::ser::Error::custom("not Unicode"))
    }
}

/// A short name for everything that a policy says: equal policies have the same, others do not.
///
/// It does not change between runs of one version of this crate. A policy that cannot be written has a fingerprint that
/// no other has, so that nothing approved under it is ever found again.
#[must_use]
pub fn fingerprint(policy: &CanonicalSandboxPolicy) -> String {
    match serde_json::to_vec(policy) {
        Ok(text) => Sha256::digest(&text)
            .iter()
            .fold(String::from("sha256:"), |mut hex, byte| {
                // Writing to a string cannot fail.
                let _ = write!(hex, "{byte:02x}");
                hex
            }),
        Err(_) => nobody_elses(),
    }
}

/// A text that was never returned before in this process.
fn nobody_elses() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("unwritten:{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

// The paths in it are those of Unix.
#[cfg(test)]
#[cfg(unix)]
mod tests {
    use palisade_policy::{AbsolutePath, Grant, WorkspaceRoot};

    use super::*;

    fn policy() -> CanonicalSandboxPolicy {
        CanonicalSandboxPolicy::workspace_write([WorkspaceRoot::new("/srv/app").unwrap()])
    }

    #[test]
    fn a_fingerprint_is_stable_and_changes_with_every_change_of_the_policy() {
        let one = fingerprint(&policy());
        assert_eq!(one, fingerprint(&policy()));
        assert_eq!(one.len(), "sha256:".len() + 64);
        let read = |path| Grant::Read(AbsolutePath::new(path).unwrap());
        let mut all = vec![
            one,
            fingerprint(&CanonicalSandboxPolicy::read_only()),
            fingerprint(&CanonicalSandboxPolicy::read_only_with_full_network()),
            fingerprint(&CanonicalSandboxPolicy::full_access()),
            fingerprint(&CanonicalSandboxPolicy::external("a")),
            fingerprint(&CanonicalSandboxPolicy::external("b")),
            fingerprint(&policy().with_grant(&read("/srv/a")).unwrap()),
            fingerprint(&policy().with_grant(&read("/srv/b")).unwrap()),
            fingerprint(&policy().with_grant(&Grant::HostLoopback).unwrap()),
        ];
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[test]
    fn keys_are_told_apart_by_purpose_words_directory_and_policy() {
        let key = |purpose, argv: &[&str], cwd, policy: &CanonicalSandboxPolicy| {
            serde_json::to_string(&ApprovalKey::new(
                purpose,
                argv.iter().map(OsString::from),
                PathBuf::from(cwd),
                policy,
            ))
            .unwrap()
        };
        let run = ApprovalPurpose::Run;
        let mut all = vec![
            key(run, &["git", "push"], "/srv/app", &policy()),
            key(
                ApprovalPurpose::RunUnsandboxed,
                &["git", "push"],
                "/srv/app",
                &policy(),
            ),
            key(run, &["git push"], "/srv/app", &policy()),
            key(run, &["git", "push", ""], "/srv/app", &policy()),
            key(run, &["git", "push"], "/srv/other", &policy()),
            key(
                run,
                &["git", "push"],
                "/srv/app",
                &CanonicalSandboxPolicy::read_only(),
            ),
        ];
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }

    #[cfg(unix)]
    #[test]
    fn words_that_are_not_unicode_are_written_byte_for_byte() {
        use std::os::unix::ffi::OsStringExt as _;
        let key = |word: &[u8]| {
            let argv = [OsString::from("cat"), OsString::from_vec(word.to_vec())];
            serde_json::to_string(&ApprovalKey::new(
                ApprovalPurpose::Run,
                argv,
                "/srv/app",
                &policy(),
            ))
            .unwrap()
        };
        assert_ne!(key(b"\xff"), key(b"\xfe"), "both read as U+FFFD if lossy");
        assert_ne!(key(b"\xff"), key("\u{fffd}".as_bytes()));
        assert_ne!(key(b"\xff"), key(b"[255]"));
        assert_eq!(key(b"\xff"), key(b"\xff"));
    }
}
