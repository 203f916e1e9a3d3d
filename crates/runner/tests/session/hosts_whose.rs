//! Whose contact it was, and whether it is why a command failed: told for sure only where it is sure.

use std::sync::Arc;

use palisade_runner::outcome::{Evidence, Outcome};

use crate::hosts::{Online, asks_nothing, no};
use crate::made_up_net::{MadeUp, host};
use crate::support::Stage;

/// Asks the proxy for this host, without naming it in the command or in its output.
const QUIETLY: &str = "h=evil; curl -s -o /dev/null http://$h.\\test/";

fn online(stage: &Stage) -> Online {
    let policy = stage
        .policy()
        .approval(asks_nothing())
        .grant(host("docs.test", 80));
    Online::new(stage, &Arc::new(MadeUp::default()), policy, no)
}

#[test]
fn a_failure_that_has_nothing_to_do_with_a_refused_host_is_no_denial() {
    let stage = Stage::new();
    let online = online(&stage);
    let run = online.run(&format!("{QUIETLY}; echo '2 tests failed' >&2; exit 3"));
    assert_eq!(run.outcome, Outcome::Exited { code: 3 }, "{run}");
    let note = run.notes.iter().find(|note| note.contains("evil.test:80"));
    let note = note.unwrap();
    assert!(note.contains("was refused"), "{note}");
    assert!(
        note.contains("whether that is why it failed is not known"),
        "{note}"
    );
    assert!(!note.contains("something else"), "{note}");
    // Nor is a success, of which nothing is told.
    let fine = online.run(QUIETLY);
    assert!(fine.outcome.success() && fine.notes.is_empty(), "{fine}");
    // What says so is one, by name or by what clients make of the refusal.
    for failed in [
        "curl -sS --fail http://evil.test/".to_owned(),
        format!("{QUIETLY}; echo 'HTTP Error 403: Forbidden' >&2; exit 1"),
    ] {
        let run = online.run(&failed);
        let Outcome::Denied { evidence, .. } = &run.outcome else {
            panic!("{run}")
        };
        let [Evidence::Likely { smallest_grant, .. }] = evidence.as_slice() else {
            panic!("{evidence:?}")
        };
        assert_eq!(*smallest_grant, Some(host("evil.test", 80)));
    }
    let records = online.records.connections();
    assert!(
        records.iter().all(|one| !one.call_id.is_empty()),
        "{records:?}"
    );
}

#[test]
fn what_an_earlier_command_left_running_does_not_speak_in_the_name_of_the_next() {
    let stage = Stage::new();
    let online = online(&stage);
    // It waits for a sign, asks for a host, and gives one.
    let left = format!(
        "setsid -f bash -c 'while [ ! -e go ]; do sleep 0.05; done; {QUIETLY}; touch gone; sleep 300' >/dev/null 2>&1"
    );
    assert!(online.run(&left).outcome.success());
    // Even what looks like a refusal is not taken for one.
    let next = "touch go; while [ ! -e gone ]; do sleep 0.05; done; echo 'HTTP Error 403: Forbidden' >&2; exit 1";
    let run = online.run(next);
    assert_eq!(run.outcome, Outcome::Exited { code: 1 }, "{run}");
    let note = run.notes.iter().find(|note| note.contains("evil.test:80"));
    assert!(
        note.unwrap()
            .contains("something else that runs in the session may have asked for it"),
        "{run}"
    );
    let records = online.records.connections();
    let [record] = records.as_slice() else {
        panic!("{records:?}")
    };
    assert_eq!(record.call_id, "");
    assert_eq!(record.connection.as_ref().unwrap().perhaps_by, ["run-2"]);
    // Where the command names the host itself, that says enough.
    let run = online.run("curl -sS --fail http://evil.test/");
    assert!(matches!(run.outcome, Outcome::Denied { .. }), "{run}");
    let last = online.records.connections().pop().unwrap();
    assert_eq!(last.call_id, "");
}

#[test]
fn two_commands_at_a_time_are_both_named() {
    let stage = Stage::new();
    let online = online(&stage);
    std::thread::scope(|scope| {
        let first = scope
            .spawn(|| online.run("touch first; while [ ! -e gone ]; do sleep 0.05; done; exit 1"));
        while !stage.path("workspace/first").exists() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let _ = online.run(&format!("{QUIETLY}; touch gone"));
        let first = first.join().unwrap();
        assert_eq!(first.outcome, Outcome::Exited { code: 1 }, "{first}");
    });
    let records = online.records.connections();
    let connection = records[0].connection.as_ref().unwrap();
    assert_eq!(connection.perhaps_by, ["run-1", "run-2"]);
}
