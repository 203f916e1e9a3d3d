//! What the user's own policy keeps from being read: opened for reading, where it is, in a sandbox, and nothing more.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use palisade::runner::approve::visible;
use palisade::runner::policy::{Guarantee, GuardOrigin, Stance};
use palisade_probes::run::Ended;

use super::attempts::{Came, Tried};
use super::subject::Subject;

/// More paths are not tried: what is tried stands for what is not.
const MOST: usize = 64;

/// Opens each path, and says whether that went well; nothing of what is there is printed, or leaves the sandbox.
const SCRIPT: &str = r#"for path; do
    if [ -d "$path" ]; then ls -A -- "$path"; else true < "$path"; fi >/dev/null 2>&1 && echo opened || echo closed
done"#;

/// Tries every path that the user's policy denies and that this user can read without a sandbox.
pub(super) fn all(subject: &Subject) -> Vec<Tried> {
    let paths = paths(subject);
    if paths.is_empty() || !subject.promised.contains(&Guarantee::DeniedReads) {
        return Vec::new();
    }
    let mut line: Vec<OsString> = ["sh", "-c", SCRIPT, "sh"].map(OsString::from).into();
    line.extend(paths.iter().map(|path| path.as_os_str().to_owned()));
    let answers = match subject.run_at_home(&line) {
        Ok(ran) if ran.ended == Ended::Exited(0) => {
            String::from_utf8_lossy(&ran.stdout).into_owned()
        }
        Ok(ran) => format!("{:?}", ran.ended),
        Err(error) => error.to_string(),
    };
    let words: Vec<&str> = answers.lines().collect();
    let answered = words.len() == paths.len();
    paths
        .iter()
        .enumerate()
        .map(|(at, path)| {
            let (came, said) = match words.get(at) {
                Some(&"closed") if answered => (Came::Good, "closed".to_owned()),
                Some(&"opened") if answered => (Came::Escaped, "it was opened".to_owned()),
                _ => (Came::Broken, visible(&answers)),
            };
            Tried {
                name: "own-denied",
                about: format!(
                    "opens {}, which the policy denies",
                    visible(&path.to_string_lossy())
                ),
                guarantee: Some(Guarantee::DeniedReads),
                came,
                said,
            }
        })
        .collect()
}

/// Files and directories that the policy denies by name, and that can be opened without a sandbox. What else there is at a
/// path, such as a device, is left alone: opening it could do something.
fn paths(subject: &Subject) -> Vec<PathBuf> {
    let Ok(oracle) = subject.at_home() else {
        return Vec::new();
    };
    let guards = oracle.guards().iter();
    guards
        .filter(|guard| guard.origin == GuardOrigin::DenyRead && guard.read == Some(Stance::Denies))
        .filter_map(|guard| guard.matcher.path())
        .map(|path| path.as_path().to_owned())
        .filter(|path| opens(path))
        .take(MOST)
        .collect()
}

fn opens(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|about| {
        about.is_dir() && path.read_dir().is_ok()
            || about.is_file() && std::fs::File::open(path).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_opened_is_called_opened_and_the_rest_closed() {
        let stage = tempfile::tempdir().unwrap();
        std::fs::write(stage.path().join("it's a file"), "").unwrap();
        let output = std::process::Command::new("sh")
            .args(["-c", SCRIPT, "sh"])
            .arg(stage.path().join("it's a file"))
            .arg(stage.path().join("missing"))
            .arg(stage.path())
            .output()
            .unwrap();
        assert_eq!(output.stdout, b"opened\nclosed\nopened\n", "{output:?}");
    }
}
