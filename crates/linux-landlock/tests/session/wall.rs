//! The wall: where a command can write, what it can read, and that its session ends with it.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

use palisade_linux_landlock::{Helper, Tier, start};
use palisade_policy::{AcceptedLosses, CanonicalSandboxPolicy};

use crate::support::{Stage, TIERS, helper_path, read};

#[test]
fn the_workspace_can_be_written_and_nothing_else() {
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        let script = format!(
            "echo mine > file && mkdir -p a/b && mv file a/b/file && cat a/b/file
             echo x >> {0}/victim; echo x > {0}/new; rm -f {0}/victim; mkdir {0}/dir; ln -s x {0}/link; echo x > $HOME/.bashrc
             truncate -s 0 {0}/victim",
            stage.outside.display()
        );
        let output = stage.run(&session, &script);
        assert!(
            output.text.starts_with("mine\n"),
            "{tier:?}: {}",
            output.text
        );
        assert_eq!(read(stage.workspace.join("a/b/file")), "mine\n");
        assert_eq!(read(stage.outside.join("victim")), "precious", "{tier:?}");
        assert_eq!(fs::read_dir(&stage.outside).unwrap().count(), 1, "{tier:?}");
        assert!(!stage.home.join(".bashrc").exists(), "{tier:?}");
    }
}

#[test]
fn read_only_mode_writes_nothing_on_the_host() {
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&CanonicalSandboxPolicy::read_only(), tier);
        let output = stage.run(
            &session,
            "echo x > file; echo y > \"$TMPDIR/scratch\" && cat \"$TMPDIR/scratch\"",
        );
        assert!(output.text.contains("y\n"), "{tier:?}: {}", output.text);
        assert!(!stage.workspace.join("file").exists(), "{tier:?}");
    }
}

#[test]
fn secrets_cannot_be_read_in_any_tier() {
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        let output = stage.run(
            &session,
            "cat ~/.ssh/id_ed25519; ls ~/.ssh; cat ~/.netrc; echo done",
        );
        assert!(!output.text.contains("secret"), "{tier:?}: {}", output.text);
        assert!(
            !output.text.contains("\nid_ed25519"),
            "{tier:?}: {}",
            output.text
        );
        assert!(output.text.ends_with("done\n"));
    }
}

#[test]
fn protected_paths_cannot_be_written_moved_or_replaced() {
    let stage = Stage::new();
    let session = stage.session(&stage.workspace_write(), Tier::Full);
    let output = stage.run(
        &session,
        "echo x > .git/hooks/pre-commit; echo x >> .git/HEAD; mv .git old; rmdir .vscode; echo x > .vscode/tasks.json
         rm -rf .git; mkdir .claude; echo x > .claude/settings.json; ls -a",
    );
    assert_eq!(
        read(stage.workspace.join(".git/HEAD")),
        "ref: refs/heads/main\n"
    );
    assert_eq!(
        fs::read_dir(stage.workspace.join(".git/hooks"))
            .unwrap()
            .count(),
        0
    );
    assert!(output.text.contains(".git\n"), "{}", output.text);
    session.end();
    let mut names: Vec<_> = fs::read_dir(&stage.workspace)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, [".git"], "placeholders are gone with the session");
}

#[test]
fn a_protected_link_is_pinned_and_so_is_what_it_leads_to() {
    let stage = Stage::new();
    fs::rename(
        stage.workspace.join(".git"),
        stage.workspace.join("real-git"),
    )
    .unwrap();
    symlink("real-git", stage.workspace.join(".git")).unwrap();
    let session = stage.session(&stage.workspace_write(), Tier::Full);
    let output = stage.run(
        &session,
        "echo x > .git/hooks/a; echo x > real-git/hooks/b; rm .git; mv .git other; ln -sfn elsewhere .git; mv real-git moved; ls -ld .git",
    );
    assert!(output.text.contains(".git -> real-git"), "{}", output.text);
    assert_eq!(
        fs::read_link(stage.workspace.join(".git")).unwrap(),
        std::path::Path::new("real-git")
    );
    assert_eq!(
        fs::read_dir(stage.workspace.join("real-git/hooks"))
            .unwrap()
            .count(),
        0
    );
}

#[test]
fn a_nested_protected_path_cannot_be_moved_with_its_parent() {
    let stage = Stage::new();
    let nested = stage.workspace.join("vendor/lib");
    fs::create_dir_all(nested.join(".git")).unwrap();
    let roots = [
        stage.root(),
        palisade_policy::WorkspaceRoot::new(&nested).unwrap(),
    ];
    let policy = CanonicalSandboxPolicy::workspace_write(roots);
    let session = stage.session(&policy, Tier::Full);
    let output = stage.run(&session, "mv vendor/lib vendor/x; mv vendor v; touch vendor/lib/fine vendor/fine; echo x > vendor/lib/.git/x; ls");
    assert!(nested.join(".git").exists(), "{}", output.text);
    assert!(
        nested.join("fine").exists() && stage.workspace.join("vendor/fine").exists(),
        "{}",
        output.text
    );
    assert!(!nested.join(".git/x").exists());
}

#[test]
fn metadata_outside_does_not_change() {
    let stage = Stage::new();
    let session = stage.session(&stage.workspace_write(), Tier::Full);
    let victim = stage.outside.join("victim");
    let before = fs::metadata(&victim).unwrap();
    stage.run(
        &session,
        &format!(
            "chmod 0 {0}; touch -d 2001-01-01 {0}; chown $(id -u) {0}",
            victim.display()
        ),
    );
    let after = fs::metadata(&victim).unwrap();
    assert_eq!(
        (before.mode(), before.mtime(), before.ctime_nsec()),
        (after.mode(), after.mtime(), after.ctime_nsec())
    );
}

#[test]
fn a_session_keeps_its_tmp_and_its_servers_and_nothing_survives_it() {
    let stage = Stage::new();
    let session = stage.session(&stage.workspace_write(), Tier::Full);
    stage
        .run(
            &session,
            "echo kept > /tmp/out; (sleep 1000 >/dev/null 2>&1 & echo $! > pid)",
        )
        .assert_success();
    let output = stage.run(
        &session,
        "cat /tmp/out; kill -0 $(cat pid) && echo alive; kill $(cat pid); ls /proc/self/fd",
    );
    assert!(output.text.starts_with("kept\nalive\n"), "{}", output.text);
    assert!(!std::path::Path::new("/tmp/out").exists());
    session.end();
    let next = stage.session(&stage.workspace_write(), Tier::Full);
    let output = stage.run(&next, "cat /tmp/out; ps -e -o comm= | sort -u");
    assert!(
        !output.text.contains("kept") && !output.text.contains("sleep"),
        "{}",
        output.text
    );
}

#[test]
fn a_helper_inside_a_writable_root_cannot_be_replaced() {
    let stage = Stage::new();
    let program = stage.workspace.join("bin/helper");
    fs::create_dir(program.parent().unwrap()).unwrap();
    fs::copy(helper_path(), &program).unwrap();
    let helper = Helper::new(&program);
    let policy = stage.workspace_write();
    let started = start(&policy, &stage.context(), &AcceptedLosses::none(), &helper).unwrap();
    let before = fs::metadata(&program).unwrap();
    let script = "echo x > bin/helper; rm -f bin/helper; mv bin other; mv -f /etc/hostname bin/helper; touch bin/fine";
    stage.run(&started.session, script);
    let after = fs::metadata(&program).unwrap();
    assert_eq!((before.ino(), before.len()), (after.ino(), after.len()));
    assert!(stage.workspace.join("bin/fine").exists());
}
