//! The host works at the same time: nothing of it is ever lost.

use super::Repository;

#[test]
fn a_commit_of_the_host_on_the_same_branch_stays() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let mut started = repository.start();
    repository.inside(
        &started,
        "echo s > session; git add session; git commit -qm session; git branch mine",
    );
    repository.on_host("echo h > host; git add host; git commit -qm host");
    let host = repository.on_host("git rev-parse main");
    let report = repository.import(&mut started);
    assert_eq!(repository.on_host("git rev-parse main"), host, "{report}");
    let conflict = report
        .conflicts
        .iter()
        .find(|conflict| conflict.what == "refs/heads/main");
    assert_eq!(
        conflict.and_then(|conflict| conflict.found.as_deref()),
        Some(host.trim()),
        "{report}"
    );
    // What the session did is not lost either: another branch of it came back.
    assert_eq!(
        repository.on_host("git log -1 --format=%s mine"),
        "session\n"
    );
    let again = repository.import(&mut started);
    assert!(again.refs.is_empty(), "{again}");
    assert_eq!(repository.on_host("git rev-parse main"), host);
    started.session.end();
    repository.owner_goes_on();
}

#[test]
fn a_commit_of_the_host_on_another_branch_is_no_conflict() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let mut started = repository.start();
    repository.inside(
        &started,
        "echo s > session; git add session; git commit -qm session",
    );
    let side = repository.on_host(
        "git update-ref refs/heads/side $(git commit-tree -p side -m host side^{tree}); git rev-parse side",
    );
    let report = repository.import(&mut started);
    assert!(report.conflicts.is_empty(), "{report}");
    assert_eq!(
        repository.on_host("git log -1 --format=%s main; git rev-parse side"),
        format!("session\n{side}")
    );
    started.session.end();
    repository.owner_goes_on();
}

/// The host deletes what the session moves, and moves what the session deletes.
#[test]
fn deletions_on_both_sides() {
    let Some(repository) = Repository::new() else {
        return;
    };
    repository.on_host("git branch a; git branch b; git branch c");
    let mut started = repository.start();
    repository.inside(
        &started,
        "git branch -f a side; git branch -q -D b c; git commit -q --allow-empty -m on",
    );
    repository.on_host("git branch -q -D a c; git branch -f b v0");
    let report = repository.import(&mut started);
    let names: Vec<&str> = report
        .conflicts
        .iter()
        .map(|conflict| conflict.what.as_str())
        .collect();
    assert_eq!(names, ["refs/heads/a", "refs/heads/b"], "{report}");
    assert_eq!(
        repository.on_host(
            "git for-each-ref --format='%(refname:short)' refs/heads; git log -1 --format=%s"
        ),
        "b\nmain\nside\non\n"
    );
    started.session.end();
    repository.owner_goes_on();
}

/// The host stages and stashes something else meanwhile.
#[test]
fn what_the_host_staged_and_stashed_stays() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let mut started = repository.start();
    repository.inside(
        &started,
        "echo s >> file; git stash -q; echo s > both; echo s > session; git add both session",
    );
    repository.on_host("echo h > both; echo h > host; git add both host");
    let report = repository.import(&mut started);
    assert!(
        report
            .conflicts
            .iter()
            .any(|conflict| conflict.what == "index:both"),
        "{report}"
    );
    assert_eq!(
        repository.on_host("git show :both :host :session; git stash list | wc -l"),
        "h\nh\ns\n1\n"
    );
    started.session.end();
    repository.owner_goes_on();
}

/// Commits of the host and imports of the session race for the same branch, again and again.
#[test]
fn a_host_that_commits_all_the_time() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let mut started = repository.start();
    std::thread::scope(|scope| {
        let host = scope.spawn(|| {
            repository.on_host(
                "for i in $(seq 20); do
                    old=$(git rev-parse main); new=$(git commit-tree -p $old -m host-$i $old^{tree})
                    if git update-ref refs/heads/main $new $old 2>/dev/null; then echo $new; fi
                 done",
            )
        });
        let mut committed = 0;
        while !host.is_finished() || committed < 2 {
            committed += 1;
            repository.inside(&started, "git commit -q --allow-empty -m session");
            let _ = repository.import_beside_a_writer(&mut started);
        }
        // Every commit that the host was told is done is still there.
        for commit in host.join().unwrap().lines() {
            repository.on_host(&format!("git merge-base --is-ancestor {commit} main"));
        }
    });
    started.session.end();
    repository.is_sound();
}
