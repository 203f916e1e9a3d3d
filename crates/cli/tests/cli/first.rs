//! The first thing that anybody tries.

use crate::support::House;

#[test]
fn a_command_runs_and_writes_the_project() {
    let house = House::new();
    let said = house.say(["run", "--", "sh", "-c", "echo hello; echo kept > note"]);
    assert_eq!((said.code, said.out.as_str()), (0, "hello\n"), "{said:?}");
    assert_eq!(house.read("note"), "kept\n");
}

#[test]
fn a_command_writes_nothing_else() {
    let house = House::new();
    let said = house.say(["run", "--", "touch", "../outside"]);
    assert_ne!(said.code, 0, "{said:?}");
    assert!(!house.home().join("outside").exists());
}
