//! What the survey sees of a real file system.

use palisade_policy::{AbsolutePath, CanonicalSandboxPolicy, PathRules, PathSpec, WorkspaceRoot};

use super::World;
use crate::host::{Entry, SecondNames};
use crate::survey::{SurveyOptions, locate, look, plain};

#[test]
fn places_are_where_they_really_are() {
    let world = World::new();
    let at = |below: &str| locate(&world.absolute(below)).unwrap();
    let directory = at(".git");
    assert_eq!(directory.entry, Entry::Directory);
    assert_eq!(directory.real, world.absolute(".git"));
    assert!(directory.has_acls && directory.may_change_acl);
    let file = at(r".git\config");
    assert_eq!(file.entry, Entry::File);
    let other_case = at(r".GIT\CONFIG");
    assert_eq!(other_case, file, "the file system says how it is spelled");
    let missing = at(r".GIT\not\there");
    assert_eq!(missing.entry, Entry::Missing);
    assert_eq!(missing.real, world.absolute(r".git\not\there"));
    assert!(!missing.may_change_acl);
    let below_file = at(r".git\config\below");
    assert_eq!(below_file.entry, Entry::Missing);
}

#[test]
fn a_drive_that_is_not_there_holds_nothing() {
    let letter = ('D'..='Y').find(|letter| !std::path::Path::new(&format!("{letter}:\\")).exists());
    let path = AbsolutePath::new(format!("{}:\\app", letter.unwrap())).unwrap();
    let located = locate(&path).unwrap();
    assert_eq!(located.entry, Entry::Missing);
    assert!(!located.has_acls);
}

#[test]
fn the_form_without_limits_is_the_same_place() {
    let world = World::new();
    let verbatim = std::fs::canonicalize(&world.root).unwrap();
    assert!(verbatim.to_str().unwrap().starts_with(r"\\?\"));
    assert_eq!(plain(&verbatim).unwrap().as_path(), world.root);
}

fn policy(world: &World, read_only: &[&str]) -> palisade_policy::ResolvedPolicy {
    let rules = PathRules::default()
        .with_read_only(read_only.iter().map(|spec| PathSpec::parse(spec).unwrap()));
    CanonicalSandboxPolicy::workspace_write([WorkspaceRoot::new(&world.root).unwrap()])
        .with_paths(rules)
        .resolve(&world.context())
        .unwrap()
}

#[test]
fn patterns_are_looked_for_in_the_roots_and_within_bounds() {
    let world = World::new();
    for name in ["a", "b", "A.Lock", "deep"] {
        std::fs::create_dir(world.root.join(name)).unwrap();
    }
    for name in [r"a\x.lock", r"b\Y.LOCK", r"deep\z.txt"] {
        std::fs::write(world.root.join(name), "x").unwrap();
    }
    let policy = policy(&world, &["**/*.lock"]);
    let host = look(&policy, &SurveyOptions::launch()).unwrap();
    let (_, matches) = host
        .matches
        .iter()
        .find(|(text, _)| text.contains("*.lock"))
        .unwrap();
    let mut found: Vec<_> = matches.found.clone();
    found.sort();
    let mut expected: Vec<_> = ["A.Lock", r"a\x.lock", r"b\Y.LOCK"]
        .map(|name| world.absolute(name))
        .into();
    expected.sort();
    assert_eq!(found, expected);
    assert!(!matches.truncated);
    for path in &expected {
        assert!(host.places.contains_key(path), "{path}");
    }
    let mut few = SurveyOptions::launch();
    few.max_matches = 1;
    let host = look(&policy, &few).unwrap();
    assert!(
        host.matches
            .values()
            .any(|matches| matches.truncated && matches.found.len() == 1)
    );
    few = SurveyOptions::launch();
    few.max_entries = 2;
    let host = look(&policy, &few).unwrap();
    assert!(host.matches.values().any(|matches| matches.truncated));
}

#[test]
fn second_names_are_found_if_somebody_looks() {
    let world = World::new();
    let policy = policy(&world, &[]);
    let seen = |options: &SurveyOptions| look(&policy, options).unwrap().second_names;
    assert_eq!(seen(&SurveyOptions::launch()), SecondNames::Unknown);
    assert_eq!(seen(&SurveyOptions::thorough()), SecondNames::None);
    let outside = world.root.with_file_name("outside");
    std::fs::write(&outside, "x").unwrap();
    std::fs::hard_link(&outside, world.root.join("inside")).unwrap();
    assert_eq!(
        seen(&SurveyOptions::thorough()),
        SecondNames::Found {
            count: 1,
            example: world.absolute("inside"),
        }
    );
}

#[test]
fn the_host_says_who_asks() {
    let world = World::new();
    let host = look(&policy(&world, &[]), &SurveyOptions::launch()).unwrap();
    assert_ne!(host.user, host.logon);
    assert!(host.logon.to_string().starts_with("S-1-5-5-"));
    assert!(!host.privileges.is_empty());
    assert!(host.null_dacls.is_empty(), "{:?}", host.null_dacls);
}
