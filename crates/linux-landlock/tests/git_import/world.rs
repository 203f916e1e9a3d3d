//! A repository of the host, a session's view of its git directory, and what must hold after every import.
//!
//! The view is a copy: to the import, an overlay is a directory in other hands.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use palisade_linux_landlock::git_import::{
    Baseline, DropReason, GitLayout, ImportError, ImportOptions, ImportReport, baseline, import,
};
use tempfile::TempDir;

pub(crate) struct World {
    tmp: TempDir,
    /// The host's work tree, which the session shares.
    pub(crate) work: PathBuf,
    /// The host's git directory.
    pub(crate) dot_git: PathBuf,
    /// The session's view of it.
    pub(crate) view: PathBuf,
    /// What a planted program makes when it runs.
    pub(crate) marker: PathBuf,
    pub(crate) layout: GitLayout,
    pub(crate) options: ImportOptions,
    pub(crate) baseline: Baseline,
}

pub(crate) fn git_program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path).map(|dir| dir.join("git"));
    found.into_iter().find(|git| git.is_file()).unwrap()
}

/// git with nothing of the user's, in a directory.
pub(crate) fn git(dir: &Path) -> Command {
    let mut command = Command::new(git_program());
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", dir)
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_EDITOR", "true")
        .env("GIT_AUTHOR_NAME", "Dev")
        .env("GIT_AUTHOR_EMAIL", "dev@example.org")
        .env("GIT_COMMITTER_NAME", "Dev")
        .env("GIT_COMMITTER_EMAIL", "dev@example.org")
        .current_dir(dir);
    command
}

pub(crate) fn text(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

pub(crate) fn run<S: AsRef<OsStr>>(dir: &Path, args: &[S]) -> String {
    text(&git(dir).args(args).output().unwrap())
}

pub(crate) fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(status.unwrap().success());
}

pub(crate) fn write(at: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
    let at = at.as_ref();
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    std::fs::write(at, bytes).unwrap();
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    pub(crate) fn with(init: &[&str]) -> Self {
        let tmp = tempfile::tempdir().unwrap();
        let work = tmp.path().join("app");
        std::fs::create_dir(&work).unwrap();
        run(&work, &[&["init", "-q", "-b", "main"], init].concat());
        write(work.join("a.txt"), "one\n");
        write(work.join("d/b.txt"), "two\n");
        run(&work, &["add", "."]);
        run(&work, &["commit", "-qm", "first"]);
        run(&work, &["branch", "side"]);
        Self::over(tmp, work)
    }

    /// A world over a repository that exists.
    pub(crate) fn over(tmp: TempDir, work: PathBuf) -> Self {
        let dot_git = work.join(".git");
        let view = tmp.path().join("view");
        let layout = GitLayout::new(&dot_git, &dot_git).unwrap();
        let options = ImportOptions::new(git_program());
        let baseline = baseline(&layout, &options).unwrap();
        copy(&dot_git, &view);
        Self {
            marker: tmp.path().join("marker"),
            tmp,
            work,
            dot_git,
            view,
            layout,
            options,
            baseline,
        }
    }

    /// The same repository, as a session finds it that begins now.
    pub(crate) fn renewed(self) -> Self {
        std::fs::remove_dir_all(&self.view).unwrap();
        Self::over(self.tmp, self.work)
    }

    pub(crate) fn host<S: AsRef<OsStr>>(&self, args: &[S]) -> String {
        run(&self.work, args)
    }

    /// git of the session, which must succeed.
    pub(crate) fn inside<S: AsRef<OsStr>>(&self, args: &[S]) -> String {
        text(&self.try_inside(args))
    }

    pub(crate) fn try_inside<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        git(&self.work)
            .env("GIT_DIR", &self.view)
            .env("GIT_WORK_TREE", &self.work)
            .args(args)
            .output()
            .unwrap()
    }

    pub(crate) fn commit_inside(&self, file: &str, content: &str, message: &str) -> String {
        write(self.work.join(file), content);
        self.inside(&["add", file]);
        self.inside(&["commit", "-qm", message]);
        self.inside(&["rev-parse", "HEAD"])
    }

    /// Imports, and checks what must hold whatever the session did.
    pub(crate) fn import(&mut self) -> ImportReport {
        self.try_import().unwrap()
    }

    pub(crate) fn try_import(&mut self) -> Result<ImportReport, ImportError> {
        let before = self.untouchable();
        let files = tree(&self.work, &|at| at.starts_with(".git"));
        let view = File::open(&self.view).unwrap();
        let report = import(
            view.as_fd(),
            &self.layout,
            &mut self.baseline,
            &self.options,
        );
        assert_eq!(
            before,
            self.untouchable(),
            "a file that never comes back has changed"
        );
        assert_eq!(files, tree(&self.work, &|at| at.starts_with(".git")));
        self.no_debris();
        assert!(!self.marker.exists(), "the import ran what was planted");
        report
    }

    /// Everything in the host's git directory that no import may change.
    pub(crate) fn untouchable(&self) -> BTreeMap<PathBuf, String> {
        tree(&self.dot_git, &|at| {
            let fan = at.strip_prefix("objects").is_ok_and(|rest| {
                let first = rest.iter().next().and_then(OsStr::to_str);
                first.is_some_and(|first| first.len() == 2 || first == "pack")
            });
            let managed = ["HEAD", "index", "packed-refs", "refs/stash"]
                .iter()
                .any(|name| at == Path::new(name));
            let below = ["refs/heads", "refs/tags", "refs/notes", "logs"]
                .iter()
                .any(|name| at.starts_with(name));
            fan || managed || below
        })
    }

    fn no_debris(&self) {
        for (at, what) in tree(&self.dot_git, &|_| false) {
            assert!(
                what.starts_with("file") || what == "dir",
                "{} is {what}",
                at.display()
            );
            let name = at.to_string_lossy();
            assert!(
                !name.ends_with(".lock") && !name.contains("tmp_objdir"),
                "{name} was left"
            );
        }
    }

    /// The host's repository is sound, and its git runs nothing of the session's.
    pub(crate) fn host_is_sound(&self) {
        let fsck = git(&self.work)
            .args(["fsck", "--strict", "--full", "--no-dangling"])
            .output()
            .unwrap();
        let said = [fsck.stdout.clone(), fsck.stderr.clone()].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(fsck.status.success() && !said.contains("error"), "{said}");
        assert!(
            !said.contains("missing") && !said.contains("broken"),
            "{said}"
        );
    }

    /// Uses the repository as its owner would next, and checks that nothing planted ran.
    pub(crate) fn use_as_owner(&self) {
        self.host_is_sound();
        self.host(&["status"]);
        self.host(&["log", "--oneline", "-3"]);
        self.host(&["stash", "list"]);
        self.host(&["branch", "-a"]);
        write(self.work.join("owner.txt"), "mine\n");
        self.host(&["add", "owner.txt"]);
        self.host(&["diff", "--cached"]);
        self.host(&["commit", "-qm", "the owner's"]);
        self.host(&["checkout", "-q", "-b", "owners-branch"]);
        self.host(&["commit", "-q", "--allow-empty", "-m", "again"]);
        self.host(&["gc", "-q"]);
        assert!(!self.marker.exists(), "the host's git ran what was planted");
        self.host_is_sound();
    }

    /// A script that leaves the marker, whatever its environment is.
    pub(crate) fn script(&self, at: impl AsRef<Path>) {
        write(&at, format!("#!/bin/sh\n: > '{}'\n", self.marker.display()));
        std::fs::set_permissions(at, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn ref_on_host(&self, name: &str) -> Option<String> {
        let output = git(&self.work)
            .args(["rev-parse", "--verify", "-q", name])
            .output();
        let output = output.unwrap();
        output.status.success().then(|| text(&output))
    }
}

/// Every path below, and what it is and holds.
pub(crate) fn tree(root: &Path, skip: &dyn Fn(&Path) -> bool) -> BTreeMap<PathBuf, String> {
    fn walk(
        root: &Path,
        at: &Path,
        skip: &dyn Fn(&Path) -> bool,
        out: &mut BTreeMap<PathBuf, String>,
    ) {
        for entry in std::fs::read_dir(root.join(at)).unwrap() {
            let entry = entry.unwrap();
            let below = at.join(entry.file_name());
            if skip(&below) {
                continue;
            }
            let kind = entry.file_type().unwrap();
            let what = if kind.is_dir() {
                walk(root, &below, skip, out);
                "dir".to_owned()
            } else if kind.is_file() {
                let mode = entry.metadata().unwrap().permissions().mode();
                let bytes = std::fs::read(entry.path()).unwrap();
                format!("file {mode:o} {}", String::from_utf8_lossy(&bytes))
            } else if kind.is_symlink() {
                format!(
                    "link {}",
                    std::fs::read_link(entry.path()).unwrap().display()
                )
            } else {
                format!("other {}", kind.is_fifo())
            };
            out.insert(below, what);
        }
    }
    let mut out = BTreeMap::new();
    walk(root, Path::new(""), skip, &mut out);
    out
}

/// Why something was dropped; `None` if it was not.
pub(crate) fn dropped<'r>(report: &'r ImportReport, path: &str) -> Option<&'r DropReason> {
    let found = report.dropped.iter().find(|dropped| dropped.path == path);
    found.map(|dropped| &dropped.why)
}
