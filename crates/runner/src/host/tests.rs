//! A host from parts, and the real one.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use palisade_policy::{
    AbsolutePath, Access, CanonicalSandboxPolicy, PathRules, PathSpec, PolicyContext,
    SensitivePath, WorkspaceRoot,
};

use super::*;

fn parts(environment: &[(&str, &Path)]) -> HostParts {
    let pair = |(name, value): &(&str, &Path)| (OsString::from(name), OsString::from(value));
    HostParts::default()
        .with_uid(rustix::process::geteuid().as_raw())
        .with_environment(environment.iter().map(pair).collect())
}

fn absolute(path: impl AsRef<Path>) -> AbsolutePath {
    AbsolutePath::new(path.as_ref().canonicalize().unwrap()).unwrap()
}

#[test]
fn directories_follow_home_and_the_variables_that_are_absolute() {
    let stage = tempfile::tempdir().unwrap();
    let home = stage.path();
    let host = Host::from_parts(parts(&[
        ("HOME", home),
        ("XDG_STATE_HOME", Path::new("relative")),
        ("XDG_CONFIG_HOME", Path::new("/srv/config")),
        ("TMPDIR", Path::new("tmp")),
    ]));
    assert_eq!(host.facts.home, Some(absolute(home)));
    assert_eq!(host.facts.tmpdir, None, "a relative one means nothing");
    let real = absolute(home);
    assert_eq!(
        host.state_dir,
        Some(real.as_path().join(".local/state/palisade"))
    );
    assert_eq!(host.config_dir, Some(PathBuf::from("/srv/config/palisade")));
    assert_eq!(
        host.runtime_dir,
        Some(real.as_path().join(".local/state/palisade/run"))
    );
    assert_eq!(host.other_home, None);
}

#[test]
fn a_runtime_directory_that_others_can_enter_is_not_used() {
    let stage = tempfile::tempdir().unwrap();
    let runtime = stage.path().join("runtime");
    fs::create_dir(&runtime).unwrap();
    let variables = [
        ("HOME", stage.path()),
        ("XDG_RUNTIME_DIR", runtime.as_path()),
    ];
    for (mode, used) in [(0o700, true), (0o755, false)] {
        fs::set_permissions(&runtime, fs::Permissions::from_mode(mode)).unwrap();
        let host = Host::from_parts(parts(&variables));
        assert_eq!(
            host.runtime_dir == Some(runtime.join("palisade")),
            used,
            "{mode:o}"
        );
    }
    let somebody = parts(&variables).with_uid(4_000_000_001);
    fs::set_permissions(&runtime, fs::Permissions::from_mode(0o700)).unwrap();
    let host = Host::from_parts(somebody);
    assert_ne!(
        host.runtime_dir,
        Some(runtime.join("palisade")),
        "it is somebody else's"
    );
}

#[test]
fn links_are_resolved_and_two_names_of_one_home_are_one_home() {
    let stage = tempfile::tempdir().unwrap();
    let (real, link) = (stage.path().join("real"), stage.path().join("link"));
    fs::create_dir(&real).unwrap();
    symlink(&real, &link).unwrap();
    let host = Host::from_parts(parts(&[("HOME", &link)]).with_database_home(&real));
    assert_eq!(host.facts.home, Some(absolute(&real)));
    assert_eq!(host.other_home, None);
}

#[test]
fn without_home_the_database_says_where_it_is() {
    let stage = tempfile::tempdir().unwrap();
    for environment in [
        vec![],
        vec![("HOME", Path::new(""))],
        vec![("HOME", Path::new("x"))],
    ] {
        let host = Host::from_parts(parts(&environment).with_database_home(stage.path()));
        assert_eq!(host.facts.home, Some(absolute(stage.path())));
        assert_eq!(host.other_home, None);
    }
    let nothing = Host::from_parts(parts(&[]));
    assert_eq!((nothing.facts.home, nothing.state_dir), (None, None));
}

#[test]
fn the_usual_places_are_guarded_also_where_a_variable_leads_elsewhere() {
    let stage = tempfile::tempdir().unwrap();
    let home = std::fs::canonicalize(stage.path()).unwrap();
    let usual = Host::from_parts(parts(&[("HOME", &home)]));
    assert!(usual.guarded.is_empty(), "they are its own places");
    let variables = [
        ("HOME", home.as_path()),
        ("XDG_STATE_HOME", Path::new("/srv/state")),
    ];
    let elsewhere = Host::from_parts(parts(&variables));
    assert_eq!(elsewhere.guarded, [home.join(".local/state/palisade")]);
}

#[test]
fn secrets_of_both_homes_are_guarded() {
    let stage = tempfile::tempdir().unwrap();
    // A name in which a pattern would mean something.
    let (home, other) = (stage.path().join("home"), stage.path().join("o[t]her*"));
    for home in [&home, &other] {
        fs::create_dir_all(home.join(".ssh")).unwrap();
    }
    let host = Host::from_parts(parts(&[("HOME", &home)]).with_database_home(&other));
    assert_eq!(host.other_home, Some(absolute(&other)));

    let root = WorkspaceRoot::new("/srv/app").unwrap();
    let own = PathRules::default()
        .with_deny_read([PathSpec::parse("~/keys/*.pem").unwrap()])
        .with_read_only([PathSpec::parse("~/notes").unwrap()]);
    let policy = CanonicalSandboxPolicy::workspace_write([root.clone()]).with_paths(own);
    let guarded = host.guard_other_home(policy.clone());
    assert_eq!(host.guard_other_home(guarded.clone()), guarded);
    let context = PolicyContext::new(host.facts.clone(), root.clone());
    let reads = |policy: &CanonicalSandboxPolicy, path: PathBuf| {
        let resolved = policy.resolve(&context).unwrap();
        let path = AbsolutePath::new(path).unwrap();
        resolved.permits(&Access::Read(path)).is_allowed()
    };
    let (home, other) = (absolute(&home), absolute(&other));
    for below in [".ssh/id_ed25519", ".aws", ".netrc", "keys/a.pem"] {
        assert!(!reads(&policy, home.as_path().join(below)), "{below}");
        assert!(
            reads(&policy, other.as_path().join(below)),
            "{below}: or there is nothing to add"
        );
        assert!(!reads(&guarded, home.as_path().join(below)), "{below}");
        assert!(!reads(&guarded, other.as_path().join(below)), "{below}");
    }
    assert!(reads(&guarded, other.as_path().join("src")));

    let open = CanonicalSandboxPolicy::workspace_write_no_sensitive_blocking([root]);
    assert!(
        reads(&host.guard_other_home(open), other.as_path().join(".ssh")),
        "nobody wants it"
    );
    let nothing = CanonicalSandboxPolicy::full_access();
    assert_eq!(host.guard_other_home(nothing.clone()), nothing);
    assert!(SensitivePath::defaults(&host.facts).len() > 17);
}

#[test]
fn a_home_that_is_not_unicode_is_guarded_too() {
    use std::os::unix::ffi::OsStringExt as _;
    let stage = tempfile::tempdir().unwrap();
    let home = stage.path().join("home");
    let other = stage.path().join(OsString::from_vec(b"\xffther".to_vec()));
    fs::create_dir(&home).unwrap();
    fs::create_dir(&other).unwrap();
    let host = Host::from_parts(parts(&[("HOME", &home)]).with_database_home(&other));
    let globs = PathRules::default().with_deny_read([PathSpec::parse("~/keys/*.pem").unwrap()]);
    let policy = CanonicalSandboxPolicy::read_only().with_paths(globs);
    let root = WorkspaceRoot::new("/srv/app").unwrap();
    let resolved = host
        .guard_other_home(policy)
        .resolve(&PolicyContext::new(host.facts.clone(), root))
        .unwrap();
    for below in [".ssh/id", "keys/a.pem"] {
        let path = absolute(&other).as_path().join(below);
        let read = Access::Read(AbsolutePath::new(path).unwrap());
        assert!(!resolved.permits(&read).is_allowed(), "{below}");
    }
}

#[test]
fn only_a_git_that_nobody_can_change_is_taken() {
    let stage = tempfile::tempdir().unwrap();
    let planted = stage.path().join("git");
    fs::write(&planted, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&planted, fs::Permissions::from_mode(0o777)).unwrap();
    let path = format!("relative:{}:/usr/bin:/bin", stage.path().display());
    let host = Host::from_parts(parts(&[("PATH", Path::new(&path))]));
    match host.git {
        Some(git) => assert!(
            git.is_absolute() && !git.starts_with(stage.path()),
            "{git:?}"
        ),
        None => assert!(!Path::new("/usr/bin/git").exists()),
    }
}

#[test]
fn the_helper_beside_the_program_is_found_and_another_can_be_set() {
    let stage = tempfile::tempdir().unwrap();
    let (program, helper) = (
        stage.path().join("agent"),
        stage.path().join("palisade-linux-sandbox"),
    );
    let host = || Host::from_parts(parts(&[]).with_current_program(&program));
    assert_eq!(host().helper, None);
    fs::write(&helper, "").unwrap();
    assert_eq!(host().helper, None, "it cannot be run");
    fs::set_permissions(&helper, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(host().helper, Some(helper));
    assert_eq!(
        host().with_current_program_as_helper().helper,
        Some(program.clone())
    );
    assert_eq!(
        host().with_helper("/opt/helper").helper,
        Some(PathBuf::from("/opt/helper"))
    );
}

#[test]
fn the_real_host_is_seen() {
    let host = Host::look();
    assert_eq!(host.facts.uid, Some(rustix::process::geteuid().as_raw()));
    assert_eq!(
        host.environment.get(&OsString::from("PATH")),
        std::env::var_os("PATH").as_ref()
    );
    assert!(host.current_program.is_some());
    if let Some(home) = std::env::var_os("HOME").map(PathBuf::from)
        && home.is_absolute()
    {
        assert!(host.facts.home.is_some());
        assert!(
            host.state_dir.is_some() && host.config_dir.is_some() && host.runtime_dir.is_some()
        );
    }
    assert!(host.git.is_none_or(|git| git.is_absolute()));
}
