//! What a session changed is changed back: by itself, by the next start, and never while somebody needs it.
//!
//! Wine takes changes of access lists and keeps nothing of a capability, so that here the journal is looked at, and the lists
//! as far as they say anything; on a real Windows the same tests look at the entries themselves.

use std::process::Command;

use super::{World, everything};
use crate::acl::Acl;
use crate::apply::StateError;
use crate::apply::book::Book;
use crate::apply::error::StartError;
use crate::apply::start::Prepared;
use crate::apply::state::StateDirectory;
use crate::journal::{EditId, Record, SessionId};
use crate::plan::Purpose;
use crate::sys::for_tests::is_wine;
use crate::sys::tests::PATIENCE;
use crate::sys::token::Token;

/// Set in the environment of a process that plays the one that dies.
const DIES: &str = "PALISADE_TEST_DIES";
/// The test that such a process is asked for.
const DYING: &str = "apply::tests::journal::the_next_start_repairs_what_a_crash_left";

fn state(world: &World) -> StateDirectory {
    let user = Token::own().unwrap().user().unwrap();
    StateDirectory::open(&world.state, &user, PATIENCE).unwrap()
}

#[test]
fn a_session_leaves_nothing_behind() {
    let world = World::new();
    let before = (world.list(""), world.list(".git"));
    let prepared = world.prepare().unwrap();
    assert_eq!(world.tmp_count(), 1);
    let journal = world.journal();
    assert!(
        journal.contains("session-began") && journal.contains("edit-done"),
        "{journal}"
    );
    let edited = prepared.plan.acl_edits.iter();
    let purposes: Vec<Purpose> = edited.map(|edit| edit.purpose).collect();
    for purpose in [Purpose::Protected, Purpose::WritableRoot, Purpose::Private] {
        assert!(purposes.contains(&purpose), "{purposes:?}");
    }
    if !is_wine() {
        let list = Acl::from_bytes(&world.list("")).unwrap();
        let root = world.absolute("");
        assert!(list.mentions(&prepared.host.capabilities[&root]));
    }
    drop(prepared);
    assert_eq!(world.journal(), "");
    assert_eq!(world.tmp_count(), 0);
    assert_eq!((world.list(""), world.list(".git")), before);
}

#[test]
fn every_edit_is_announced_before_it_is_made() {
    let world = World::new();
    let prepared = world.prepare().unwrap();
    let journal = world.journal();
    let records: Vec<&str> = journal
        .lines()
        .filter_map(|line| line.split("\"record\":\"").nth(1)?.split('"').next())
        .collect();
    let edits = prepared.plan.acl_edits.len();
    assert_eq!(records.first(), Some(&"session-began"));
    assert_eq!(records.len(), 1 + 2 * edits, "{records:?}");
    for pair in records[1..].chunks(2) {
        assert_eq!(pair, ["edit-intended", "edit-done"]);
    }
}

/// In the process that [`crash`] starts, this is where it dies in the middle of a session; elsewhere it does nothing.
fn die_if_told() {
    let Some(told) = std::env::var_os(DIES) else {
        return;
    };
    let told = told.into_string().unwrap();
    let (how, root) = told.split_once('|').unwrap();
    let root = std::path::PathBuf::from(root);
    let world = World {
        _directory: tempfile::tempdir().unwrap(),
        state: root.with_file_name("state"),
        root,
    };
    match how {
        "after-all-edits" => {
            let prepared = world.prepare().unwrap();
            std::mem::forget(prepared);
        }
        "before-the-edit" => {
            // Announced, and nothing was made of it.
            let prepared = world.prepare().unwrap();
            let edit = prepared.plan.acl_edits.first().unwrap().clone();
            let session = SessionId(0xDEAD);
            drop(prepared);
            let mut book = Book::open(&state(&world)).unwrap();
            book.begin(session).unwrap();
            book.write(&Record::EditIntended {
                session,
                edit: EditId(0),
                object: crate::journal::Object::new(edit.path),
                add: edit.add,
                share: Vec::new(),
            })
            .unwrap();
            std::mem::forget(book);
        }
        other => panic!("nobody dies {other}"),
    }
    // No destructor runs, as when somebody ends the process.
    #[expect(clippy::exit, reason = "this is the death")]
    std::process::exit(42);
}

/// Lets another process die in the middle of a session on this world.
fn crash(world: &World, how: &str) {
    let died = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", DYING])
        .env(DIES, format!("{how}|{}", world.root.display()))
        .output()
        .unwrap();
    assert_eq!(died.status.code(), Some(42), "{died:?}");
}

#[test]
fn the_next_start_repairs_what_a_crash_left() {
    die_if_told();
    let world = World::new();
    let before = (world.list(""), world.list(".git"));
    crash(&world, "after-all-edits");
    assert!(world.journal().contains("edit-done"));
    assert_eq!(world.tmp_count(), 1, "what the dead one had");
    if !is_wine() {
        assert_ne!((world.list(""), world.list(".git")), before);
    }
    let prepared = world.prepare().unwrap();
    let journal = world.journal();
    assert_eq!(journal.matches("session-began").count(), 1, "{journal}");
    assert_eq!(world.tmp_count(), 1, "its own");
    assert!(
        prepared
            .enforcement
            .notes()
            .iter()
            .all(|note| !note.contains("earlier session"))
    );
    drop(prepared);
    assert_eq!(world.journal(), "");
    assert_eq!((world.list(""), world.list(".git")), before);
}

#[test]
fn an_edit_that_was_only_announced_is_repaired_as_well() {
    let world = World::new();
    let before = world.list(".git");
    crash(&world, "before-the-edit");
    assert!(world.journal().contains("edit-intended"));
    drop(world.prepare().unwrap());
    assert_eq!(world.journal(), "");
    assert_eq!(world.list(".git"), before);
}

#[test]
fn several_crashes_are_repaired_at_once() {
    let world = World::new();
    let before = (world.list(""), world.list(".git"));
    crash(&world, "after-all-edits");
    // A start repairs, so the second one dies with a journal of its own only.
    crash(&world, "after-all-edits");
    crash(&world, "before-the-edit");
    drop(world.prepare().unwrap());
    assert_eq!(world.journal(), "");
    assert_eq!(world.tmp_count(), 0);
    assert_eq!((world.list(""), world.list(".git")), before);
}

#[test]
fn a_session_that_lives_is_not_repaired() {
    let world = World::new();
    let living = world.prepare().unwrap();
    let lines = world.journal();
    crash(&world, "after-all-edits");
    let other = world.prepare().unwrap();
    let journal = world.journal();
    assert!(
        journal.starts_with(&lines),
        "nothing of the living one was touched"
    );
    assert_eq!(journal.matches("session-ended").count(), 1, "{journal}");
    assert_eq!(world.tmp_count(), 2);
    if !is_wine() {
        let capability = &living.host.capabilities[&world.absolute("")];
        drop(other);
        assert!(
            Acl::from_bytes(&world.list(""))
                .unwrap()
                .mentions(capability)
        );
    }
    drop(living);
}

#[test]
fn the_last_of_two_sessions_removes_what_they_share() {
    let world = World::new();
    let before = (world.list(""), world.list(".git"));
    let (one, two) = (world.prepare().unwrap(), world.prepare().unwrap());
    let root = world.absolute("");
    assert_eq!(one.host.capabilities[&root], two.host.capabilities[&root]);
    drop(one);
    let journal = world.journal();
    assert_eq!(journal.matches("session-ended").count(), 1);
    drop(two);
    assert_eq!(world.journal(), "");
    assert_eq!((world.list(""), world.list(".git")), before);
}

#[test]
fn a_line_that_was_torn_is_cut_off_and_a_damaged_one_refused() {
    let world = World::new();
    crash(&world, "after-all-edits");
    let file = world.state.join("journal");
    let good = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{good}1 00000000 {{\"record\":\"edit-do")).unwrap();
    drop(world.prepare().unwrap());
    assert_eq!(world.journal(), "");

    let damaged = good.replacen("\"pid\":", "\"pid\": ", 1);
    assert_ne!(damaged, good);
    std::fs::write(&file, &damaged).unwrap();
    let error = world.prepare().unwrap_err();
    assert!(
        matches!(error, StartError::State(StateError::Journal(_))),
        "{error}"
    );
    assert_eq!(
        world.journal(),
        damaged,
        "nobody throws away what he cannot read"
    );
}

#[test]
fn one_who_holds_the_journal_keeps_others_out() {
    let world = World::new();
    let held = Book::open(&state(&world)).unwrap();
    let options = world
        .options()
        .with_patience(std::time::Duration::from_millis(50));
    let refused =
        crate::apply::start::prepare(&world.policy(), &world.context(), &everything(), &options);
    let error = refused.map(|_: Prepared| ()).unwrap_err();
    assert!(
        matches!(error, StartError::State(StateError::Locked { .. })),
        "{error}"
    );
    drop(held);
    drop(world.prepare().unwrap());
}

#[test]
fn an_object_that_is_gone_needs_no_repair() {
    let world = World::new();
    crash(&world, "after-all-edits");
    std::fs::remove_dir_all(world.root.join(".git")).unwrap();
    drop(world.prepare().unwrap());
    assert_eq!(world.journal(), "");
}
