//! Git's `commit` mode from end to end: real git in a real session, on a private overlay, and its history on the host
//! afterwards.

mod conflicts;
mod layouts;
mod places;
mod planted;
mod refusals;
mod work;
mod wrapper;

use std::fs;
use std::path::{Path, PathBuf};

use palisade_linux_landlock::git_import::{DropReason, ImportOptions, ImportReport};
use palisade_linux_landlock::{Helper, StartError, Started, start};
use palisade_policy::{AcceptedLosses, CanonicalSandboxPolicy, GitAccess, PathRules};

use crate::support::helper_path;
use crate::toolbox::{Bench, find, snapshot};

/// A repository on the host, with an owner who goes on working in it.
pub(crate) struct Repository {
    pub(crate) bench: Bench,
}

impl Repository {
    /// Three commits on `main`, a branch `side`, a tag; `None` where there is no git.
    pub(crate) fn new() -> Option<Self> {
        Self::with("git init -q -b main")
    }

    pub(crate) fn with(init: &str) -> Option<Self> {
        if !crate::toolbox::all_installed(&["git"]) {
            return None;
        }
        let bench = Bench::new();
        fs::remove_dir_all(bench.stage.workspace.join(".git")).unwrap();
        bench.write("file", "one\n");
        bench.write("dir/other", "two\n");
        bench.on_host(&format!(
            "git config --global user.name Dev; git config --global user.email dev@example.org
             git config --global advice.detachedHead false; git config --global gc.autoDetach false
             {init}; git add .; git commit -qm first; echo more >> file; git commit -qam second; git tag v0
             git branch side; echo most >> file; git commit -qam third"
        ));
        Some(Self { bench })
    }

    pub(crate) fn dot_git(&self) -> PathBuf {
        self.bench.stage.workspace.join(".git")
    }

    pub(crate) fn policy(&self) -> CanonicalSandboxPolicy {
        self.bench.git(GitAccess::Commit)
    }

    pub(crate) fn helper() -> Helper {
        Helper::new(helper_path()).with_git(ImportOptions::new(find("git").unwrap()))
    }

    pub(crate) fn try_start(
        &self,
        policy: &CanonicalSandboxPolicy,
        accepted: &AcceptedLosses,
    ) -> Result<Started, StartError> {
        start(
            policy,
            &self.bench.stage.context(),
            accepted,
            &Self::helper(),
        )
    }

    #[track_caller]
    pub(crate) fn start(&self) -> Started {
        let none = AcceptedLosses::none();
        self.try_start(&self.policy(), &none).unwrap()
    }

    /// What runs in the session; every command of it must succeed.
    #[track_caller]
    pub(crate) fn inside(&self, started: &Started, script: &str) -> String {
        self.bench.run(&started.session, script)
    }

    #[track_caller]
    pub(crate) fn on_host(&self, script: &str) -> String {
        self.bench.on_host(script)
    }

    /// Imports into the one repository, and checks what must hold whatever the session did.
    #[track_caller]
    pub(crate) fn import(&self, started: &mut Started) -> ImportReport {
        let files = self.work_files();
        let steering = self.steering();
        let report = self.import_beside_a_writer(started);
        assert_eq!(files, self.work_files(), "a file of the work tree changed");
        assert_eq!(steering, self.steering(), "what steers git changed");
        report
    }

    #[track_caller]
    pub(crate) fn import_beside_a_writer(&self, started: &mut Started) -> ImportReport {
        let mut imports = started.import_git();
        assert_eq!(imports.len(), 1);
        let import = imports.pop().unwrap();
        assert!(!self.marker().exists(), "the import ran what was planted");
        import.outcome.unwrap()
    }

    fn work_files(&self) -> Vec<String> {
        let mut files = snapshot(&self.bench.stage.workspace);
        files.retain(|line| !line.contains("/.git/") && !line.contains("/.git "));
        files
    }

    /// Everything in the git directory that no import may change.
    fn steering(&self) -> Vec<String> {
        let dot_git = self.dot_git();
        let prefix = format!("{}/", dot_git.display());
        let mut files = snapshot(&dot_git);
        files.retain(|line| {
            let Some(below) = line.strip_prefix(&prefix) else {
                return false;
            };
            let name = below.split(' ').next().unwrap();
            let managed = ["objects", "refs", "logs", "HEAD", "index", "packed-refs"]
                .iter()
                .any(|managed| name == *managed || name.starts_with(&format!("{managed}/")));
            // The directories above what comes back change with it.
            let own = name.starts_with("worktrees/")
                && (name.matches('/').count() == 1
                    || name.contains("/logs")
                    || name.ends_with("/HEAD")
                    || name.ends_with("/index"));
            (!managed && !own) || name.starts_with("objects/info")
        });
        files
    }

    /// What a planted program makes when the host runs it. No session can.
    pub(crate) fn marker(&self) -> PathBuf {
        self.bench.stage.outside.join("marker")
    }

    /// The host's repository is sound.
    #[track_caller]
    pub(crate) fn is_sound(&self) {
        let said = self.on_host("git fsck --strict --full --no-dangling --no-progress 2>&1");
        for bad in ["error", "missing", "broken", "warning"] {
            assert!(!said.contains(bad), "{said}");
        }
        for (at, about) in everything(&self.dot_git()) {
            let name = at.to_string_lossy();
            assert!(about.is_file() || about.is_dir(), "{name} is no file");
            assert!(!name.ends_with(".lock"), "{name} was left");
            assert!(!name.contains("tmp_obj"), "{name} was left");
        }
    }

    /// The owner goes on, and nothing that was planted runs or is written through.
    #[track_caller]
    pub(crate) fn owner_goes_on(&self) {
        self.is_sound();
        self.on_host(
            "git status; git log --oneline -3; git stash list; git branch -a; git diff HEAD > /dev/null
             echo mine > owner.txt; git add owner.txt; git diff --cached > /dev/null
             git commit -qm 'the owner'; git checkout -q -b owners; git commit -q --allow-empty -m again
             git merge -q --no-edit side || git merge --abort; git rebase -q HEAD~1; git reset -q --soft HEAD~1
             git commit -q --allow-empty -m last; git gc -q; git status > /dev/null",
        );
        assert!(!self.marker().exists(), "git ran what was planted");
        assert_eq!(
            fs::read_to_string(self.bench.stage.outside.join("victim")).unwrap(),
            "precious"
        );
        self.is_sound();
    }

    /// A line of shell that makes a program which leaves the marker when the host runs it, and does nothing inside.
    pub(crate) fn payload(&self, at: &str) -> String {
        format!(
            "printf '#!/bin/sh\\n: > \"{}\" 2>/dev/null || :\\n' > {at}; chmod +x {at}",
            self.marker().display()
        )
    }
}

/// Every path below a directory.
fn everything(directory: &Path) -> Vec<(PathBuf, fs::Metadata)> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(path) = left.pop() {
        for entry in fs::read_dir(&path).unwrap() {
            let path = entry.unwrap().path();
            let about = fs::symlink_metadata(&path).unwrap();
            if about.is_dir() {
                left.push(path.clone());
            }
            found.push((path, about));
        }
    }
    found
}

/// Why something was dropped.
#[track_caller]
pub(crate) fn dropped<'r>(report: &'r ImportReport, path: &str) -> &'r DropReason {
    let found = report.dropped.iter().find(|dropped| dropped.path == path);
    &found
        .unwrap_or_else(|| panic!("{path} is not reported: {report}"))
        .why
}

pub(crate) fn commit_rules() -> PathRules {
    PathRules::default().with_git(GitAccess::Commit)
}
