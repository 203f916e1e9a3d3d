//! Whether a sandbox could change the audit file.

use std::path::Path;

use palisade_policy::{AbsolutePath, Access, Place, ResolvedPolicy};

use super::error::AuditError;
use crate::evidence::resolve_host_path;

/// Refuses an audit file that a command under this policy could write, replace or move away, itself or with a directory
/// above it. A policy without a sandbox is not asked: it keeps nobody from anything.
///
/// # Errors
/// The file could be changed, or its path cannot be told.
pub fn check_unwritable(path: &Path, policy: &ResolvedPolicy) -> Result<(), AuditError> {
    if !policy.canonical().uses_runtime_sandbox() {
        return Ok(());
    }
    let resolved = resolve_host_path(path).ok_or_else(|| AuditError::Untrusted {
        path: path.to_owned(),
        problem: "its path cannot be resolved; give an absolute path without `..`",
    })?;
    let mut entry = Some(resolved.clone());
    let mut accesses = vec![Access::Write(resolved.clone())];
    // What was put aside counts as well, and so does whatever else is made next to it.
    for beside in ["1", "lock"] {
        let mut name = resolved.as_path().as_os_str().to_owned();
        name.push(".");
        name.push(beside);
        accesses.extend(AbsolutePath::new(std::path::PathBuf::from(name)).map(Access::Write));
    }
    while let Some(path) = entry {
        entry = path.parent();
        accesses.push(Access::Delete(path));
    }
    for access in accesses {
        if policy.place(&access) == Some(Place::Host) {
            return Err(AuditError::WritableFromSandbox {
                path: target(&access).map_or_else(|| path.to_owned(), |path| path.as_path().into()),
                clause: policy.permits(&access).clause.to_string(),
            });
        }
    }
    Ok(())
}

const fn target(access: &Access) -> Option<&AbsolutePath> {
    match access {
        Access::Write(path) | Access::Delete(path) => Some(path),
        _ => None,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use palisade_policy::{CanonicalSandboxPolicy, HostFacts, Os, PolicyContext, WorkspaceRoot};

    #[test]
    fn a_file_below_a_writable_root_is_refused() {
        let stage = tempfile::tempdir_in("/var/tmp").unwrap();
        let base = std::fs::canonicalize(stage.path()).unwrap();
        let (root, state) = (base.join("app"), base.join("state"));
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&state).unwrap();
        std::os::unix::fs::symlink(&root, base.join("link")).unwrap();
        let cwd = WorkspaceRoot::new(&root).unwrap();
        let facts =
            HostFacts::new(Os::Linux).with_home(AbsolutePath::new(base.join("home")).unwrap());
        let context = PolicyContext::new(facts, cwd.clone());
        let policy = CanonicalSandboxPolicy::workspace_write([cwd])
            .resolve(&context)
            .unwrap();
        let check = |path: &Path| check_unwritable(path, &policy);
        check(&state.join("audit/audit.jsonl")).unwrap();
        for inside in [root.join("audit.jsonl"), base.join("link/a/audit.jsonl")] {
            let error = check(&inside).unwrap_err();
            assert!(
                matches!(error, AuditError::WritableFromSandbox { .. }),
                "{error}"
            );
        }
        check(Path::new("relative")).unwrap_err();
        let open = CanonicalSandboxPolicy::full_access()
            .resolve(&context)
            .unwrap();
        check_unwritable(&root.join("audit.jsonl"), &open).unwrap();
    }
}
