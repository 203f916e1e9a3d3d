//! What people do all day: it comes back as it was, and the next command goes on from there.

use super::Repository;

/// What both sides must say alike.
const STATE: &str = "
    git for-each-ref --format='%(refname) %(objectname) %(objecttype)'
    git symbolic-ref -q HEAD || git rev-parse HEAD
    git log --all --format='%H %s' | sort
    git status --porcelain --branch
    git stash list --format='%H %gs'
    git ls-files --stage
    git notes list
";

/// Does something in a session, imports it, and lets the host say what the session says.
#[track_caller]
fn comes_back(script: &str) -> Option<Repository> {
    let repository = Repository::new()?;
    let mut started = repository.start();
    repository.inside(&started, script);
    let report = repository.import(&mut started);
    assert!(report.conflicts.is_empty(), "{script}: {report}");
    let inside = repository.inside(&started, STATE);
    assert_eq!(repository.on_host(STATE), inside, "{script}: {report}");
    repository.is_sound();
    let again = repository.import(&mut started);
    assert!(
        again.refs.is_empty() && again.head.is_none() && again.index_paths == 0,
        "{script}: {again}"
    );
    started.session.end();
    repository.is_sound();
    assert_eq!(repository.on_host(STATE), inside, "{script}");
    Some(repository)
}

#[test]
fn staging() {
    comes_back(
        "echo x > new; echo y >> file; git add new file; echo z >> file; git rm -q dir/other",
    );
}

#[test]
fn committing_and_amending() {
    comes_back(
        "echo x > new; git add new; git commit -qm new; echo y > new; git commit -qa --amend -m newer
         git commit -q --allow-empty -m empty; git reset -q --soft HEAD~1; echo w > left; git add left",
    );
}

#[test]
fn stashing() {
    comes_back(
        "echo x >> file; git stash -q; echo y >> file; git stash push -q -m two; echo z > new
         git add new; git stash push -q -m three; git stash pop -q; git stash drop -q 'stash@{1}'",
    );
}

/// A mount stands on each name that is guarded and missing: git must not try to remove it, and nobody is told of a list
/// that the session itself has made longer.
#[test]
fn placeholders_are_not_in_the_way_of_stashing_and_cleaning() {
    let Some(repository) = Repository::new() else {
        return;
    };
    repository.bench.write(".git/info/exclude", "*.log");
    repository.bench.write("kept.log", "kept\n");
    let mut started = repository.start();
    let said = repository.inside(
        &started,
        "ls -d .claude .vscode; echo x > new; git stash push -q -u -m all; [ -e new ] || echo gone
         git stash pop -q >/dev/null; git status --short --ignored; git clean -q -fd; ls; git check-ignore a.log",
    );
    assert_eq!(
        said,
        ".claude\n.vscode\ngone\n?? new\n!! kept.log\ndir\nfile\nkept.log\na.log\n"
    );
    let report = repository.import(&mut started);
    assert!(!report.to_string().contains("info/exclude"), "{report}");
    repository.inside(&started, "echo '*.tmp' >> .git/info/exclude");
    let report = repository.import(&mut started);
    assert!(report.to_string().contains("info/exclude"), "{report}");
    started.session.end();
    assert_eq!(repository.on_host("cat .git/info/exclude"), "*.log");
}

#[test]
fn branching_and_merging() {
    comes_back(
        "git switch -qc topic; echo x > topic; git add topic; git commit -qm topic
         git switch -q side; echo y > side; git add side; git commit -qm side
         git switch -q main; git merge -q --no-edit topic; git merge -q --no-edit --no-ff side
         git branch -q -d topic; git branch -q -m side renamed; git switch -qc last",
    );
}

#[test]
fn rebasing_and_picking() {
    comes_back(
        "git switch -qc topic v0; echo x > a; git add a; git commit -qm a; echo y > b; git add b; git commit -qm b
         git rebase -q main; git switch -q side; git cherry-pick topic~1 > /dev/null; git revert --no-edit HEAD > /dev/null
         git switch -q topic; GIT_SEQUENCE_EDITOR='sed -i 2s/pick/fixup/' git rebase -q -i main",
    );
}

#[test]
fn tagging_and_noting() {
    comes_back(
        "git tag light; git tag -a -m heavy v1; git tag -d v0 > /dev/null; git notes add -m note HEAD
         git commit -q --allow-empty -m x; git tag -f light > /dev/null",
    );
}

#[test]
fn collecting_garbage_and_packing() {
    comes_back(
        "git commit -q --allow-empty -m one; git gc -q --prune=now; git commit -q --allow-empty -m two
         git branch -q -D side; git pack-refs --all; git repack -q -a -d; git branch three; git checkout -q --detach",
    );
}

#[test]
fn a_worktree_on_another_branch_and_an_orphan() {
    comes_back(
        "git switch -q --orphan fresh; echo x > x; git add x; git commit -qm root; git switch -q side",
    );
}

#[test]
fn several_commands_with_an_import_after_each() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let mut started = repository.start();
    for (script, tip) in [
        ("echo 1 > n; git add n; git commit -qm n1", "n1"),
        ("git gc -q --prune=now", "n1"),
        ("echo 2 > n; git commit -qam n2; git branch b2", "n2"),
        (
            "git branch -q -D b2 side; git pack-refs --all --prune",
            "n2",
        ),
        ("echo 3 > n; git commit -qa --amend -m n3", "n3"),
        (
            "git branch b2 HEAD~1; git stash list; echo 4 > n; git stash -q",
            "n3",
        ),
        (
            "git stash pop -q; git commit -qam n4; git switch -qc other",
            "n4",
        ),
        (
            "git reset -q --hard HEAD~2; git commit -q --allow-empty -m n5",
            "n5",
        ),
    ] {
        repository.inside(&started, script);
        let report = repository.import(&mut started);
        assert!(report.conflicts.is_empty(), "{script}: {report}");
        assert_eq!(
            repository.on_host("git log -1 --format=%s"),
            format!("{tip}\n")
        );
        assert_eq!(
            repository.on_host(STATE),
            repository.inside(&started, STATE),
            "{script}: {report}"
        );
        repository.is_sound();
    }
    started.session.end();
    repository.owner_goes_on();
}

/// What is in the session's layer was deleted there: the host's files are hidden by whiteouts, and directories that
/// were made again hide what they were before.
#[test]
fn whiteouts_and_opaque_directories() {
    let Some(repository) = Repository::new() else {
        return;
    };
    repository.on_host("git branch deep/er/one; git branch deep/er/two; git pack-refs --all; git branch deep/er/three; git repack -q -a -d");
    let mut started = repository.start();
    repository.inside(
        &started,
        "git branch -q -D deep/er/one deep/er/three; git branch -q -m deep/er/two deep/two
         rm -rf .git/refs/heads/deep; git pack-refs --all; git branch deep/er/four
         mv .git/logs .git/logs2; mv .git/logs2 .git/logs
         rm -rf .git/hooks; mkdir .git/hooks; rm -rf .git/info; mkdir .git/info
         git repack -q -a -d -f; git commit -q --allow-empty -m after",
    );
    let report = repository.import(&mut started);
    let branches = "git for-each-ref --format='%(refname) %(objectname)' refs/heads";
    assert_eq!(
        repository.on_host(branches),
        repository.inside(&started, branches),
        "{report}"
    );
    started.session.end();
    repository.owner_goes_on();
}

/// A process that a command left behind goes on committing while the import reads.
#[test]
fn a_process_that_goes_on_writing() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let mut started = repository.start();
    repository.inside(
        &started,
        "(set +e; i=0; while [ ! -e stop ]; do i=$((i+1))
            echo $i > racing; git add racing && git commit -qm \"racing $i\" && git branch -f racing && git tag -f racing &&
                echo $i > count || rm -f .git/*.lock .git/refs/*/*.lock
            [ $((i % 7)) != 0 ] || git gc -q --prune=now
          done; echo > stopped) > /dev/null 2>&1 &
         while [ ! -e count ]; do sleep 0.01; done",
    );
    let mut last = String::new();
    let mut moved = 0;
    for _ in 0..6 {
        let report = repository.import_beside_a_writer(&mut started);
        assert!(report.conflicts.is_empty(), "{report}");
        repository.is_sound();
        let tip = repository.on_host("git rev-parse main");
        moved += usize::from(tip != last);
        last = tip;
    }
    assert!(moved > 1, "nothing came back while the writer ran");
    repository.inside(
        &started,
        "touch stop; while [ ! -e stopped ]; do sleep 0.01; done
         git add racing; git commit -q --allow-empty -m last",
    );
    let report = repository.import(&mut started);
    assert!(report.conflicts.is_empty(), "{report}");
    let said = "git rev-parse HEAD main refs/heads/racing refs/tags/racing; git status --porcelain";
    assert_eq!(
        repository.on_host(said),
        repository.inside(&started, said),
        "{report}"
    );
    started.session.end();
    repository.owner_goes_on();
}
