//! Whether this program itself runs in a sandbox of Palisade's, where it must not loosen anything.
//!
//! Three things are looked at, because a command can take the first away: the variable that every command in a sandbox is
//! given, whether one of our sandboxes' inits is above this process, and whether a confined process finds the user's own
//! state closed. None of it keeps a command in: what keeps the files that decide about commands is the sandbox. This is for
//! a clear answer instead of a half-done change.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use palisade::runner::config::ConfigPaths;
use palisade::runner::host::Host;

use super::flags::{Git, Mode, PolicyFlags};
use crate::complaint::Complaint;

/// What every command in a sandbox is told.
const MARKER: &str = "PALISADE_SANDBOX";

/// What the argument of our helpers begins with.
const HELPER: &[u8] = b"--palisade-";

/// How far up processes are looked at; deeper trees are no commands of people.
const GENERATIONS: usize = 64;

/// How it is known that this program runs in a sandbox of Palisade's; `None` if nothing says so.
pub(crate) fn sandbox() -> Option<&'static str> {
    let marker = std::env::var_os(MARKER).is_some_and(|text| !text.is_empty() && text != "none");
    if marker {
        return Some("PALISADE_SANDBOX says so");
    }
    let proc = Path::new("/proc");
    if helper_above(proc) {
        return Some("a sandbox of Palisade's is above this process");
    }
    let state_is_closed = || {
        let state = Host::look().state_dir;
        state.is_some_and(|state| is_closed(&state))
    };
    (is_confined(proc) && state_is_closed())
        .then_some("this process is confined, and cannot write what you agreed to")
}

/// Refuses something that only a person outside may do.
///
/// # Errors
/// This runs in a sandbox.
pub(crate) fn refuse_inside(what: &str) -> Result<(), Complaint> {
    match sandbox() {
        Some(why) => Err(Complaint::refused(format!(
            "`palisade {what}` is refused inside a sandbox of Palisade's: a command cannot free itself ({why})"
        ))
        .help("run it in a terminal of your own")),
        None => Ok(()),
    }
}

/// Refuses flags that loosen what a sandbox inside a sandbox would keep.
pub(super) fn refuse_loosening(flags: &PolicyFlags) -> Result<(), Complaint> {
    let loosens = !flags.write.is_empty()
        || !flags.grant.is_empty()
        || !flags.net.is_empty()
        || !flags.accept_loss.is_empty()
        || flags.allow_home_root
        || flags.policy.is_some()
        || matches!(flags.mode, Some(Mode::Open))
        || matches!(flags.git, Some(Git::Commit | Git::Full));
    if !loosens {
        return Ok(());
    }
    match sandbox() {
        Some(why) => Err(Complaint::refused(format!(
            "a flag that loosens the policy is refused inside a sandbox of Palisade's ({why})"
        ))
        .help("leave the flag out, or run it in a terminal of your own")),
        None => Ok(()),
    }
}

/// Inside a sandbox what people agreed to is hidden, so nobody agreed to anything: no approval, no grant and no trust is
/// taken from there, which only makes a policy stricter, and no record is kept.
pub(super) fn without_state(paths: &mut ConfigPaths) {
    let hidden = |directory: &Path| {
        let listed = std::fs::read_dir(directory);
        listed.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
    };
    let state = paths.state.as_ref();
    if state.is_some_and(|state| hidden(state.directory())) && sandbox().is_some() {
        paths.state = None;
    }
}

/// Where kept approvals, trust and records are, for commands that change them.
///
/// # Errors
/// There is no such place.
pub(crate) fn state(host: &Host) -> Result<palisade::runner::config::State, Complaint> {
    palisade::runner::config::State::of(host).map_err(Complaint::failed)
}

/// Whether a process above this one is the helper of a sandbox. In a process namespace of its own that is process 1.
fn helper_above(proc: &Path) -> bool {
    let mut process = PathBuf::from("self");
    for _ in 0..GENERATIONS {
        let Some(parent) = parent(&proc.join(&process)).filter(|parent| parent != "0") else {
            break;
        };
        process = PathBuf::from(parent);
        if is_helper(&proc.join(&process)) {
            return true;
        }
    }
    is_helper(&proc.join("1"))
}

/// The parent of a process: the second field behind its name, which stands in brackets and may itself hold some.
fn parent(process: &Path) -> Option<String> {
    let text = beginning(&process.join("stat"))?;
    let behind = text.iter().rposition(|byte| *byte == b')')? + 1;
    let behind = std::str::from_utf8(text.get(behind..)?).ok()?;
    behind.split_ascii_whitespace().nth(1).map(str::to_owned)
}

fn is_helper(process: &Path) -> bool {
    let words = beginning(&process.join("cmdline")).unwrap_or_default();
    // The first argument, where our own programs look for it.
    let second = words.split(|byte| *byte == 0).nth(1);
    second.is_some_and(|word| word.starts_with(HELPER))
}

/// Whether a filter of system calls holds this process, and it can never be rid of it. That is so in other sandboxes, too.
fn is_confined(proc: &Path) -> bool {
    let own = proc.join("self");
    status(&own, "Seccomp").as_deref() == Some("2")
        && status(&own, "NoNewPrivs").as_deref() == Some("1")
}

/// The beginning of a file about a process: longer than any status, and than the path of any program. The kernel makes such
/// a file up for each read, so it is read at once.
fn beginning(file: &Path) -> Option<Vec<u8>> {
    const LONGEST: u16 = 8192;
    let mut text = Vec::with_capacity(LONGEST.into());
    let file = std::fs::File::open(file).ok()?;
    let read = file.take(LONGEST.into()).read_to_end(&mut text);
    read.is_ok().then_some(text)
}

/// A line of a process's status.
fn status(process: &Path, name: &str) -> Option<String> {
    let text = String::from_utf8(beginning(&process.join("status"))?).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.trim().to_owned())
}

/// Whether a directory, or the last one above it that is there, cannot be written.
#[cfg(unix)]
fn is_closed(directory: &Path) -> bool {
    use rustix::fs::{Access, access};
    let there = directory
        .ancestors()
        .find(|path| path.symlink_metadata().is_ok());
    there.is_some_and(|path| access(path, Access::WRITE_OK | Access::EXEC_OK).is_err())
}

#[cfg(not(unix))]
fn is_closed(_: &Path) -> bool {
    false
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    /// A process as the kernel shows it.
    fn process(proc: &Path, name: &str, parent: &str, words: &[&str], confined: bool) {
        let directory = proc.join(name);
        std::fs::create_dir(&directory).unwrap();
        let (privileges, filter) = if confined { ("1", "2") } else { ("0", "0") };
        let status = format!(
            "Name:\tx\nNoNewPrivs:\t{privileges}\nSeccomp:\t{filter}\nSeccomp_filters:\t1\n"
        );
        std::fs::write(directory.join("status"), status).unwrap();
        // A name that looks like the fields behind it.
        let stat = format!("7 (x) S 1 (y) S {parent} 7 7 0 -1\n");
        std::fs::write(directory.join("stat"), stat).unwrap();
        let words: String = words.iter().map(|word| format!("{word}\0")).collect();
        std::fs::write(directory.join("cmdline"), words).unwrap();
    }

    #[test]
    fn a_helper_is_found_above_and_as_process_1() {
        let proc = tempfile::tempdir().unwrap();
        let proc = proc.path();
        process(proc, "self", "40", &["palisade", "trust"], true);
        process(proc, "40", "30", &["sh", "--palisade-linux"], false);
        process(proc, "1", "0", &["/sbin/init"], false);
        assert!(helper_above(proc), "the shell is called like a helper");
        std::fs::write(
            proc.join("40/cmdline"),
            "sh\0-c\0--palisade-linux-session\0",
        )
        .unwrap();
        process(proc, "30", "1", &["/usr/bin/agent"], false);
        assert!(!helper_above(proc));
        std::fs::write(
            proc.join("30/cmdline"),
            "/opt/agent\0--palisade-linux-session\0",
        )
        .unwrap();
        assert!(helper_above(proc));
        std::fs::write(proc.join("30/cmdline"), "").unwrap();
        std::fs::write(
            proc.join("1/cmdline"),
            "/opt/palisade\0--palisade-linux-session\0",
        )
        .unwrap();
        assert!(helper_above(proc));
        assert!(is_confined(proc));
    }

    #[test]
    fn without_proc_nothing_is_known() {
        let nowhere = Path::new("/nonexistent/proc");
        assert!(!helper_above(nowhere) && !is_confined(nowhere));
    }

    #[test]
    fn a_directory_is_closed_if_the_last_one_above_it_is() {
        let stage = tempfile::tempdir().unwrap();
        assert!(!is_closed(&stage.path().join("a/b/c")));
        assert!(is_closed(Path::new("/proc/sys/palisade")));
    }
}
