//! What a policy permits happens, and nothing else does.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use palisade_policy::{CanonicalSandboxPolicy, Clause, Grant, PathRules, PathSpec, Reopened};
use palisade_runner::files::{FileError, FileKind, NewFile, Strength, Written};

use crate::support::{Stage, abs, clause, refused, tree};

#[test]
fn a_file_is_made_read_written_moved_and_removed() {
    let stage = Stage::new();
    let files = stage.files();
    assert_eq!(files.strength(), Strength::Kernel);
    let (one, two) = (stage.path("src/one"), stage.path("src/two"));
    files.create(&one, b"1\xff\r\n", NewFile::Plain).unwrap();
    let content = files.read(&one).unwrap();
    assert_eq!(content.bytes, b"1\xff\r\n");
    assert_eq!(content.info.links, 1);
    assert_eq!(content.info.path, one);
    assert!(!content.info.executable);
    assert!(matches!(
        files.create(&one, b"", NewFile::Plain),
        Err(FileError::Exists { .. })
    ));
    let written = files.write(&one, b"2").unwrap();
    assert_eq!(written, Written::Replaced { owner_kept: true });
    files.rename(&one, &two).unwrap();
    assert!(matches!(files.read(&one), Err(FileError::Missing { .. })));
    assert_eq!(files.read(&two).unwrap().bytes, b"2");
    assert!(matches!(
        files.rename(&two, &stage.path("src/lib.rs")),
        Err(FileError::Exists { .. })
    ));
    files.remove(&two).unwrap();
    assert!(matches!(files.remove(&two), Err(FileError::Missing { .. })));
    let directory = stage.path("new");
    files.create_dir(&directory).unwrap();
    assert_eq!(
        files.metadata(&directory).unwrap().kind,
        FileKind::Directory
    );
    files.remove(&directory).unwrap();
    assert_eq!(
        files.write(&stage.path("fresh"), b"x").unwrap(),
        Written::Created
    );
    files.remove(&stage.path("fresh")).unwrap();
    // Nothing of ours is left.
    assert_eq!(
        std::fs::read_dir(stage.workspace.join("src"))
            .unwrap()
            .count(),
        1
    );
}

#[test]
fn permissions_are_kept_but_never_setuid() {
    let stage = Stage::new();
    let path = stage.workspace.join("src/lib.rs");
    for (before, after) in [
        (0o600, 0o600),
        (0o751, 0o751),
        (0o4755, 0o755),
        (0o444, 0o444),
    ] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(before)).unwrap();
        let _ = stage.files().write(&abs(&path), b"new").unwrap();
        assert_eq!(
            path.metadata().unwrap().mode() & 0o7777,
            after,
            "{before:o}"
        );
    }
    let script = stage.path("run");
    stage
        .files()
        .create(&script, b"#!/bin/sh\n", NewFile::Executable)
        .unwrap();
    assert!(stage.files().metadata(&script).unwrap().executable);
}

#[test]
fn the_owner_is_kept() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can give files away");
        return;
    }
    let stage = Stage::new();
    let path = stage.workspace.join("src/lib.rs");
    std::os::unix::fs::chown(&path, Some(1234), Some(2345)).unwrap();
    let _ = stage.files().write(&abs(&path), b"new").unwrap();
    let metadata = path.metadata().unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (1234, 2345));
}

#[test]
fn every_guard_is_kept_and_named() {
    let stage = Stage::new();
    let before = tree(&stage.top);
    let deny = PathSpec::parse("**/.env*").unwrap();
    let fixed = PathSpec::parse(stage.workspace.join("src/fixed").to_str().unwrap()).unwrap();
    let rules = PathRules::default()
        .with_deny_read([deny])
        .with_read_only([fixed]);
    let files = stage.under(&stage.policy().with_paths(rules));
    let app = |name: &str| stage.path(name);
    let outside = |name: &str| abs(&stage.outside.join(name));

    let git = clause(files.write(&app(".git/config"), b"x"));
    assert_eq!(git, Clause::Protected(app(".git")));
    assert_eq!(clause(files.remove(&app(".git/config"))), git);
    assert_eq!(
        clause(files.create_dir(&app(".palisade"))),
        Clause::Protected(app(".palisade"))
    );
    assert_eq!(clause(files.rename(&app(".git"), &app("git"))), git);
    assert_eq!(
        clause(files.write(&outside("lib.rs"), b"x")),
        Clause::OutsideRoots
    );
    assert_eq!(
        clause(files.remove(&outside("lib.rs"))),
        Clause::OutsideRoots
    );
    assert_eq!(
        clause(files.rename(&outside("lib.rs"), &app("x"))),
        Clause::OutsideRoots
    );
    assert_eq!(
        clause(files.rename(&app("src/lib.rs"), &outside("x"))),
        Clause::OutsideRoots
    );
    assert!(matches!(
        clause(files.create(&app(".env"), b"", NewFile::Plain)),
        Clause::DenyRead(_)
    ));
    assert!(matches!(
        clause(files.read(&app("src/.env.local"))),
        Clause::DenyRead(_)
    ));
    assert!(matches!(
        clause(files.rename(&app("src/lib.rs"), &app("src/.env"))),
        Clause::DenyRead(_) | Clause::MovesGuarded(_)
    ));
    assert!(matches!(
        clause(files.create(&app("src/fixed"), b"", NewFile::Plain)),
        Clause::ReadOnlyPath(_)
    ));
    let secret = refused(files.read(&abs(&stage.home.join(".ssh/id"))));
    assert!(matches!(secret.clause(), Clause::Sensitive(_)));
    assert_eq!(
        secret.smallest_grant(),
        Some(&Grant::Read(abs(&stage.home.join(".ssh/id"))))
    );
    assert_eq!(clause(files.remove(&app(""))), Clause::OutsideRoots);
    // What nothing guards can be read anywhere.
    assert_eq!(files.read(&outside("lib.rs")).unwrap().bytes, b"OUTSIDE\n");
    assert_eq!(files.read(&app(".git/config")).unwrap().bytes, b"[core]\n");
    assert_eq!(tree(&stage.top), before);
}

#[test]
fn a_policy_that_writes_nothing_writes_nothing_and_one_without_sandbox_everything() {
    let stage = Stage::new();
    let files = stage.under(&CanonicalSandboxPolicy::read_only());
    assert_eq!(
        files.read(&stage.path("src/lib.rs")).unwrap().bytes,
        b"inside\n"
    );
    assert_eq!(
        clause(files.write(&stage.path("src/lib.rs"), b"x")),
        Clause::ReadOnlyMode
    );
    assert_eq!(
        clause(files.create_dir(&stage.path("x"))),
        Clause::ReadOnlyMode
    );
    assert!(matches!(
        clause(files.read(&abs(&stage.home.join(".ssh/id")))),
        Clause::Sensitive(_)
    ));
    let open = [
        CanonicalSandboxPolicy::full_access(),
        CanonicalSandboxPolicy::external("a container"),
    ];
    for policy in open {
        let files = stage.under(&policy);
        let _ = files
            .write(&abs(&stage.outside.join("lib.rs")), b"y")
            .unwrap();
        assert_eq!(
            files.read(&abs(&stage.home.join(".ssh/id"))).unwrap().bytes,
            b"SECRET\n"
        );
        let magic = abs(std::path::Path::new("/proc/self/cwd/Cargo.toml"));
        assert!(matches!(
            files.read(&magic),
            Err(FileError::MagicLink { .. })
        ));
        assert!(
            !files
                .read(&abs(std::path::Path::new("/proc/self/status")))
                .unwrap()
                .bytes
                .is_empty()
        );
    }
}

#[test]
fn a_private_place_is_not_the_hosts() {
    let stage = Stage::new();
    let files = stage.private();
    let path = abs(std::path::Path::new("/tmp/palisade-private-test"));
    for refusal in [
        refused(files.create(&path, b"x", NewFile::Plain)),
        refused(files.read(&path)),
    ] {
        assert!(refusal.is_private());
        assert!(
            refusal
                .to_string()
                .contains("only commands of the session can reach"),
            "{refusal}"
        );
    }
    assert!(!path.as_path().exists());
}

#[test]
fn a_grant_for_one_file_writes_it_in_place_if_it_has_no_other_name() {
    let stage = Stage::new();
    let path = abs(&stage.outside.join("lib.rs"));
    let rules = PathRules::default().with_reopened([Reopened::write(path.clone())]);
    let files = stage.under(&stage.policy().with_paths(rules));
    let before = path.as_path().metadata().unwrap().ino();
    assert_eq!(files.write(&path, b"granted").unwrap(), Written::InPlace);
    assert_eq!(path.as_path().metadata().unwrap().ino(), before);
    assert_eq!(std::fs::read(path.as_path()).unwrap(), b"granted");
    assert_eq!(std::fs::read_dir(&stage.outside).unwrap().count(), 2);
    std::fs::hard_link(path.as_path(), stage.outside.join("second")).unwrap();
    assert!(matches!(
        files.write(&path, b"no"),
        Err(FileError::OtherNames { links: 2, .. })
    ));
    assert_eq!(std::fs::read(path.as_path()).unwrap(), b"granted");
}

#[test]
fn special_files_large_files_and_directories_are_refused() {
    let stage = Stage::new();
    let files = stage.files();
    let pipe = stage.path("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o666);
    rustix::fs::mkfifoat(rustix::fs::CWD, pipe.as_path(), mode).unwrap();
    let socket = stage.path("socket");
    let _listener = std::os::unix::net::UnixListener::bind(socket.as_path()).unwrap();
    let null = abs(std::path::Path::new("/dev/null"));
    for (path, expected) in [
        (&pipe, FileKind::Pipe),
        (&socket, FileKind::Socket),
        (&null, FileKind::Device),
        (&stage.path("src"), FileKind::Directory),
    ] {
        let kind = |error: FileError| match error {
            FileError::WrongKind { kind, .. } => kind,
            other => panic!("{other}"),
        };
        assert_eq!(kind(files.read(path).unwrap_err()), expected);
        assert_eq!(kind(files.write(path, b"x").unwrap_err()), expected);
    }
    assert!(matches!(
        files.remove(&pipe),
        Err(FileError::WrongKind { .. })
    ));
    let small = stage.files().with_limit(3);
    assert!(matches!(
        small.read(&stage.path("src/lib.rs")),
        Err(FileError::TooLarge { limit: 3, .. })
    ));
    assert!(matches!(
        files.remove(&stage.path("src")),
        Err(FileError::Io { .. })
    ));
}
