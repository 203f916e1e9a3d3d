//! Repositories that are not simply a directory in the workspace.

use std::path::Path;

use palisade_linux_landlock::start;
use palisade_policy::{
    AcceptedLosses, CanonicalSandboxPolicy, Guarantee, PolicyContext, WorkspaceRoot,
};

use super::{Repository, commit_rules};

/// The workspace is a work tree whose repository lies outside every root.
#[test]
fn a_linked_work_tree() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let linked = repository.bench.stage.home.join("linked");
    repository.on_host(&format!(
        "git worktree add -q -b topic {}",
        linked.display()
    ));
    let root = WorkspaceRoot::new(&linked).unwrap();
    let policy = CanonicalSandboxPolicy::workspace_write([root.clone()]).with_paths(commit_rules());
    let context = PolicyContext::new(repository.bench.stage.context().facts, root);
    let none = AcceptedLosses::none();
    let mut started = start(&policy, &context, &none, &Repository::helper()).unwrap();
    let there = |script: &str| format!("cd {}; {script}", linked.display());
    repository.inside(
        &started,
        &there(
            "echo x > new; git add new; git commit -qm linked; git branch other; echo y >> new; git stash -q
             echo z > staged; git add staged
             ! git branch -f main HEAD 2>/dev/null; git update-ref refs/heads/main HEAD
             echo /nonexistent > .git-note; cat .git | cut -d' ' -f2 > at; echo elsewhere > $(cat at)/gitdir; rm .git-note at",
        ),
    );
    let before = repository.work_files();
    let main = repository.on_host("git rev-parse main");
    let mut imports = started.import_git();
    let report = imports.pop().unwrap().outcome.unwrap();
    assert!(imports.is_empty());
    assert_eq!(before, repository.work_files());
    // The owner's own work tree has `main` checked out: its files would turn into changes.
    assert_eq!(repository.on_host("git rev-parse main"), main, "{report}");
    assert_eq!(
        repository.on_host(&there("git log --format=%s -2; git log -1 --format=%s other; git status --porcelain; git stash list | wc -l")),
        "linked\nthird\nlinked\nA  staged\n1\n",
        "{report}"
    );
    assert_eq!(
        repository.on_host("git status --porcelain; git symbolic-ref HEAD"),
        "refs/heads/main\n"
    );
    started.session.end();
    repository.on_host(&there("git commit -qm staged; git log -1 --format=%s"));
    repository.owner_goes_on();
}

/// Two roots that are work trees of one repository share a layer; each has its own HEAD and index.
#[test]
fn two_work_trees_of_one_repository() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let linked = repository.bench.stage.home.join("linked");
    repository.on_host(&format!(
        "git worktree add -q -b topic {}",
        linked.display()
    ));
    let roots = [
        repository.bench.stage.root(),
        WorkspaceRoot::new(&linked).unwrap(),
    ];
    let policy = CanonicalSandboxPolicy::workspace_write(roots).with_paths(commit_rules());
    let mut started = repository
        .try_start(&policy, &AcceptedLosses::none())
        .unwrap();
    let both = |script: &str| format!("{script}; cd {}; {script}", linked.display());
    for round in ["one", "two"] {
        repository.inside(
            &started,
            &both(&format!("echo {round} > new; git add new; git commit -qm {round}; echo {round} > staged; git add staged")),
        );
        let reports: Vec<_> = started
            .import_git()
            .into_iter()
            .map(|import| import.outcome.unwrap())
            .collect();
        assert_eq!(reports.len(), 2);
        for report in &reports {
            assert!(report.conflicts.is_empty(), "{report}");
        }
        let said = both("git log -2 --format=%s; git status --porcelain; git symbolic-ref HEAD");
        assert_eq!(
            repository.on_host(&said),
            repository.inside(&started, &said),
            "{round}: {} {}",
            reports[0],
            reports[1]
        );
        repository.is_sound();
    }
    started.session.end();
    repository.owner_goes_on();
}

/// What happens in a submodule's own git directory stays in the session, and is reported.
#[test]
fn a_submodule() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let library = repository.bench.stage.outside.join("library");
    repository.on_host(&format!(
        "git init -q -b main {0}; (cd {0}; echo l > lib; git add .; git commit -qm library)
         git -c protocol.file.allow=always submodule --quiet add {0} sub; git commit -qm submodule",
        library.display()
    ));
    let of_sub = "cd sub; git log --format=%s; git symbolic-ref HEAD";
    let mut started = repository.start();
    repository.inside(
        &started,
        "echo x > new; git add new; git commit -qm beside
         cd sub; echo more >> lib; git commit -qam inside; git config core.fsmonitor /nonexistent",
    );
    let report = repository.import(&mut started);
    assert_eq!(repository.on_host("git log -1 --format=%s"), "beside\n");
    assert_eq!(repository.on_host(of_sub), "library\nrefs/heads/main\n");
    assert!(
        report
            .notable()
            .any(|dropped| dropped.path.starts_with("modules/sub")),
        "{report}"
    );
    // The work itself is there to be committed by the owner.
    assert_eq!(
        repository.on_host("git -C sub status --porcelain"),
        " M lib\n"
    );
    started.session.end();
    repository.owner_goes_on();
}

#[test]
fn other_hashes_and_packed_refs() {
    let Some(repository) = Repository::with("git init -q -b main --object-format=sha256") else {
        return;
    };
    repository.on_host("git pack-refs --all; git gc -q");
    let mut started = repository.start();
    repository.inside(
        &started,
        "echo x > new; git add new; git commit -qm new; git branch -q -D side; git gc -q",
    );
    let report = repository.import(&mut started);
    let said = "git for-each-ref --format='%(refname) %(objectname)'; git status --porcelain";
    assert_eq!(
        repository.on_host(said),
        repository.inside(&started, said),
        "{report}"
    );
    started.session.end();
    repository.on_host("git branch side");
    repository.owner_goes_on();
}

/// A `.git` that is a pointer to a repository of somebody else is not one to bring history to.
#[test]
fn a_pointer_to_a_repository_elsewhere() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let elsewhere = repository.bench.stage.home.join("elsewhere");
    repository.on_host(&format!(
        "mv .git {0}; echo 'gitdir: {0}' > .git",
        elsewhere.display()
    ));
    let none = AcceptedLosses::none();
    let error = repository
        .try_start(&repository.policy(), &none)
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("git-import is not enforced here"),
        "{error}"
    );

    let accepted = [Guarantee::GitImport].into_iter().collect();
    let mut started = repository
        .try_start(&repository.policy(), &accepted)
        .unwrap();
    let output = repository
        .bench
        .try_run(&started.session, "git commit -q --allow-empty -m no");
    assert!(!output.exit.success(), "{}", output.text);
    assert!(started.import_git().is_empty());
    assert!(!Path::new(&elsewhere).join("refs/heads/main.lock").exists());
    assert_eq!(repository.on_host("git log -1 --format=%s"), "third\n");
}
