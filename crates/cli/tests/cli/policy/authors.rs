//! `policy test`, `lint`, `fmt`, `diff`, `matrix`, `schema`.

use std::io::Write as _;
use std::process::Stdio;

use super::{policy, shown};
use crate::support::{House, Said};

const RULE: &str = "\
version = 1

[[rule]]
id = \"notes\"
prefix = [\"just\", \"notes\"]
decision = \"prompt\"
why = \"Writes to a shared place\"
match = [\"just notes\"]
";

#[test]
fn an_example_that_does_not_hold_fails() {
    let house = House::new();
    house.write("project/good.toml", RULE);
    let bad = RULE.replace("match = [\"just", "match = [\"just test\", \"just");
    let case = "\n[[case]]\nrun = \"just notes\"\nexpect = \"allow\"\n";
    house.write("project/bad.toml", &format!("{bad}{case}"));
    let good = policy(&house, &["test", "good.toml"]);
    let bad = policy(&house, &["test", "bad.toml"]);
    insta::assert_snapshot!([good, bad].map(|said| shown(&house, &said)).join("\n"));
}

#[test]
fn rules_that_nothing_exercises_are_named() {
    let house = House::new();
    let silent = RULE.replace("match = [\"just notes\"]\n", "");
    house.write("project/silent.toml", &silent);
    let said = policy(&house, &["test", "silent.toml", "--min-coverage", "100"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("notes"), "{said:?}");
    assert_eq!(policy(&house, &["test", "silent.toml"]).code, 0);
}

#[test]
fn what_is_in_force_is_tested_unless_a_file_is_named() {
    let house = House::new();
    let said = policy(&house, &["test"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.err.contains("there is no policy file here"),
        "{said:?}"
    );
    house.write(
        ".config/palisade/policy.toml",
        &RULE.replace("just notes\"]", "just x\"]"),
    );
    let said = policy(&house, &["test"]);
    assert_eq!(said.code, 1, "{said:?}");
    // Nothing runs under such a policy, and who runs something is told what to type.
    let run = house.say(["run", "--", "true"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains("`palisade policy test`"), "{run:?}");
}

#[test]
fn findings_come_with_their_place() {
    let house = House::new();
    let wide = "\n[[rule]]\nid = \"shell\"\nprefix = [\"bash\"]\ndecision = \"allow\"\n";
    house.write("project/wide.toml", &format!("{RULE}{wide}"));
    let said = policy(&house, &["lint", "wide.toml"]);
    insta::assert_snapshot!(shown(&house, &said));
}

#[test]
fn a_malformed_file_is_shown_with_line_and_column() {
    let house = House::new();
    house.write(
        "project/.palisade/policy.toml",
        "version = 1\npreset = \"worksapce\"\n\n[[rule]]\nid = \"x\"\nprefix = 5\ndecison = \"allow\"\n",
    );
    house.write("project/syntax.toml", "version = 1\n[[rule]\n");
    let force = policy(&house, &["show"]);
    let run = house.say(["run", "--", "true"]);
    assert_eq!((run.code, &run.err), (force.code, &force.err));
    let syntax = policy(&house, &["lint", "syntax.toml"]);
    let missing = policy(&house, &["test", "none.toml"]);
    insta::assert_snapshot!(
        [force, syntax, missing]
            .map(|said| shown(&house, &said))
            .join("\n")
    );
}

#[test]
fn includes_are_read_and_files_need_nobodys_leave() {
    let house = House::new();
    house.write("project/rules/notes.toml", RULE);
    house.write(
        "project/top.toml",
        "version = 1\ninclude = [\"rules/*.toml\"]\n",
    );
    let said = policy(&house, &["test", "top.toml"]);
    assert!(said.out.contains("1 of 1 rules are exercised"), "{said:?}");
    // A file that anybody can write decides nothing, but can be looked at.
    for file in ["project/top.toml", ".config/palisade/policy.toml"] {
        house.write(file, "version = 1\n");
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        std::fs::set_permissions(house.home().join(file), open).unwrap();
    }
    assert_eq!(policy(&house, &["lint", "top.toml"]).code, 0);
    let force = policy(&house, &["lint"]);
    assert_eq!(force.code, 2, "{force:?}");
    assert!(force.err.contains("chmod go-w"), "{force:?}");
}

#[test]
fn a_floor_is_understood_in_the_systems_layer() {
    let house = House::new();
    house.write(
        "project/floor.toml",
        "version = 1\n[floor]\nno-network = true\n",
    );
    assert_eq!(policy(&house, &["lint", "floor.toml"]).code, 2);
    let system = policy(&house, &["lint", "floor.toml", "--layer", "system"]);
    assert_eq!(system.code, 0, "{system:?}");
}

#[test]
fn files_are_put_in_order_and_keep_their_comments() {
    let house = House::new();
    let text = "preset='ci'\nversion=1 # one\n";
    house.write("project/x.toml", text);
    let check = policy(&house, &["fmt", "--check", "x.toml"]);
    assert_eq!(
        (check.code, check.out.as_str()),
        (1, "x.toml\n"),
        "{check:?}"
    );
    assert_eq!(house.read("x.toml"), text);
    let fmt = policy(&house, &["fmt", "x.toml"]);
    assert_eq!((fmt.code, fmt.out.as_str()), (0, "x.toml\n"), "{fmt:?}");
    let ordered = house.read("x.toml");
    assert_eq!(ordered, "version = 1 # one\npreset = 'ci'\n");
    assert_eq!(policy(&house, &["fmt", "--check", "x.toml"]).code, 0);
    assert_eq!(fed(&house, &["fmt", "-"], text).out, ordered);
}

#[test]
fn what_b_newly_allows_is_said_and_can_be_denied() {
    let house = House::new();
    house.write("project/a.toml", RULE);
    let loose = RULE.replace("\"prompt\"", "\"allow\"");
    house.write(
        "project/b.toml",
        &format!("{loose}\n[network]\naccess = \"full\"\n"),
    );
    let diff = policy(&house, &["diff", "a.toml", "b.toml"]);
    let denied = policy(&house, &["diff", "a.toml", "b.toml", "--deny-loosening"]);
    let back = policy(&house, &["diff", "b.toml", "a.toml", "--deny-loosening"]);
    insta::assert_snapshot!(
        [diff, denied, back]
            .map(|said| shown(&house, &said))
            .join("\n")
    );
}

#[test]
fn tables_are_those_of_the_book() {
    let house = House::new();
    let matrix = policy(&house, &["matrix"]);
    assert_eq!(matrix.out, book("decision-matrix.md"));
    let schema = policy(&house, &["schema"]);
    assert_eq!(schema.out, book("policy.schema.json"));
    let list = "# a list\nls\n\ngit push -f\n";
    insta::assert_snapshot!(fed(&house, &["matrix", "--commands", "-"], list).out);
}

fn book(page: &str) -> String {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    std::fs::read_to_string(format!("{docs}/{page}")).unwrap()
}

/// The program with something to read.
fn fed(house: &House, arguments: &[&str], text: &str) -> Said {
    let mut command = house.palisade();
    let command = command.arg("policy").args(arguments);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    Said::of(child.wait_with_output().unwrap())
}
