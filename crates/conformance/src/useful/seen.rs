//! What a run did: how it ended, what it printed, which files it left, and what git says of them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use palisade::runner::policy::PathRules;
use palisade_probes::run::{Ended, Ran};

use super::list::{Command, Normal};

/// What git is asked about a repository. The files of one hold times; its answers do not.
const QUESTIONS: &[&[&str]] = &[
    &["status", "--porcelain", "--branch"],
    &["log", "--all", "--format=%T %s", "--topo-order"],
    &["for-each-ref", "--format=%(refname) %(objecttype)"],
    &["stash", "list", "--format=%gs"],
    &["ls-files", "--stage"],
    &["config", "--local", "--list"],
    &["fsck", "--no-dangling"],
];

/// What a run did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    ended: Ended,
    stdout: String,
    tree: BTreeMap<PathBuf, Node>,
    git: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Directory { mode: u32 },
    File { mode: u32, bytes: Vec<u8> },
    Link(PathBuf),
    Other(&'static str),
}

impl Seen {
    pub(super) fn after(ran: &Ran, command: &Command, project: &Path) -> io::Result<Self> {
        let mut tree = BTreeMap::new();
        walk(project, Path::new(""), &command.ignore, &mut tree)?;
        Ok(Self {
            ended: ran.ended,
            stdout: even(&String::from_utf8_lossy(&ran.stdout), &command.normalise),
            tree,
            git: git(project),
        })
    }

    /// Why this run outside proves nothing, if so.
    pub(super) fn proves_nothing(&self, command: &Command, before: &Self) -> Option<String> {
        if self.ended != Ended::Exited(command.exit) {
            return Some(format!("outside it ends with {:?}", self.ended));
        }
        let idle =
            self.stdout.trim().is_empty() && self.tree == before.tree && self.git == before.git;
        idle.then(|| "outside it prints nothing and changes nothing".to_owned())
    }

    /// How a run inside differs from this one outside; nothing if it does not.
    pub(super) fn differences(&self, inside: &Self) -> Vec<String> {
        let mut found = Vec::new();
        if self.ended != inside.ended {
            found.push(format!("ended {:?}, inside {:?}", self.ended, inside.ended));
        }
        found.extend(first_line("stdout", &self.stdout, &inside.stdout));
        let paths = self.tree.keys().chain(inside.tree.keys());
        let mut paths: Vec<&PathBuf> = paths.collect();
        paths.sort();
        paths.dedup();
        for path in paths {
            let shown = path.display();
            match (self.tree.get(path), inside.tree.get(path)) {
                (Some(one), Some(other)) if one == other => {}
                (Some(one), Some(other)) => found.push(format!("{shown}: {}", one.unlike(other))),
                (Some(_), None) => found.push(format!("{shown}: not made inside")),
                (None, Some(_)) => found.push(format!("{shown}: only inside")),
                (None, None) => {}
            }
        }
        let (one, other) = (self.git.as_deref(), inside.git.as_deref());
        found.extend(first_line(
            "git",
            one.unwrap_or("none"),
            other.unwrap_or("none"),
        ));
        found
    }
}

impl Node {
    fn unlike(&self, other: &Self) -> String {
        match (self, other) {
            (Self::File { mode, bytes }, Self::File { mode: m, bytes: b }) if bytes == b => {
                format!("mode {mode:o}, inside {m:o}")
            }
            (Self::Directory { mode }, Self::Directory { mode: m }) => {
                format!("mode {mode:o}, inside {m:o}")
            }
            (Self::File { bytes, .. }, Self::File { bytes: b, .. }) => {
                format!(
                    "other contents inside: {} and {} bytes",
                    bytes.len(),
                    b.len()
                )
            }
            _ => "another kind of file inside".to_owned(),
        }
    }
}

/// The first line in which two texts differ.
fn first_line(what: &str, outside: &str, inside: &str) -> Option<String> {
    if outside == inside {
        return None;
    }
    let (mut one, mut other) = (outside.lines(), inside.lines());
    loop {
        let (a, b) = (one.next(), other.next());
        if a != b {
            let shown = |line: Option<&str>| {
                line.map_or_else(|| "nothing".to_owned(), |line| format!("{line:?}"))
            };
            return Some(format!("{what}: {}, inside {}", shown(a), shown(b)));
        }
        if a.is_none() {
            return Some(format!("{what}: another end of the last line"));
        }
    }
}

fn walk(
    root: &Path,
    below: &Path,
    ignore: &[String],
    tree: &mut BTreeMap<PathBuf, Node>,
) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        let ours = ignore.iter().any(|ignored| Path::new(ignored) == path);
        // Git answers for its own; compiled Python holds the time of its source.
        if ours || path == Path::new(".git") || path.ends_with("__pycache__") {
            continue;
        }
        let data = fs::symlink_metadata(entry.path())?;
        let kind = data.file_type();
        let mode = data.permissions().mode() & 0o7777;
        let node = if kind.is_dir() {
            walk(root, &path, ignore, tree)?;
            Node::Directory { mode }
        } else if kind.is_file() {
            Node::File {
                mode,
                bytes: fs::read(entry.path())?,
            }
        } else if kind.is_symlink() {
            Node::Link(fs::read_link(entry.path())?)
        } else if kind.is_fifo() {
            Node::Other("fifo")
        } else {
            Node::Other("socket or device")
        };
        tree.insert(path, node);
    }
    Ok(())
}

/// What git says of the project, if that is a repository. It is asked outside, with nothing of the user's own.
fn git(project: &Path) -> Option<String> {
    project.join(".git").is_dir().then(|| {
        let mut text = String::new();
        for question in QUESTIONS {
            let answer = Process::new("git")
                .args([
                    "-c",
                    "core.hooksPath=/dev/null",
                    "-c",
                    "core.fsmonitor=false",
                ])
                .args(*question)
                .current_dir(project)
                .env_clear()
                .env("PATH", super::PATH)
                .env("HOME", "/nonexistent")
                .env("GIT_OPTIONAL_LOCKS", "0")
                .stdin(Stdio::null())
                .output();
            match answer {
                Ok(answer) => {
                    text.push_str(&String::from_utf8_lossy(&answer.stdout));
                    text.push_str(&String::from_utf8_lossy(&answer.stderr));
                }
                Err(error) => text.push_str(&error.to_string()),
            }
        }
        text
    })
}

/// Evens out what differs from run to run in any case.
fn even(text: &str, normals: &[Normal]) -> String {
    let mut text = text.to_owned();
    for normal in normals {
        text = match normal {
            Normal::Hex => hex(&text),
            Normal::Totals => text
                .lines()
                .filter(|line| !line.starts_with("total "))
                .map(|line| format!("{line}\n"))
                .collect(),
            Normal::Guarded => text
                .lines()
                .filter(|line| !PathRules::DEFAULT_PROTECTED.contains(&line.trim_end_matches('/')))
                .map(|line| format!("{line}\n"))
                .collect(),
        };
    }
    text
}

/// Runs of seven or more hexadecimal digits become `HEX`.
fn hex(text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    let flush = |word: &mut String, out: &mut String| {
        match word.len() >= 7 && word.chars().any(|c| c.is_ascii_digit()) {
            true => out.push_str("HEX"),
            false => out.push_str(word),
        }
        word.clear();
    };
    for character in text.chars() {
        if matches!(character, '0'..='9' | 'a'..='f') {
            word.push(character);
        } else {
            flush(&mut word, &mut out);
            out.push(character);
        }
    }
    flush(&mut word, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> Command {
        toml::from_str(&format!("name = 'x'\nscript = 'x'\n{text}")).unwrap()
    }

    fn seen(stdout: &str, code: i32, fill: impl Fn(&Path)) -> Seen {
        let project = tempfile::tempdir().unwrap();
        fill(project.path());
        let ran = Ran {
            stdout: stdout.into(),
            ended: Ended::Exited(code),
        };
        Seen::after(
            &ran,
            &command("ignore = ['skip']\nnormalise = ['hex']"),
            project.path(),
        )
        .unwrap()
    }

    #[test]
    fn every_kind_of_difference_is_told() {
        let outside = seen("a\nb 1234567\n", 0, |project| {
            fs::write(project.join("same"), "x").unwrap();
            fs::write(project.join("mode"), "x").unwrap();
            fs::write(project.join("bytes"), "x").unwrap();
            fs::write(project.join("gone"), "x").unwrap();
            fs::write(project.join("skip"), "x").unwrap();
        });
        assert_eq!(outside.differences(&outside), Vec::<String>::new());
        let inside = seen("a\nb 7654321\nc\n", 1, |project| {
            fs::write(project.join("same"), "x").unwrap();
            fs::write(project.join("mode"), "x").unwrap();
            fs::set_permissions(project.join("mode"), fs::Permissions::from_mode(0o600)).unwrap();
            fs::write(project.join("bytes"), "xy").unwrap();
            fs::create_dir(project.join("new")).unwrap();
        });
        let told = outside.differences(&inside);
        let starts = [
            "ended ",
            "stdout: nothing, inside \"c\"",
            "bytes: other",
            "gone: not",
            "mode: mode 644",
            "new: only",
        ];
        assert_eq!(told.len(), starts.len(), "{told:?}");
        for (told, start) in told.iter().zip(starts) {
            assert!(told.starts_with(start), "{told}");
        }
    }

    #[test]
    fn a_run_outside_that_does_nothing_proves_nothing() {
        let idle = seen("", 0, |_| {});
        assert!(idle.proves_nothing(&command(""), &idle).is_some());
        let failing = seen("x", 1, |_| {});
        assert!(failing.proves_nothing(&command(""), &idle).is_some());
        assert_eq!(failing.proves_nothing(&command("exit = 1"), &idle), None);
    }
}
