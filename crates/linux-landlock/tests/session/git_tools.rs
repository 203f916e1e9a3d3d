//! Git in a session: reading always, committing on a private layer or in the real repository.

use std::fs;

use palisade_linux_landlock::Tier;
use palisade_policy::{CanonicalSandboxPolicy, GitAccess, PathRules};

use crate::toolbox::{Bench, all_installed, snapshot};

/// A repository with two commits, a hook that leaves a trace, and an author.
fn repository() -> Bench {
    let bench = Bench::new();
    fs::remove_dir_all(bench.stage.workspace.join(".git")).unwrap();
    bench.write("file", "one\n");
    bench.write("dir/other", "two\n");
    bench.on_host(
        "git config --global user.name Dev; git config --global user.email dev@example.org
         git init -q -b main; git add .; git commit -qm first; echo more >> file; git commit -qam second
         printf '#!/bin/sh\\necho ran >> hook-trace\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo hook-trace >> .git/info/exclude
         touch -d 2020-01-01 file",
    );
    bench
}

/// What people do all day, with what each step must say.
const WORK: &str = "
    echo three >> file; echo new > added
    git status --short
    git diff --stat | tail -1
    git stash -q; git status --short; git stash pop -q
    git add -A
    git commit -qm third
    git log --format=%s
    git switch -qc feature; echo four > four; git add four; git commit -qm fourth
    git switch -q main; git merge -q --no-edit feature; git tag v1; git branch -d feature | grep -o Deleted
    git rebase -q HEAD~1; git reset -q --soft HEAD~1; git commit -qm again; git rev-list --count HEAD
    git gc -q; git fsck --no-dangling --no-progress; git status --short
";
const SAID: &str = " M file\n?? added\n 1 file changed, 1 insertion(+)\n?? added\nthird\nsecond\nfirst\nDeleted\n4\n";

#[test]
fn reading_works_without_access_to_git() {
    if !all_installed(&["git"]) {
        return;
    }
    for tier in crate::support::TIERS {
        let bench = repository();
        let before = snapshot(&bench.stage.workspace.join(".git"));
        let session = bench.session(tier);
        let text = bench.run(&session, "echo x >> file; git status --short; git log --format=%s; git diff --shortstat; git show -s --format=%s HEAD~1");
        assert_eq!(
            text, " M file\nsecond\nfirst\n 1 file changed, 1 insertion(+)\nfirst\n",
            "{tier:?}"
        );
        if tier == Tier::Full {
            let output = bench.try_run(&session, "git commit -am no");
            assert!(
                !output.exit.success() && output.text.contains("Read-only file system"),
                "{}",
                output.text
            );
            assert_eq!(snapshot(&bench.stage.workspace.join(".git")), before);
        }
    }
}

/// Cleaning needs nothing of git's own, so it works there too, placeholders or not; the host's list stays as it is.
#[test]
fn cleaning_works_without_access_to_git() {
    if !all_installed(&["git"]) {
        return;
    }
    let bench = repository();
    let before = snapshot(&bench.stage.workspace.join(".git"));
    let session = bench.session(Tier::Full);
    let text = bench.run(
        &session,
        "ls -d .claude; touch new hook-trace; git clean -q -fd; ls; echo more 2>/dev/null >> .git/info/exclude || echo no",
    );
    assert_eq!(text, ".claude\ndir\nfile\nhook-trace\nno\n");
    session.end();
    assert_eq!(snapshot(&bench.stage.workspace.join(".git")), before);
}

#[test]
fn committing_on_a_private_layer_is_seen_by_the_next_command_and_not_by_the_host() {
    if !all_installed(&["git"]) {
        return;
    }
    let bench = repository();
    let git = bench.stage.workspace.join(".git");
    let before = snapshot(&git);
    let session = bench
        .stage
        .session(&bench.git(GitAccess::Commit), Tier::Full);
    assert_eq!(bench.run(&session, WORK), SAID);
    assert_eq!(
        bench.run(
            &session,
            "git log -1 --format=%s; git tag; wc -l < hook-trace"
        ),
        "again\nv1\n3\n"
    );
    session.end();
    assert_eq!(snapshot(&git), before);
    assert_eq!(bench.on_host("git log --format=%s"), "second\nfirst\n");
    // The work itself is the user's to keep.
    assert!(bench.stage.workspace.join("four").exists());
}

#[test]
fn committing_in_the_real_repository() {
    if !all_installed(&["git"]) {
        return;
    }
    for tier in crate::support::TIERS {
        let bench = repository();
        let session = bench.stage.session(&bench.git(GitAccess::Full), tier);
        assert_eq!(bench.run(&session, WORK), SAID, "{tier:?}");
        session.end();
        assert_eq!(
            bench.on_host("git log -1 --format=%s; git status --short"),
            "again\n"
        );
    }
}

/// A linked work tree in the workspace whose repository is outside of it.
#[test]
fn a_linked_work_tree() {
    if !all_installed(&["git"]) {
        return;
    }
    let bench = repository();
    let linked = bench.stage.home.join("linked");
    let main = bench.stage.outside.join("main");
    bench.on_host(&format!(
        "git clone -q . {0}; git -C {0} worktree add -q -b side {1}",
        main.display(),
        linked.display()
    ));
    let git = main.join(".git");
    let before = snapshot(&git);
    let root = palisade_policy::WorkspaceRoot::new(&linked).unwrap();
    let policy = CanonicalSandboxPolicy::workspace_write([root]);
    let there = |script: &str| format!("cd {}; {script}", linked.display());

    let session = bench.stage.session(&policy, Tier::Full);
    assert_eq!(
        bench.run(
            &session,
            &there("echo x > new; git status --short; git log --format=%s")
        ),
        "?? new\nsecond\nfirst\n"
    );
    let output = bench.try_run(&session, &there("git add new"));
    assert!(!output.exit.success(), "{}", output.text);
    session.end();

    let commit = policy.with_paths(PathRules::default().with_git(GitAccess::Commit));
    let session = bench.stage.session(&commit, Tier::Full);
    assert_eq!(
        bench.run(
            &session,
            &there("git add new; git commit -qm linked; git status --short; git log --format=%s")
        ),
        "linked\nsecond\nfirst\n"
    );
    assert_eq!(
        bench.run(
            &session,
            &there("git log -1 --format=%s side; git stash list")
        ),
        "linked\n"
    );
    session.end();
    assert_eq!(snapshot(&git), before);

    // Full access opens the git directory of a root. This one is outside of every root, so it stays closed.
    let full = commit.with_paths(PathRules::default().with_git(GitAccess::Full));
    let session = bench.stage.session(&full, Tier::Full);
    let output = bench.try_run(&session, &there("git commit -qm refused --allow-empty"));
    assert!(!output.exit.success(), "{}", output.text);
    session.end();
    assert_eq!(snapshot(&git), before);
}

#[test]
fn a_submodule() {
    if !all_installed(&["git"]) {
        return;
    }
    let bench = repository();
    let library = bench.stage.outside.join("library");
    bench.on_host(&format!(
        "git init -q -b main {0}; cd {0}; echo l > lib; git add .; git commit -qm library; cd -
         git -c protocol.file.allow=always submodule --quiet add {0} sub; rm .git/hooks/pre-commit; git commit -qm submodule",
        library.display()
    ));
    let git = bench.stage.workspace.join(".git");
    let before = snapshot(&git);
    let session = bench.session(Tier::Full);
    assert_eq!(
        bench.run(
            &session,
            "git status --short; git submodule status | cut -d' ' -f3; cd sub; git log --format=%s"
        ),
        "sub\nlibrary\n"
    );
    session.end();
    let session = bench
        .stage
        .session(&bench.git(GitAccess::Commit), Tier::Full);
    assert_eq!(
        bench.run(
            &session,
            "cd sub; echo more >> lib; git commit -qam inside; git log --format=%s; cd ..; git status --short; git commit -qam outside; git log -1 --format=%s"
        ),
        "inside\nlibrary\n M sub\noutside\n"
    );
    session.end();
    assert_eq!(snapshot(&git), before);
}
