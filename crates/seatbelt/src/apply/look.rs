//! Whether a profile can be applied here.

use std::path::Path;

use super::words::SANDBOX_EXEC;
use crate::host::SandboxExec;

/// Whether a profile can be applied by this process.
#[must_use]
pub fn look() -> SandboxExec {
    if !cfg!(target_os = "macos") {
        return SandboxExec::NotMacos;
    }
    look_at(Path::new(SANDBOX_EXEC), is_confined())
}

/// The same for a program at this path, and a process that is in a sandbox or not. One around us comes first: it may be
/// what hides the program.
#[must_use]
pub fn look_at(program: &Path, confined: bool) -> SandboxExec {
    if confined {
        return SandboxExec::Nested;
    }
    match std::fs::metadata(program) {
        Ok(found) if found.is_file() => SandboxExec::Works,
        _ => SandboxExec::Missing,
    }
}

#[cfg(target_os = "macos")]
fn is_confined() -> bool {
    crate::sys::seatbelt::this_process_is_confined()
}

#[cfg(not(target_os = "macos"))]
const fn is_confined() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sandbox_around_us_is_told_before_anything_else() {
        let there = tempfile::NamedTempFile::new().unwrap();
        let gone = Path::new("/srv/none/sandbox-exec");
        assert_eq!(look_at(there.path(), true), SandboxExec::Nested);
        assert_eq!(look_at(gone, true), SandboxExec::Nested);
        assert_eq!(look_at(there.path(), false), SandboxExec::Works);
        assert_eq!(look_at(gone, false), SandboxExec::Missing);
        assert_eq!(look_at(Path::new("/"), false), SandboxExec::Missing);
    }

    #[cfg(not(target_os = "macos"))]
    #[test]
    fn elsewhere_there_is_no_seatbelt() {
        assert_eq!(look(), SandboxExec::NotMacos);
    }
}
