//! What the comparison with the oracle (`differential` in `crates/conformance`) has found, each as a case of its own.

use std::fs;
use std::os::unix::fs::symlink;

use palisade_linux_landlock::Tier;
use palisade_policy::{
    AbsolutePath, AcceptedLosses, Guarantee, Level, PathRules, PathSpec, RelativePath, Reopened,
};

use crate::support::{Stage, start};

/// A directory that hides everything but one reopened path was a private directory of the session's own user, who
/// could change its mode.
#[test]
fn a_mask_that_can_be_passed_cannot_be_opened_up() {
    let stage = Stage::new();
    let inner = stage.workspace.join("hidden/between/open");
    fs::create_dir_all(&inner).unwrap();
    fs::write(inner.join("file"), "seen").unwrap();
    fs::write(stage.workspace.join("hidden/secret"), "secret").unwrap();
    let rules = PathRules::default()
        .with_deny_read([PathSpec::parse("hidden").unwrap()])
        .with_reopened([Reopened::write(AbsolutePath::new(&inner).unwrap())]);
    let session = stage.session(&stage.workspace_write().with_paths(rules), Tier::Full);
    let output = stage.run(
        &session,
        "chmod 755 hidden && echo changed; ls hidden && echo listed; ls hidden/between && echo listed
         chmod 755 hidden/between && echo changed; chmod 700 /run && echo changed; cat hidden/secret
         touch hidden/new && echo made; cat hidden/between/open/file; echo x > hidden/between/open/new",
    );
    for wrong in ["changed\n", "listed\n", "made\n", "secret\n"] {
        assert!(!output.text.contains(wrong), "{}", output.text);
    }
    assert!(output.text.contains("seen"), "{}", output.text);
    assert!(inner.join("new").exists());
}

/// A link that leads to itself, above a protected path, kept every session from starting.
#[test]
fn a_circle_of_links_is_pinned_and_no_obstacle() {
    let stage = Stage::new();
    symlink("two", stage.workspace.join("one")).unwrap();
    symlink("one", stage.workspace.join("two")).unwrap();
    let rules =
        PathRules::default().with_protected([RelativePath::new("one/below/protected").unwrap()]);
    let policy = stage.workspace_write().with_paths(rules);
    let losses = AcceptedLosses::none().with(Guarantee::ProtectedPaths);
    let (_, plan, enforcement) = stage.lower_accepting(&policy, Tier::Full, &losses);
    assert_eq!(
        enforcement.level(Guarantee::ProtectedPaths),
        Level::DetectedOnly
    );
    let session = start(&plan).unwrap();
    let output = stage.run(
        &session,
        "rm one; rm two; mv one three; ln -sfn . one; mkdir -p one/below/protected; touch fine; ls",
    );
    assert!(stage.workspace.join("fine").exists(), "{}", output.text);
    for name in ["one", "two"] {
        assert!(
            fs::symlink_metadata(stage.workspace.join(name)).is_ok_and(|found| found.is_symlink()),
            "{}",
            output.text
        );
    }
    assert!(!stage.workspace.join("one/below").exists());
}
