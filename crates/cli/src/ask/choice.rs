//! Which answers make sense for a question, and what each means.

use std::path::{Component, Path, PathBuf};

use palisade::runner::approve::Prompt;
use palisade::runner::exec_policy::{ApprovalPurpose, GrantScope, ReviewDecision};
use palisade::runner::policy::{AbsolutePath, Grant, PathCase};

/// An answer by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Once,
    Session,
    Always,
    Smaller,
    No,
    Abort,
}

impl Choice {
    const ALL: [Self; 6] = [
        Self::Once,
        Self::Session,
        Self::Always,
        Self::Smaller,
        Self::No,
        Self::Abort,
    ];

    pub(super) const fn key(self) -> char {
        match self {
            Self::Once => 'y',
            Self::Session => 's',
            Self::Always => 'a',
            Self::Smaller => 'g',
            Self::No => 'n',
            Self::Abort => 'q',
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Once => "yes, once",
            Self::Session => "for this session",
            Self::Always => "always",
            Self::Smaller => "a smaller grant",
            Self::No => "no",
            Self::Abort => "abort",
        }
    }
}

/// The answers that make sense for this question, in the order in which they are shown. What can be kept is kept only
/// where there is a file for it.
pub(super) fn choices(prompt: &Prompt, can_keep: bool) -> Vec<Choice> {
    let makes_sense = |choice: &Choice| match choice {
        Choice::Always => can_keep && always(prompt).is_some(),
        Choice::Smaller => roomy(prompt).is_some(),
        Choice::Once | Choice::Session | Choice::No | Choice::Abort => true,
    };
    Choice::ALL.into_iter().filter(makes_sense).collect()
}

/// The answer that keeps what the question offers to keep; `None` if it offers nothing. A run without the sandbox is
/// never kept.
pub(super) fn always(prompt: &Prompt) -> Option<ReviewDecision> {
    if let Some(grant) = &prompt.proposed_grant {
        return Some(ReviewDecision::ApprovedWithGrant {
            grant: grant.clone(),
            scope: GrantScope::Project,
            expires: None,
        });
    }
    match (&prompt.proposed_amendment, prompt.purpose) {
        (Some(amendment), ApprovalPurpose::Run) => {
            Some(ReviewDecision::ApprovedExecpolicyAmendment {
                proposed_execpolicy_amendment: amendment.clone(),
            })
        }
        _ => None,
    }
}

/// The directory that the proposed grant opens, so that one below it would be a smaller grant.
pub(super) fn roomy(prompt: &Prompt) -> Option<&AbsolutePath> {
    match prompt.proposed_grant.as_ref()? {
        Grant::Read(path) | Grant::Write(path) if path.as_path().is_dir() => Some(path),
        _ => None,
    }
}

/// The grant for a path below the proposed one, links resolved as far as the path exists; `None` if it is not below it.
pub(super) fn smaller(prompt: &Prompt, below: &str) -> Option<Grant> {
    let directory = roomy(prompt)?;
    let wanted = directory.as_path().join(below.trim());
    // What `..` means depends on links that may change.
    if wanted.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let path = AbsolutePath::new(real(&wanted)).ok()?;
    if path == *directory || !directory.covers(&path, PathCase::Sensitive) {
        return None;
    }
    match prompt.proposed_grant.as_ref()? {
        Grant::Read(_) => Some(Grant::Read(path)),
        Grant::Write(_) => Some(Grant::Write(path)),
        _ => None,
    }
}

/// A path with its links resolved, as far as it exists.
fn real(path: &Path) -> PathBuf {
    let mut missing = Vec::new();
    for above in path.ancestors() {
        if let Ok(real) = std::fs::canonicalize(above) {
            return missing
                .iter()
                .rev()
                .fold(real, |path, name| path.join(name));
        }
        missing.extend(above.file_name());
    }
    path.to_owned()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use palisade::runner::exec_policy::ExecPolicyAmendment;

    fn keys(prompt: &Prompt, can_keep: bool) -> String {
        choices(prompt, can_keep)
            .into_iter()
            .map(Choice::key)
            .collect()
    }

    #[test]
    fn only_keys_that_make_sense_are_offered() {
        let prompt = Prompt::new("1", ["ls"], "/srv/app");
        assert_eq!(keys(&prompt, true), "ysnq");
        let prefix = ExecPolicyAmendment::new(["cargo", "add"]).unwrap();
        let kept = prompt.clone().with_proposed_amendment(Some(prefix));
        assert_eq!(keys(&kept, true), "ysanq");
        assert_eq!(keys(&kept, false), "ysnq");
        let outside = kept.with_purpose(ApprovalPurpose::RunUnsandboxed);
        assert_eq!(keys(&outside, true), "ysnq");
        let stage = tempfile::tempdir().unwrap();
        let grant = |path: &std::path::Path| Grant::Write(AbsolutePath::new(path).unwrap());
        let wide = prompt
            .clone()
            .with_proposed_grant(Some(grant(stage.path())));
        assert_eq!(keys(&wide, true), "ysagnq");
        let file = prompt.with_proposed_grant(Some(grant(&stage.path().join("file"))));
        assert_eq!(keys(&file, true), "ysanq");
    }

    #[test]
    fn a_smaller_grant_is_below_the_proposed_one() {
        let stage = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(stage.path()).unwrap();
        std::os::unix::fs::symlink("/etc", root.join("out")).unwrap();
        let proposed = Grant::Write(AbsolutePath::new(&root).unwrap());
        let prompt = Prompt::new("1", ["ls"], "/srv/app").with_proposed_grant(Some(proposed));
        let below = Grant::Write(AbsolutePath::new(root.join("new/file")).unwrap());
        assert_eq!(smaller(&prompt, "new/file"), Some(below));
        for wrong in [
            "",
            ".",
            "..",
            "../x",
            "/etc",
            "out",
            "a/../..",
            "out/passwd",
            "out/new",
        ] {
            assert_eq!(smaller(&prompt, wrong), None, "{wrong}");
        }
    }
}
