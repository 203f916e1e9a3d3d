//! `policy init` and `policy show`.

use super::{policy, shown};
use crate::support::{House, Said};

#[test]
fn a_policy_to_start_from_holds_and_is_in_order() {
    for preset in ["read-only", "workspace", "ci", "open"] {
        for place in ["--project", "--user"] {
            let house = House::new();
            let said = policy(&house, &["init", "--preset", preset, place]);
            assert_eq!(said.code, 0, "{said:?}");
            let test = policy(&house, &["test", "--min-coverage", "100"]);
            assert_eq!(test.code, 0, "{test:?}");
            let lint = policy(&house, &["lint", "--strict"]);
            assert_eq!(lint.code, 0, "{lint:?}");
            // A preset that loosens is not in force before the project is trusted.
            let good =
                |line: &str| line == "nothing found" || line.starts_with("note not-in-force: ");
            assert!(lint.out.lines().all(good), "{lint:?}");
            let fmt = policy(&house, &["fmt", "--check"]);
            assert_eq!((fmt.code, fmt.out.as_str()), (0, ""), "{fmt:?}");
            let show = policy(&house, &["show"]);
            assert_eq!(show.code, 0, "{show:?}");
            let chosen = format!("preset     {preset}  [user ");
            assert_eq!(show.out.contains(&chosen), place == "--user", "{show:?}");
        }
    }
}

#[test]
fn what_is_there_is_not_written_over() {
    let house = House::new();
    let first = policy(&house, &["init"]);
    house.write("project/.palisade/policy.toml", "version = 1\n");
    let again = policy(&house, &["init"]);
    insta::assert_snapshot!([first, again].map(|said| shown(&house, &said)).join("\n"));
    assert_eq!(house.read(".palisade/policy.toml"), "version = 1\n");
    let forced = policy(&house, &["init", "--force", "--quiet"]);
    assert_eq!((forced.code, forced.err.as_str()), (0, ""), "{forced:?}");
    assert!(
        house
            .read(".palisade/policy.toml")
            .contains("migrations-ask")
    );
}

#[cfg(unix)]
#[test]
fn a_policy_is_never_put_where_none_would_be_read() {
    let house = House::new();
    std::os::unix::fs::symlink("..", house.project().join(".palisade")).unwrap();
    let said = policy(&house, &["init"]);
    assert_eq!(said.code, 126, "{said:?}");
    assert!(!house.home().join("policy.toml").exists());
}

#[test]
fn in_a_sandbox_nobody_begins_a_policy() {
    let house = House::new();
    let mut inside = house.palisade();
    inside.env("PALISADE_SANDBOX", "linux-landlock");
    let said = Said::of(inside.args(["policy", "init"]).output().unwrap());
    assert_eq!(said.code, 126, "{said:?}");
    assert!(!house.project().join(".palisade").exists());
}

#[test]
fn everything_in_force_is_shown_with_its_origin() {
    let house = House::new();
    house.write(
        ".config/palisade/policy.toml",
        "version = 1\npreset = \"ci\"\n[limits]\nmemory = \"1GiB\"\n",
    );
    house.write(
        "project/.palisade/policy.toml",
        "version = 1\n[filesystem]\ndeny = [\"**/.env\"]\nwrite = [\".\", \"/srv/other\"]\n",
    );
    let arguments = [
        "show",
        "--git",
        "commit",
        "--deny-read",
        "secret",
        "-w",
        "../more",
    ];
    insta::assert_snapshot!(shown(&house, &policy(&house, &arguments)));
    let all = policy(&house, &["show", "--all"]);
    assert!(all.out.contains("no-rm-system"), "{all:?}");
}

#[test]
fn the_same_for_programs() {
    let house = House::new();
    policy(&house, &["init", "--user"]);
    let said = policy(&house, &["show", "--json", "--mode", "read-only"]);
    let value: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(value["preset"], "read-only");
    assert_eq!(value["policy"]["type"], "read_only");
    assert_eq!(value["rules"][0]["id"], "migrations-ask");
    assert_eq!(value["rules"][0]["origin"]["line"], 16);
}
