//! Checked paths and path specs.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use palisade_policy::{
    AbsolutePath, HostFacts, Os, PathCase, PathProblem, PathSpec, RelativePath, WorkspaceRoot,
};
use proptest::prelude::*;

use crate::support::{abs, facts};

fn problem(path: &str) -> PathProblem {
    AbsolutePath::new(path).unwrap_err().problem().clone()
}

#[test]
fn absolute_paths_are_normalised_or_refused() {
    assert_eq!(abs("//a/./b///c/").to_string(), "/a/b/c");
    assert_eq!(abs("/").to_string(), "/");
    assert_eq!(problem(""), PathProblem::Empty);
    assert_eq!(problem("a/b"), PathProblem::Relative);
    assert_eq!(problem("~/a"), PathProblem::Relative);
    assert_eq!(problem("/a/../b"), PathProblem::Parent);
    assert_eq!(problem("/a/.."), PathProblem::Parent);
    assert_eq!(problem("/a\0b"), PathProblem::Nul);
    assert_eq!(abs("/a/..b/...").to_string(), "/a/..b/...");
}

#[test]
fn relative_paths_are_normalised_or_refused() {
    let relative = |path: &str| RelativePath::new(path);
    assert_eq!(relative("./a//b/").unwrap().to_string(), "a/b");
    for (path, expected) in [
        ("", PathProblem::Empty),
        (".", PathProblem::Empty),
        ("/a", PathProblem::Absolute),
        ("../a", PathProblem::Parent),
        ("a/../b", PathProblem::Parent),
        ("a\0", PathProblem::Nul),
    ] {
        assert_eq!(*relative(path).unwrap_err().problem(), expected, "{path:?}");
    }
}

#[test]
fn a_root_is_never_the_file_system_nor_the_home_nor_above_it() {
    let facts = facts();
    let root = |path: &str| WorkspaceRoot::for_host(path, &facts);
    assert_eq!(
        *root("//").unwrap_err().problem(),
        PathProblem::FileSystemRoot
    );
    for path in ["/home/dev", "/home/dev/", "/home"] {
        let error = root(path).unwrap_err();
        assert!(
            matches!(error.problem(), PathProblem::HoldsHome { home } if *home == abs("/home/dev"))
        );
    }
    assert!(root("/home/dev/src").is_ok());
    assert!(root("/home/developer").is_ok());
}

#[test]
fn a_home_is_recognised_whatever_its_case_where_case_does_not_count() {
    let macos = HostFacts::new(Os::Macos).with_home(abs("/Users/Dev"));
    assert_eq!(macos.case, PathCase::Insensitive);
    assert!(WorkspaceRoot::for_host("/users/dev", &macos).is_err());
    assert!(WorkspaceRoot::for_host("/users/dev", &macos.with_case(PathCase::Sensitive)).is_ok());
}

#[test]
fn errors_show_what_cannot_be_seen() {
    let error = AbsolutePath::new("/a\0\u{200b}b").unwrap_err().to_string();
    assert_eq!(error, "`/a\\0\\u{200b}b`: the path contains a NUL");
}

#[test]
fn paths_that_are_not_unicode_survive_serde() {
    let path = AbsolutePath::new(OsString::from_vec(b"/w\xff/a".to_vec())).unwrap();
    let json = serde_json::to_string(&path).unwrap();
    assert_eq!(json, r#"{"unix_bytes":"2f77ff2f61"}"#);
    assert_eq!(serde_json::from_str::<AbsolutePath>(&json).unwrap(), path);
    let spec = PathSpec::from(path);
    let json = serde_json::to_string(&spec).unwrap();
    assert_eq!(serde_json::from_str::<PathSpec>(&json).unwrap(), spec);
    for bad in [
        r#"{"unix_bytes":"2f7"}"#,
        r#"{"unix_bytes":"zz"}"#,
        r#"{"unix_bytes":"2f612f2e2e"}"#,
        r#"{"unix_bytes":"2f","more":"2f"}"#,
        r#"{"bytes":"2f"}"#,
        "{}",
        "7",
    ] {
        assert!(serde_json::from_str::<AbsolutePath>(bad).is_err(), "{bad}");
    }
}

#[test]
fn specs_say_where_they_are_anchored() {
    for text in [
        "/etc/shadow",
        "~",
        "~/.ssh",
        "vendor",
        "**/.env*",
        "~/.s*",
        "/etc/ssh_*",
        "a[*]b",
    ] {
        assert_eq!(PathSpec::parse(text).unwrap().to_string(), text);
    }
    assert_eq!(PathSpec::parse("./~x").unwrap().to_string(), "./~x");
    assert_eq!(
        PathSpec::parse("/a/[[]x").unwrap(),
        PathSpec::from(abs("/a/[x"))
    );
    for (text, expected) in [
        ("", "the path is empty"),
        ("~root/x", "only `~` and `~/` are expanded"),
        ("../x", "contains `..`"),
        ("~/../x", "contains `..`"),
        ("a/**b", "`**` must stand alone"),
        ("[a-z]", "character classes are not supported"),
        ("a\0", "contains a NUL"),
    ] {
        let error = PathSpec::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
}

proptest! {
    #[test]
    fn normalising_is_idempotent(text in "(/{1,2}(\\.{1,3}|[a-c*\\[]{1,2}|é)){0,5}/?") {
        if let Ok(path) = AbsolutePath::new(&text) {
            prop_assert_eq!(AbsolutePath::new(path.as_path()), Ok(path.clone()));
            prop_assert!(path.as_path().is_absolute());
            prop_assert!(!path.to_string().split('/').any(|name| name == ".."));
        }
    }

    #[test]
    fn specs_round_trip(text in "(~/|/|)([a-c*?\\[\\]~.]{1,3}/?){1,4}") {
        if let Ok(spec) = PathSpec::parse(&text) {
            prop_assert_eq!(PathSpec::parse(&spec.to_string()), Ok(spec.clone()));
            let json = serde_json::to_string(&spec).unwrap();
            prop_assert_eq!(serde_json::from_str::<PathSpec>(&json).unwrap(), spec);
        }
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = AbsolutePath::new(&text);
        let _ = RelativePath::new(&text);
        let _ = PathSpec::parse(&text);
    }
}
