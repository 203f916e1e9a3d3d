//! `palisade approvals`.

use std::os::unix::fs::PermissionsExt as _;

use super::plain;
use crate::support::House;

/// A house where two approvals and a grant are kept.
fn house() -> House {
    let house = House::new();
    let project = house.project();
    let project = project.to_str().unwrap();
    house.write(
        ".local/state/palisade/approvals.toml",
        &format!(
            "version = 1

[[approval]]
rule = \"registry\"
prefix = [\"cargo\", \"add\"]
project = \"{project}\"
date = 2026-03-01T12:00:00Z

[[approval]]
prefix = [\"npm\", \"run\", \"b\\u202eo\"]
date = 2026-03-01T12:00:00Z
expires = 2026-03-02T12:00:00Z
"
        ),
    );
    house.write(
        ".local/state/palisade/grants.json",
        &format!(
            "{{\"version\":1,\"grants\":[{{\"project\":\"{project}\",\"grant\":{{\"write\":\"/srv/cache\"}},\"date\":\"2026-03-01T12:00:00Z\"}}]}}"
        ),
    );
    for directory in [".local/state/palisade"] {
        let directory = house.home().join(directory);
        std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    house
}

/// The names of what is kept.
fn ids(house: &House) -> Vec<String> {
    let said = house.say(["approvals", "list", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let all: Vec<serde_json::Value> = serde_json::from_str(&said.out).unwrap();
    all.iter()
        .map(|one| one["id"].as_str().unwrap().to_owned())
        .collect()
}

/// A list in which names are numbered: they depend on the path of the project.
fn numbered(house: &House, text: &str) -> String {
    let mut text = plain(house, text);
    for (number, id) in ids(house).iter().enumerate() {
        text = text.replace(id, &format!("ID{number}"));
    }
    text
}

#[test]
fn all_of_it_is_listed_with_scope_and_dates() {
    let house = house();
    let said = house.say(["approvals", "list"]);
    assert_eq!(said.code, 0, "{said:?}");
    insta::assert_snapshot!("list", numbered(&house, &said.out));
    let said = house.say(["approvals", "list", "--json"]);
    insta::assert_snapshot!("list_json", numbered(&house, &said.out));
}

#[test]
fn each_can_be_revoked_by_its_name() {
    let house = house();
    let names = ids(&house);
    assert_eq!(names.len(), 3);
    for left in (0..3).rev() {
        let said = house.say(["approvals", "revoke", &names[left]]);
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(ids(&house), names[..left]);
    }
    let said = house.say(["approvals", "list"]);
    assert_eq!(said.out, "nothing is kept\n");
}

#[test]
fn an_unknown_name_changes_nothing() {
    let house = house();
    let names = ids(&house);
    let said = house.say(["approvals", "revoke", &names[0], "a0000000000"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("nothing changed"), "{said:?}");
    assert_eq!(ids(&house), names);
}

#[test]
fn all_of_them_can_be_revoked_at_once() {
    let house = house();
    let said = house.say(["approvals", "revoke", "--all"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(ids(&house).is_empty());
}

#[test]
fn a_file_that_is_not_understood_is_left_alone() {
    let house = house();
    let file = house.home().join(".local/state/palisade/approvals.toml");
    std::fs::write(&file, "version = 1\n[[approval]]\nnonsense = 1\n").unwrap();
    let said = house.say(["approvals", "revoke", "--all"]);
    assert_ne!(said.code, 0, "{said:?}");
    assert!(std::fs::read_to_string(file).unwrap().contains("nonsense"));
}
