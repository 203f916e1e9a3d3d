//! Environments, as they are built.

use super::*;

fn environment(pairs: &[(&str, &str)]) -> Environment {
    pairs
        .iter()
        .map(|(name, value)| (OsString::from(name), OsString::from(value)))
        .collect()
}

fn keep(names: &[&str]) -> Vec<NamePattern> {
    names
        .iter()
        .map(|name| NamePattern::parse(name).unwrap())
        .collect()
}

const MARKERS: Markers = Markers::new(SandboxType::LinuxLandlock, false);

/// The names that come through, without the marker.
fn names(policy: &EnvironmentPolicy, from: &[(&str, &str)]) -> Vec<String> {
    let built = policy.build(&environment(from), &MARKERS).unwrap();
    built
        .env
        .into_keys()
        .map(|name| name.into_string().unwrap())
        .filter(|name| name != MARKER)
        .collect()
}

const USUAL: &[(&str, &str)] = &[
    ("PATH", "/usr/bin"),
    ("HOME", "/home/dev"),
    ("LC_ALL", "C.UTF-8"),
    ("EDITOR", "vi"),
    ("GITHUB_TOKEN", "x"),
    ("LD_PRELOAD", "/home/dev/x.so"),
    ("SSH_AUTH_SOCK", "/run/agent"),
    ("BASH_FUNC_ls%%", "() { evil; }"),
    ("OLD_FUNCTION", "() { evil; }"),
    ("KEYBOARD", "de"),
    ("NOTES", "ghp_0123456789abcdefghijABCDEFGHIJ012345"),
    ("CACHE", "redis://user:hunter2@cache/0"),
];

#[test]
fn each_mode_inherits_what_it_says() {
    let with = |inherit| EnvironmentPolicy::default().with_inherit(inherit);
    assert!(names(&with(Inherit::None), USUAL).is_empty());
    assert_eq!(
        names(&with(Inherit::Core), USUAL),
        ["HOME", "LC_ALL", "PATH"]
    );
    assert_eq!(
        names(&with(Inherit::All), USUAL),
        ["EDITOR", "HOME", "KEYBOARD", "LC_ALL", "PATH"]
    );
    assert!(names(&EnvironmentPolicy::empty(), USUAL).is_empty());
}

#[test]
fn what_is_left_out_is_named_with_its_reason() {
    let policy = EnvironmentPolicy::default()
        .with_inherit(Inherit::All)
        .with_exclude(keep(&["EDIT*"]));
    let built = policy.build(&environment(USUAL), &MARKERS).unwrap();
    let excluded: Vec<_> = built.excluded.iter().map(ToString::to_string).collect();
    assert_eq!(
        excluded,
        [
            "BASH_FUNC_ls%%: it is an exported shell function",
            "CACHE: its value looks like a secret",
            "EDITOR: the policy excludes EDIT*",
            "GITHUB_TOKEN: its name is that of a secret (*TOKEN*)",
            "LD_PRELOAD: it makes programs load code (LD_*)",
            "NOTES: its value looks like a secret",
            "OLD_FUNCTION: it is an exported shell function",
            "SSH_AUTH_SOCK: it leads to a service outside the sandbox (SSH_AUTH_SOCK)",
        ]
    );
    let said = format!("{:?}", built.excluded);
    assert!(
        !said.contains("hunter2") && !said.contains("ghp_"),
        "{said}"
    );
}

#[test]
fn a_star_does_not_name_a_secret_and_a_name_does() {
    let starred = EnvironmentPolicy::default().with_keep(keep(&["GITHUB_*", "*"]));
    assert!(!names(&starred, USUAL).contains(&"GITHUB_TOKEN".to_owned()));
    let named = EnvironmentPolicy::default()
        .with_inherit(Inherit::None)
        .with_keep(keep(&[
            "GITHUB_TOKEN",
            "LD_PRELOAD",
            "NOTES",
            "BASH_FUNC_ls%%",
        ]));
    assert_eq!(
        names(&named, USUAL),
        ["GITHUB_TOKEN", "LD_PRELOAD", "NOTES"]
    );
    let excluded = named.with_exclude(keep(&["GITHUB_*"]));
    assert_eq!(names(&excluded, USUAL), ["LD_PRELOAD", "NOTES"]);
    let set = EnvironmentPolicy::empty().with_set("GITHUB_TOKEN", "mine");
    assert_eq!(names(&set, USUAL), ["GITHUB_TOKEN"]);
}

#[test]
fn markers_are_last_and_say_what_holds() {
    let from = environment(&[(MARKER, "none"), (NETWORK_MARKER, "0")]);
    let policy = EnvironmentPolicy::default()
        .with_inherit(Inherit::All)
        .with_keep(keep(&[MARKER, NETWORK_MARKER]))
        .with_set(MARKER, "forged")
        .with_set(NETWORK_MARKER, "0");
    let built = policy.build(&from, &MARKERS).unwrap();
    assert_eq!(built.env, environment(&[(MARKER, "landlock")]));
    let off = CanonicalSandboxPolicy::read_only();
    let built = policy
        .build(
            &from,
            &Markers::for_policy(SandboxType::MacosSeatbelt, &off),
        )
        .unwrap();
    assert_eq!(
        built.env,
        environment(&[(MARKER, "seatbelt"), (NETWORK_MARKER, "1")])
    );
    let open = CanonicalSandboxPolicy::read_only_with_full_network();
    assert!(!Markers::for_policy(SandboxType::None, &open).network_disabled);
}

#[test]
fn names_that_no_process_can_have_are_errors_where_somebody_chose_them() {
    for (name, value, problem) in [
        ("", "x", "its name is empty"),
        ("A=B", "x", "its name holds `=`"),
        ("A\0", "x", "its name holds a NUL"),
        ("A", "x\0", "its value holds a NUL"),
    ] {
        let policy = EnvironmentPolicy::empty().with_set(name, value);
        let error = policy.build(&Environment::new(), &MARKERS).unwrap_err();
        assert_eq!(error.problem, problem);
        let inherited = EnvironmentPolicy::default()
            .with_inherit(Inherit::All)
            .build(&environment(&[(name, value)]), &MARKERS)
            .unwrap();
        assert_eq!(inherited.excluded[0].why, Why::Malformed);
        assert_eq!(inherited.env.len(), 1);
    }
}

#[cfg(unix)]
#[test]
fn bytes_that_are_not_unicode_survive() {
    use std::os::unix::ffi::OsStringExt as _;
    let raw = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let from: Environment = [(raw(b"N\xff"), raw(b"v\xfe"))].into();
    let policy = EnvironmentPolicy::default().with_inherit(Inherit::All);
    let built = policy.build(&from, &MARKERS).unwrap();
    assert_eq!(built.env.get(&raw(b"N\xff")), Some(&raw(b"v\xfe")));

    let policy = EnvironmentPolicy::default().with_set("A", raw(b"v\xfe"));
    let json = serde_json::to_string(&policy).unwrap();
    assert_eq!(
        json,
        r#"{"inherit":"core","keep":[],"exclude":[],"set":{"A":{"unix_bytes":"76fe"}}}"#
    );
    assert_eq!(
        serde_json::from_str::<EnvironmentPolicy>(&json).unwrap(),
        policy
    );
}

#[test]
fn the_form_of_files_is_checked() {
    let read = |json: &str| serde_json::from_str::<EnvironmentPolicy>(json);
    let policy = read(r#"{"inherit":"all","keep":["CARGO_*"],"set":{"A":"b"}}"#).unwrap();
    assert_eq!(policy.inherit, Inherit::All);
    assert_eq!(policy.set, environment(&[("A", "b")]));
    assert_eq!(read("{}").unwrap(), EnvironmentPolicy::default());
    for bad in [
        r#"{"inherit":"most"}"#,
        r#"{"keep":["A=B"]}"#,
        r#"{"exclude":["*A"]}"#,
        r#"{"kept":[]}"#,
        r#"{"set":{"A":{"unix_bytes":"7"}}}"#,
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
}
