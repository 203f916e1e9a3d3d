//! A command cannot free itself: what decides about commands stays as it was, whatever a sandbox is allowed to write, and
//! `palisade` in a sandbox loosens nothing.
//!
//! Each attack runs in the real sandbox, as the user; what came of it is looked at from outside.

mod inside;
mod linked;
mod opened;

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{House, Said};

/// What an attack writes.
const MINE: &str = "version = 1 # mine\n";

/// The attacks of most tests: each way to get a file of one's own to where the user's decide.
const ATTACK: &str = r#"
mine='version = 1 # mine'
try() {
    mkdir -p "$1"
    echo "$mine" > "$1/$2"
    echo "$mine" > "$1/.new"; mv -f "$1/.new" "$1/$2"
    ln -f "$1/$2" "$HOME/project/linked"; echo "$mine" > "$HOME/project/linked"
    ln -sfn "$HOME/project" "$1"
    chmod -R u+rwx "$1"; rm -rf "$1"; mkdir -p "$1"; echo "$mine" > "$1/$2"
    for parent in "$1" "$(dirname "$1")" "$(dirname "$(dirname "$1")")"; do
        test "$parent" = "$HOME" && break
        mv "$parent" "$parent.moved"
        mkdir -p "$1"; echo "$mine" > "$1/$2"
        ln -sfn "$HOME/project" "$parent"
    done
}
"#;

/// A house with everything that decides about commands: the user's policy, a project's, and kept approvals.
fn house() -> House {
    let house = House::new();
    house.write(".config/palisade/policy.toml", "version = 1\n");
    house.write("project/.palisade/policy.toml", "version = 1\n");
    keep(
        &house,
        ".local/state/palisade/approvals.toml",
        "version = 1\n",
    );
    keep(&house, ".local/state/palisade/trust.json", TRUST);
    keep(&house, ".local/state/palisade/grants.json", GRANTS);
    house
}

const TRUST: &str = "{\"version\":1,\"projects\":[]}\n";
const GRANTS: &str = "{\"version\":1,\"grants\":[]}\n";

/// Every file of [`house`] that decides, and what is in it.
const DECIDING: [(&str, &str); 5] = [
    (".config/palisade/policy.toml", "version = 1\n"),
    ("project/.palisade/policy.toml", "version = 1\n"),
    (".local/state/palisade/approvals.toml", "version = 1\n"),
    (".local/state/palisade/trust.json", TRUST),
    (".local/state/palisade/grants.json", GRANTS),
];

/// Writes a file of the user's state, which nobody else may read.
fn keep(house: &House, file: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    house.write(file, text);
    let directory = house.home().join(file);
    let directory = directory.parent().unwrap();
    fs::set_permissions(directory, fs::Permissions::from_mode(0o700)).unwrap();
}

/// The flags that make all of home writable, and the workspace then: beside the project, or instead of it.
fn whole_homes(house: &House) -> [(&'static str, PathBuf); 2] {
    [
        ("-w", house.project()),
        ("--workspace", house.home().to_owned()),
    ]
}

/// Attacks the directories and files of these pairs in a sandbox with these flags.
fn attack(house: &House, flags: &[&str], targets: &[(PathBuf, &str)]) -> Said {
    write_attack(house, targets);
    let mut arguments = vec!["--quiet", "run"];
    arguments.extend(flags);
    arguments.extend(["--", "sh", "attack.sh"]);
    house.say(arguments)
}

fn write_attack(house: &House, targets: &[(PathBuf, &str)]) {
    let mut script = String::from(ATTACK);
    for (directory, file) in targets {
        script.push_str(&format!("try '{}' '{file}'\n", directory.display()));
    }
    script.push_str("touch \"$HOME/project/ran\"\n");
    house.write("project/attack.sh", &script);
}

/// The usual places, for commands in the project.
fn usual(house: &House) -> Vec<(PathBuf, &'static str)> {
    places(house, &house.project())
}

/// The usual places where this is the workspace. The policies of projects below it say nothing in it, and nothing there
/// that nobody agreed to once more.
fn places(house: &House, workspace: &Path) -> Vec<(PathBuf, &'static str)> {
    vec![
        (house.home().join(".config/palisade"), "policy.toml"),
        (house.home().join(".local/state/palisade"), "approvals.toml"),
        (house.home().join(".local/state/palisade"), "trust.json"),
        (
            house.home().join(".local/state/palisade/audit"),
            "audit.jsonl",
        ),
        (workspace.join(".palisade"), "policy.toml"),
    ]
}

/// That nothing decides that the attack wrote: neither is it in a file of the usual places, nor is one of them a link.
#[track_caller]
fn nothing_is_mine(house: &House, said: &Said) {
    nothing_in_is_mine(house, &house.project(), said);
}

#[track_caller]
fn nothing_in_is_mine(house: &House, workspace: &Path, said: &Said) {
    for (directory, file) in places(house, workspace) {
        let text = fs::read_to_string(directory.join(file)).unwrap_or_default();
        assert!(!text.contains("mine"), "{}: {said:?}", directory.display());
        for path in directory
            .ancestors()
            .take_while(|path| *path != house.home())
        {
            let link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
            assert!(!link, "{} is a link: {said:?}", path.display());
        }
    }
}

/// That the files of [`house`] are as they were.
#[track_caller]
fn nothing_changed(house: &House, said: &Said) {
    nothing_in_changed(house, &house.project(), said);
}

#[track_caller]
fn nothing_in_changed(house: &House, workspace: &Path, said: &Said) {
    nothing_in_is_mine(house, workspace, said);
    let of_project = |file: &str| file.starts_with("project/") && workspace == house.home();
    for (file, text) in DECIDING {
        if of_project(file) {
            continue;
        }
        let there = fs::read_to_string(house.home().join(file)).unwrap_or_default();
        assert_eq!(there, text, "{file}: {said:?}");
    }
}

fn ran(house: &House) -> bool {
    house.project().join("ran").exists()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Why sandboxes cannot be tried here, if so.
fn unavailable(house: &House) -> bool {
    let said = house.say(["--quiet", "run", "--", "true"]);
    if said.code != 0 {
        eprintln!("skipped: no sandbox works here: {}", said.err);
    }
    said.code != 0
}
