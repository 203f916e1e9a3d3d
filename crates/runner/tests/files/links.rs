//! Links, second names and roots behind links: what is judged is what they lead to.

use std::os::unix::fs::symlink;

use palisade_policy::{
    CanonicalSandboxPolicy, Clause, HostFacts, Os, PolicyContext, WorkspaceRoot,
};
use palisade_runner::files::{FileError, FileKind, GuardedFiles, NewFile, Strength};

use crate::support::{Stage, abs, clause, refused, tree};

#[test]
fn a_link_that_leads_inside_is_followed_and_one_that_leads_out_is_named() {
    let stage = Stage::new();
    symlink("src", stage.workspace.join("inner")).unwrap();
    symlink("../outside", stage.workspace.join("outer")).unwrap();
    symlink(".git", stage.workspace.join("history")).unwrap();
    symlink("loop", stage.workspace.join("loop")).unwrap();
    symlink("inner/../outer/below/.", stage.workspace.join("winding")).unwrap();
    let before = tree(&stage.outside);
    for files in [stage.files(), stage.files().at_most(Strength::Stepwise)] {
        files
            .create(&stage.path("inner/made"), b"x", NewFile::Plain)
            .unwrap();
        assert_eq!(
            files.metadata(&stage.path("inner/made")).unwrap().path,
            stage.path("src/made")
        );
        files.remove(&stage.path("inner/made")).unwrap();

        let refusal = refused(files.write(&stage.path("outer/lib.rs"), b"x"));
        assert_eq!(refusal.clause(), &Clause::OutsideRoots);
        assert_eq!(refusal.link.as_ref().unwrap().link, stage.path("outer"));
        assert!(
            refusal.to_string().contains("app/outer -> ../outside"),
            "{refusal}"
        );
        assert_eq!(
            clause(files.create_dir(&stage.path("outer/x"))),
            Clause::OutsideRoots
        );
        assert_eq!(
            clause(files.remove(&stage.path("winding/lib.rs"))),
            Clause::OutsideRoots
        );
        let moved = files.rename(&stage.path("src/lib.rs"), &stage.path("outer/x"));
        assert_eq!(clause(moved), Clause::OutsideRoots);
        // A link in the middle is one as well.
        let below = stage.path("outer/below/lib.rs");
        assert_eq!(clause(files.write(&below, b"x")), Clause::OutsideRoots);
        assert_eq!(clause(files.remove(&below)), Clause::OutsideRoots);
        let git = clause(files.write(&stage.path("history/config"), b"x"));
        assert_eq!(git, Clause::Protected(stage.path(".git")));
        assert!(matches!(
            files.read(&stage.path("loop/x")),
            Err(FileError::TooManyLinks { .. })
        ));
        // Reading outside is permitted by this policy, and not by one that denies it.
        assert_eq!(
            files.read(&stage.path("winding/lib.rs")).unwrap().bytes,
            b"OUTSIDE\n"
        );
    }
    let closed = stage.files_without_outside();
    let refusal = refused(closed.read(&stage.path("winding/lib.rs")));
    assert!(matches!(refusal.clause(), Clause::DenyRead(_)));
    assert_eq!(tree(&stage.outside), before);
}

#[test]
fn a_link_at_the_end_is_never_written_through() {
    let stage = Stage::new();
    let link = stage.path("link");
    symlink("src/lib.rs", link.as_path()).unwrap();
    let files = stage.files();
    assert_eq!(files.read(&link).unwrap().bytes, b"inside\n");
    assert_eq!(files.metadata(&link).unwrap().kind, FileKind::Link);
    assert!(matches!(
        files.write(&link, b"x"),
        Err(FileError::LinkAtEnd { .. })
    ));
    assert!(matches!(
        files.create(&link, b"x", NewFile::Plain),
        Err(FileError::Exists { .. })
    ));
    files.rename(&link, &stage.path("renamed")).unwrap();
    files.remove(&stage.path("renamed")).unwrap();
    assert_eq!(
        std::fs::read(stage.workspace.join("src/lib.rs")).unwrap(),
        b"inside\n"
    );
}

#[test]
fn a_second_name_does_not_get_around_a_guard() {
    let stage = Stage::new();
    let files = stage.files();
    // A guarded file itself: found out.
    std::fs::hard_link(stage.home.join(".netrc"), stage.workspace.join("config")).unwrap();
    let refusal = refused(files.read(&stage.path("config")));
    assert!(
        matches!(refusal.clause(), Clause::Sensitive(_)),
        "{refusal}"
    );
    assert!(matches!(
        clause(files.write(&stage.path("config"), b"x")),
        Clause::Sensitive(_)
    ));
    // A file below a guarded directory: nobody can tell, and the number of names says that.
    std::fs::hard_link(stage.home.join(".ssh/id"), stage.workspace.join("id")).unwrap();
    assert_eq!(files.read(&stage.path("id")).unwrap().info.links, 2);
    // Writing is by replacement: the other name keeps its content.
    let _ = files.write(&stage.path("id"), b"mine").unwrap();
    assert_eq!(
        std::fs::read(stage.home.join(".ssh/id")).unwrap(),
        b"SECRET\n"
    );
    // A guard that is a link guards what it leads to.
    std::fs::create_dir(stage.workspace.join("cloud")).unwrap();
    std::fs::write(stage.workspace.join("cloud/credentials"), "SECRET\n").unwrap();
    symlink(stage.workspace.join("cloud"), stage.home.join(".aws")).unwrap();
    assert!(matches!(
        clause(files.read(&stage.path("cloud/credentials"))),
        Clause::Sensitive(_)
    ));
    assert!(matches!(
        clause(files.remove(&stage.path("cloud/credentials"))),
        Clause::Sensitive(_)
    ));
}

#[test]
fn a_mount_does_not_get_around_a_guard() {
    const INSIDE: &str = "PALISADE_TEST_MOUNTED";
    if let Some(top) = std::env::var_os(INSIDE) {
        let top = std::path::PathBuf::from(top);
        let root = WorkspaceRoot::new(top.join("app")).unwrap();
        let facts = HostFacts::new(Os::Linux).with_home(abs(&top.join("home")));
        let policy = CanonicalSandboxPolicy::workspace_write([root.clone()]);
        let files = GuardedFiles::new(policy.resolve(&PolicyContext::new(facts, root)).unwrap());
        let key = abs(&top.join("app/mounted/id"));
        assert!(matches!(clause(files.read(&key)), Clause::Sensitive(_)));
        assert!(matches!(
            clause(files.write(&key, b"x")),
            Clause::Sensitive(_)
        ));
        return;
    }
    let stage = Stage::new();
    std::fs::create_dir(stage.workspace.join("mounted")).unwrap();
    let script = r#"mount --bind "$1/home/.ssh" "$1/app/mounted" && exec "$2" --exact "$3""#;
    let run = std::process::Command::new("unshare")
        .args([
            "--mount",
            "--propagation",
            "private",
            "sh",
            "-c",
            script,
            "sh",
        ])
        .arg(&stage.top)
        .arg(std::env::current_exe().unwrap())
        .arg("links::a_mount_does_not_get_around_a_guard")
        .env(INSIDE, &stage.top)
        .output();
    match run {
        _ if !rustix::process::geteuid().is_root() => println!("skipped: only root mounts"),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(
                output.status.success() && text.contains("1 passed"),
                "{text}"
            );
        }
        Err(error) => println!("skipped: no unshare: {error}"),
    }
}

#[test]
fn a_root_behind_a_link_is_the_same_root() {
    let stage = Stage::new();
    // As on a host where `/home` is a link.
    symlink(&stage.top, stage.top.join("link")).unwrap();
    let through = |name: &str| abs(&stage.top.join("link").join(name));
    let root = WorkspaceRoot::new(stage.top.join("link/app")).unwrap();
    let facts = HostFacts::new(Os::Linux).with_home(through("home"));
    let policy = CanonicalSandboxPolicy::workspace_write([root.clone()]);
    let files = GuardedFiles::new(policy.resolve(&PolicyContext::new(facts, root)).unwrap());
    for path in [through("app/src/lib.rs"), stage.path("src/lib.rs")] {
        let _ = files.write(&path, b"new").unwrap();
    }
    for path in [through("app/.palisade"), stage.path(".palisade")] {
        assert!(matches!(
            clause(files.create_dir(&path)),
            Clause::Protected(_)
        ));
    }
    for path in [through("home/.ssh/id"), abs(&stage.home.join(".ssh/id"))] {
        assert!(matches!(clause(files.read(&path)), Clause::Sensitive(_)));
    }
    assert_eq!(
        clause(files.write(&through("outside/lib.rs"), b"x")),
        Clause::OutsideRoots
    );
}

#[test]
fn a_root_behind_a_link_that_a_command_can_change_opens_nothing() {
    let stage = Stage::new();
    // The second root is a link in the first: whoever writes there decides where it leads.
    symlink(&stage.outside, stage.workspace.join("second")).unwrap();
    let second = WorkspaceRoot::new(stage.workspace.join("second")).unwrap();
    let files = stage.under(&CanonicalSandboxPolicy::workspace_write([
        stage.root(),
        second,
    ]));
    assert_eq!(
        clause(files.write(&stage.path("second/lib.rs"), b"x")),
        Clause::OutsideRoots
    );
    assert_eq!(
        clause(files.write(&abs(&stage.outside.join("lib.rs")), b"x")),
        Clause::OutsideRoots
    );
}
