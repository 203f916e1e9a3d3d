//! Linked work trees, other formats, and repositories that are refused.

use palisade_linux_landlock::git_import::{
    DropReason, GitLayout, ImportError, ImportOptions, baseline,
};

use crate::world::{World, copy, dropped, git, git_program, run, text, write};

#[test]
fn a_linked_work_tree_gets_its_own_head_and_index() {
    let mut world = World::new();
    let linked = world.work.parent().unwrap().join("linked");
    world.host(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "topic",
        linked.to_str().unwrap(),
    ]);
    let own = world.dot_git.join("worktrees/linked");
    world.layout = GitLayout::new(&world.dot_git, &own).unwrap();
    world.baseline = baseline(&world.layout, &world.options).unwrap();
    std::fs::remove_dir_all(&world.view).unwrap();
    copy(&world.dot_git, &world.view);
    let inside = |args: &[&str]| {
        let output = git(&linked)
            .env("GIT_DIR", world.view.join("worktrees/linked"))
            .env("GIT_WORK_TREE", &linked)
            .args(args)
            .output();
        text(&output.unwrap())
    };
    write(linked.join("t.txt"), "t\n");
    inside(&["add", "t.txt"]);
    inside(&["commit", "-qm", "on topic"]);
    let tip = inside(&["rev-parse", "HEAD"]);
    inside(&["checkout", "-q", "-b", "topic2"]);
    // The main work tree's own things, and the branch that it has checked out, are not this session's.
    write(world.view.join("HEAD"), "ref: refs/heads/side\n");
    write(world.view.join("refs/heads/main"), format!("{tip}\n"));
    write(
        world.view.join("worktrees/linked/gitdir"),
        "/tmp/elsewhere/.git\n",
    );
    write(
        world.view.join("worktrees/linked/commondir"),
        "/tmp/elsewhere\n",
    );
    write(
        world.view.join("worktrees/other/HEAD"),
        "ref: refs/heads/side\n",
    );

    let view = std::fs::File::open(&world.view).unwrap();
    let main = world.host(&["rev-parse", "main"]);
    let report = palisade_linux_landlock::git_import::import(
        std::os::fd::AsFd::as_fd(&view),
        &world.layout,
        &mut world.baseline,
        &world.options,
    )
    .unwrap();
    assert_eq!(run(&linked, &["symbolic-ref", "HEAD"]), "refs/heads/topic2");
    assert_eq!(run(&linked, &["rev-parse", "topic"]), tip);
    assert_eq!(run(&linked, &["status", "--porcelain"]), "");
    assert_eq!(world.host(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(world.host(&["rev-parse", "main"]), main);
    assert_eq!(world.host(&["status", "--porcelain"]), "");
    assert_eq!(
        dropped(&report, "refs/heads/main"),
        Some(&DropReason::InUse)
    );
    for steering in ["worktrees/linked/gitdir", "worktrees/linked/commondir"] {
        assert_eq!(
            dropped(&report, steering),
            Some(&DropReason::Steers),
            "{report}"
        );
    }
    assert!(dropped(&report, "worktrees/other/HEAD").is_some());
    assert!(!world.dot_git.join("worktrees/other").exists());
    world.use_as_owner();
}

#[test]
fn sha256_repositories() {
    let mut world = World::with(&["--object-format=sha256"]);
    let tip = world.commit_inside("a.txt", "two\n", "second");
    assert_eq!(tip.len(), 64);
    write(world.work.join("a.txt"), "three\n");
    world.inside(&["stash", "-q"]);
    world.inside(&["gc", "-q"]);
    let report = world.import();
    assert_eq!(report.notable().count(), 0, "{report}");
    assert_eq!(world.host(&["rev-parse", "main"]), tip);
    assert_eq!(world.host(&["stash", "list"]).lines().count(), 1);
    assert_eq!(world.host(&["status", "--porcelain"]), "");
    world.use_as_owner();
}

#[test]
fn reftables_are_refused() {
    let tmp = tempfile::tempdir().unwrap();
    let init = git(tmp.path())
        .args(["init", "-q", "--ref-format=reftable"])
        .output();
    if !init.unwrap().status.success() {
        eprintln_skip("this git has no reftables");
        return;
    }
    let dot_git = tmp.path().join(".git");
    let layout = GitLayout::new(&dot_git, &dot_git).unwrap();
    let refused = baseline(&layout, &ImportOptions::new(git_program()));
    assert!(matches!(refused, Err(ImportError::Unsupported(_))));
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn eprintln_skip(why: &str) {
    eprintln!("skipped: {why}");
}

#[test]
fn without_git_nothing_is_imported() {
    let mut world = World::new();
    world.commit_inside("a.txt", "two\n", "second");
    let before = world.host(&["rev-parse", "main"]);
    world.options.git = "/nonexistent/git".into();
    assert!(matches!(world.try_import(), Err(ImportError::Start { .. })));
    assert_eq!(world.host(&["rev-parse", "main"]), before);
}

#[test]
fn the_hosts_own_hooks_and_settings_do_not_run_in_an_import() {
    let mut world = World::new();
    for hook in [
        "reference-transaction",
        "post-index-change",
        "post-checkout",
    ] {
        world.script(world.dot_git.join("hooks").join(hook));
    }
    let hook = world.dot_git.join("hooks/post-checkout");
    run(
        &world.work,
        &["config", "core.fsmonitor", hook.to_str().unwrap()],
    );
    std::fs::remove_dir_all(&world.view).unwrap();
    copy(&world.dot_git, &world.view);
    std::fs::remove_dir_all(world.view.join("hooks")).unwrap();
    run(
        &world.work,
        &[
            "--git-dir",
            world.view.to_str().unwrap(),
            "config",
            "--unset",
            "core.fsmonitor",
        ],
    );
    let _ = std::fs::remove_file(&world.marker);
    world.commit_inside("a.txt", "two\n", "second");
    world.inside(&["checkout", "-q", "-b", "topic"]);
    let report = world.import();
    assert_eq!(report.head.as_deref(), Some("ref: refs/heads/topic"));
    assert!(!world.marker.exists());
}

#[test]
fn a_sparse_or_split_index_of_the_host_is_left_alone() {
    let world = World::new();
    world.host(&["update-index", "--split-index"]);
    let mut world = world.renewed();
    let tip = world.commit_inside("c.txt", "x\n", "second");
    let before = std::fs::read(world.dot_git.join("index")).unwrap();
    let report = world.import();
    assert_eq!(world.host(&["rev-parse", "main"]), tip);
    assert_eq!(std::fs::read(world.dot_git.join("index")).unwrap(), before);
    assert!(matches!(
        dropped(&report, "index"),
        Some(DropReason::Refused(_))
    ));
}

#[test]
fn the_hosts_skip_worktree_flags_stay() {
    let world = World::new();
    world.host(&["update-index", "--skip-worktree", "d/b.txt"]);
    std::fs::remove_file(world.work.join("d/b.txt")).unwrap();
    let mut world = world.renewed();
    world.commit_inside("c.txt", "x\n", "second");
    world.import();
    assert_eq!(world.host(&["status", "--porcelain"]), "");
    assert_eq!(world.host(&["ls-files", "-v", "d/b.txt"]), "S d/b.txt");
}
