//! The import of commits: history comes back to the repository of the stage, and nothing else of `.git` does.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use palisade::runner::policy::Guarantee;
use palisade_probes::run::Ended;
use palisade_probes::stage::Stage;

use super::attempts::{Came, Tried};
use super::subject::Subject;

/// Commits, and says what: whatever else a script does, the import has something to bring back.
const COMMIT: &str = "git -c user.name=palisade -c user.email=palisade@example.org -c core.hooksPath=/dev/null \
    commit --quiet --allow-empty -m 'made inside' && git rev-parse HEAD";

/// What is done in the same sandbox, before or after a commit. Each works there, and must not come back.
const ATTEMPTS: [(&str, &str, &str, &str); 5] = [
    (
        "import-hook",
        "makes a hook beside a commit",
        "mkdir -p .git/hooks; printf '#!/bin/sh\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
        "",
    ),
    (
        "import-config",
        "changes the configuration beside a commit",
        "git config core.fsmonitor false; git config alias.st status",
        "",
    ),
    (
        "import-alternates",
        "names another store of objects beside a commit",
        "",
        "mkdir -p .git/objects/info; echo /var/lib/other > .git/objects/info/alternates",
    ),
    (
        "import-attributes",
        "plants attributes and an exclude file beside a commit",
        "mkdir -p .git/info; echo '* filter=x' > .git/info/attributes; echo '*' > .git/info/exclude",
        "",
    ),
    (
        "import-rename",
        "commits into a .git that was renamed and made anew",
        "",
        "mv .git moved && mkdir -p .git/hooks && printf '#!/bin/sh\\n' > .git/hooks/pre-commit",
    ),
];

/// Tries it, if the policy promises it.
pub(super) fn all(subject: &Subject) -> Vec<Tried> {
    if !subject.promised.contains(&Guarantee::GitImport) {
        return Vec::new();
    }
    let tried = |name, about: &str, guarantee, outcome: io::Result<(Came, String)>| {
        let (came, said) = outcome.unwrap_or_else(|error| (Came::Broken, error.to_string()));
        Tried {
            name,
            about: about.to_owned(),
            guarantee,
            came,
            said,
        }
    };
    let mut all = vec![tried(
        "import-commit",
        "commits, and finds the commit in the repository",
        None,
        try_one(subject, "", ""),
    )];
    for (name, about, before, after) in ATTEMPTS {
        let outcome = try_one(subject, before, after);
        all.push(tried(name, about, Some(Guarantee::GitImport), outcome));
    }
    all
}

/// One script, on a stage of its own.
fn try_one(subject: &Subject, before: &str, after: &str) -> io::Result<(Came, String)> {
    let stage = subject.stage()?;
    let git = stage.site().workspace.join(".git");
    let kept = Kept::of(&git)?;
    let script = format!(
        "{{ {before}\n}} >/dev/null 2>&1; {COMMIT} || exit 3; {{ {after}\n}} >/dev/null 2>&1; exit 0"
    );
    let line = ["sh", "-c", script.replace("{ \n}", ":").as_str()].map(OsString::from);
    let ran = subject.run(&stage, &line)?;
    // What came back counts before everything else.
    let changed = kept.changes(&Kept::of(&git)?);
    if !changed.is_empty() {
        return Ok((Came::Escaped, format!("came back: {}", changed.join(", "))));
    }
    let hash = String::from_utf8_lossy(&ran.stdout).trim().to_owned();
    Ok(match ran.ended {
        Ended::Exited(0) if arrived(&stage, &hash) => (Came::Good, format!("{hash} came back")),
        Ended::Exited(127) => (Came::Nothing, "there is no git".to_owned()),
        // Where nothing came back, nothing can be said about what else might have.
        Ended::Exited(0) => (Came::Broken, "the commit did not come back".to_owned()),
        other => (Came::Broken, format!("nothing was committed: {other:?}")),
    })
}

/// Whether the branch of the stage's repository is at a commit, which is there. Nothing of the configuration that this
/// reads runs anything.
fn arrived(stage: &Stage, hash: &str) -> bool {
    let workspace = &stage.site().workspace;
    let head = std::fs::read_to_string(workspace.join(".git/refs/heads/main"));
    let is_there = Command::new("git")
        .arg("-C")
        .arg(workspace)
        .args(["cat-file", "-e", hash])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    hash.len() >= 40
        && head.is_ok_and(|head| head.trim() == hash)
        && is_there.is_ok_and(|status| status.success())
}

/// What of `.git` is not history: it must stay as it is.
struct Kept(BTreeMap<PathBuf, (u32, Vec<u8>)>);

/// History: what an import may change.
const HISTORY: [&str; 6] = [
    "refs",
    "logs",
    "index",
    "packed-refs",
    "COMMIT_EDITMSG",
    "ORIG_HEAD",
];

impl Kept {
    fn of(git: &Path) -> io::Result<Self> {
        let mut kept = Self(BTreeMap::new());
        kept.add(git, Path::new(""))?;
        Ok(kept)
    }

    fn add(&mut self, git: &Path, below: &Path) -> io::Result<()> {
        let path = git.join(below);
        let about = path.symlink_metadata()?;
        let content = match () {
            () if about.is_symlink() => std::fs::read_link(&path)?
                .into_os_string()
                .into_encoded_bytes(),
            () if about.is_file() => std::fs::read(&path)?,
            () => Vec::new(),
        };
        // New objects are history; where objects are looked for is not.
        let objects = below.parent() == Some(Path::new("objects"));
        let is_store = objects && below != Path::new("objects/info");
        if HISTORY.iter().any(|name| below == Path::new(name)) || is_store {
            return Ok(());
        }
        let seen = (about.permissions().mode(), content);
        self.0.insert(below.to_owned(), seen);
        if about.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                self.add(git, &below.join(entry?.file_name()))?;
            }
        }
        Ok(())
    }

    /// What is another way in the later one.
    fn changes(&self, later: &Self) -> Vec<String> {
        let mut all: Vec<&PathBuf> = self.0.keys().chain(later.0.keys()).collect();
        all.sort();
        all.dedup();
        all.into_iter()
            .filter(|path| self.0.get(*path) != later.0.get(*path))
            .filter(|path| *path != Path::new("objects/info") || later.0.contains_key(*path))
            .map(|path| path.display().to_string())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_history_is_noticed() {
        let stage = tempfile::tempdir().unwrap();
        let git = stage.path();
        for directory in ["hooks", "objects/ab", "objects/info", "refs/heads"] {
            std::fs::create_dir_all(git.join(directory)).unwrap();
        }
        std::fs::write(git.join("config"), "[core]\n").unwrap();
        let before = Kept::of(git).unwrap();
        for file in ["objects/ab/cd", "refs/heads/main", "index", "packed-refs"] {
            std::fs::write(git.join(file), "x").unwrap();
        }
        let changes = || before.changes(&Kept::of(git).unwrap());
        assert_eq!(changes(), [""; 0]);
        for file in [
            "config",
            "hooks/pre-commit",
            "HEAD",
            "objects/info/alternates",
        ] {
            std::fs::write(git.join(file), "x").unwrap();
        }
        let all = [
            "HEAD",
            "config",
            "hooks/pre-commit",
            "objects/info/alternates",
        ];
        assert_eq!(changes(), all);
    }
}
