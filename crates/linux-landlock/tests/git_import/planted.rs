//! Attempts to leave something that the host's git would run, follow or overwrite.

use std::os::unix::fs::symlink;

use palisade_linux_landlock::git_import::DropReason;

use crate::world::{World, dropped, write};

/// Plants, commits something honest beside it, imports, and lets the owner go on.
fn plant(path: &str, content: &str) -> DropReason {
    let mut world = World::new();
    let tip = world.commit_inside("a.txt", "two\n", "second");
    let script = world.view.join("payload");
    world.script(&script);
    let content = content.replace("PAYLOAD", script.to_str().unwrap());
    let at = world.view.join(path);
    let _ = std::fs::remove_file(&at);
    write(&at, content);
    if path.starts_with("hooks/") {
        world.script(&at);
    }
    let report = world.import();
    assert_eq!(world.host(&["rev-parse", "main"]), tip, "{report}");
    world.use_as_owner();
    dropped(&report, path)
        .unwrap_or_else(|| panic!("{path} is not reported: {report}"))
        .clone()
}

#[test]
fn hooks() {
    for hook in [
        "pre-commit",
        "post-commit",
        "post-checkout",
        "reference-transaction",
        "post-index-change",
        "pre-auto-gc",
        "fsmonitor-watchman",
    ] {
        assert_eq!(plant(&format!("hooks/{hook}"), ""), DropReason::Steers);
    }
}

#[test]
fn configuration() {
    let base = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";
    for evil in [
        "\tfsmonitor = PAYLOAD\n",
        "\thooksPath = PAYLOAD/..\n",
        "\tsshCommand = PAYLOAD\n\tpager = PAYLOAD\n",
        "\tworktree = /tmp\n",
        "[include]\n\tpath = PAYLOAD\n",
        "[alias]\n\tstatus = !PAYLOAD\n",
        "[filter \"x\"]\n\tclean = PAYLOAD\n\tsmudge = PAYLOAD\n",
        "[extensions]\n\tworktreeConfig = true\n",
    ] {
        assert_eq!(
            plant("config", &format!("{base}{evil}")),
            DropReason::Steers
        );
    }
    assert_eq!(
        plant("config.worktree", "[core]\n\tfsmonitor = PAYLOAD\n"),
        DropReason::Steers
    );
}

#[test]
fn pointers_to_other_places() {
    for (path, content) in [
        ("commondir", "/tmp/elsewhere\n"),
        ("gitdir", "/tmp/elsewhere\n"),
        ("worktrees/x/gitdir", "/tmp/elsewhere/.git\n"),
        ("worktrees/x/commondir", "../..\n"),
        ("modules/x/config", "[core]\n\tfsmonitor = PAYLOAD\n"),
        ("objects/info/alternates", "/tmp/elsewhere/objects\n"),
        ("objects/info/http-alternates", "http://localhost/\n"),
        ("info/attributes", "* filter=x diff=x merge=x\n"),
        ("info/exclude", "*\n"),
        ("info/sparse-checkout", "/nothing\n"),
        ("info/grafts", "ab\n"),
        ("remotes/origin", "URL: ext::PAYLOAD\n"),
        ("branches/origin", "ext::PAYLOAD\n"),
        ("shallow", "ab\n"),
    ] {
        assert_eq!(plant(path, content), DropReason::Steers, "{path}");
    }
}

#[test]
fn operations_that_would_go_on() {
    for (path, content) in [
        ("rebase-merge/git-rebase-todo", "exec PAYLOAD\n"),
        ("rebase-apply/next", "1\n"),
        ("sequencer/todo", "exec PAYLOAD\n"),
        ("MERGE_HEAD", "ab\n"),
        ("MERGE_MSG", "x\n"),
        ("CHERRY_PICK_HEAD", "ab\n"),
        ("BISECT_RUN", "PAYLOAD\n"),
    ] {
        assert_eq!(plant(path, content), DropReason::Unfinished, "{path}");
    }
}

#[test]
fn locks_and_unknown_things() {
    for path in [
        "index.lock",
        "HEAD.lock",
        "config.lock",
        "refs/heads/main.lock",
        "packed-refs.lock",
    ] {
        assert_eq!(plant(path, ""), DropReason::Lock, "{path}");
    }
    for path in ["something", "sharedindex.0123", "reftable/tables.list"] {
        assert_eq!(plant(path, ""), DropReason::Unknown, "{path}");
    }
}

#[test]
fn links_in_place_of_files() {
    for path in [
        "COMMIT_EDITMSG",
        "MERGE_MSG",
        "SQUASH_MSG",
        "ORIG_HEAD",
        "hooks/pre-push",
        "logs/extra",
        "description",
    ] {
        let mut world = World::new();
        let tip = world.commit_inside("a.txt", "two\n", "second");
        let victim = world.work.parent().unwrap().join("victim");
        write(&victim, "untouched");
        let at = world.view.join(path);
        let _ = std::fs::remove_file(&at);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        symlink(&victim, &at).unwrap();
        world.import();
        assert_eq!(world.host(&["rev-parse", "main"]), tip);
        world.use_as_owner();
        assert_eq!(
            std::fs::read_to_string(&victim).unwrap(),
            "untouched",
            "{path}"
        );
    }
}

#[test]
fn links_in_place_of_what_comes_back() {
    for path in [
        "index",
        "packed-refs",
        "refs",
        "refs/heads",
        "refs/heads/main",
        "logs",
        "logs/HEAD",
        "logs/refs/heads/main",
    ] {
        let mut world = World::new();
        world.inside(&["pack-refs", "--all"]);
        world.commit_inside("a.txt", "two\n", "second");
        let victim = world.work.parent().unwrap().join("victim");
        let at = world.view.join(path);
        std::fs::rename(&at, &victim).unwrap();
        symlink(&victim, &at).unwrap();
        let inner = crate::world::tree(world.work.parent().unwrap(), &|at| {
            !at.starts_with("victim")
        });
        let report = world.import();
        assert!(
            world.ref_on_host("refs/heads/side").is_some(),
            "{path}: {report}"
        );
        world.use_as_owner();
        let after = crate::world::tree(world.work.parent().unwrap(), &|at| {
            !at.starts_with("victim")
        });
        assert_eq!(inner, after, "{path}");
        if !path.starts_with("logs") {
            assert_eq!(
                dropped(&report, path),
                Some(&DropReason::NotRegular),
                "{path}: {report}"
            );
        }
    }
}

#[test]
fn hooks_that_were_removed_stay_on_the_host() {
    let world = World::new();
    write(world.dot_git.join("hooks/pre-push"), "#!/bin/sh\nexit 1\n");
    let mut world = world.renewed();
    std::fs::remove_file(world.view.join("hooks/pre-push")).unwrap();
    std::fs::remove_file(world.view.join("config")).unwrap();
    let report = world.import();
    assert!(world.dot_git.join("hooks/pre-push").exists());
    assert_eq!(
        dropped(&report, "hooks/pre-push"),
        Some(&DropReason::Removed)
    );
    assert_eq!(dropped(&report, "config"), Some(&DropReason::Removed));
}

#[test]
fn an_emptied_git_directory_deletes_nothing() {
    let mut world = World::new();
    std::fs::remove_dir_all(&world.view).unwrap();
    std::fs::create_dir(&world.view).unwrap();
    let report = world.import();
    assert!(
        report.refs.is_empty() && report.index_paths == 0,
        "{report}"
    );
    assert!(world.ref_on_host("refs/heads/side").is_some());
    world.use_as_owner();
}
