//! `why --last`: what the last run was refused, from the record.

use std::ffi::OsString;
use std::time::Duration;

use insta::assert_snapshot;
use palisade::runner::audit::{AuditRecord, AuditSink as _, JsonLines, Rotation, Timestamp};
use palisade::runner::outcome::{Evidence, Outcome};
use palisade::runner::policy::{AbsolutePath, Clause, Grant};

use crate::looked::redacted;
use crate::support::House;

fn record(second: u64, argv: &[&str]) -> AuditRecord {
    let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
    let time = Timestamp::from_millis(second * 1000);
    AuditRecord::new(time, "run-1", "shell").with_command(&argv, "/srv/app".as_ref())
}

fn denied(record: AuditRecord) -> AuditRecord {
    let path = AbsolutePath::new("/etc/hosts").unwrap();
    let outcome = Outcome::Denied {
        evidence: vec![Evidence::Likely {
            resource: "write /etc/hosts".to_owned(),
            clause: Clause::OutsideRoots,
            smallest_grant: Some(Grant::Write(path)),
        }],
        exit_code: 1,
    };
    record.with_outcome(&outcome, 0, Duration::ZERO)
}

#[test]
fn the_last_denial_is_explained() {
    let house = House::new();
    let said = house.say(["why", "--last"]);
    assert_eq!((said.code, said.out.lines().count()), (0, 1), "{said:?}");

    let state = house.home().join(".local/state/palisade");
    let sink = JsonLines::in_state_dir(&state, Rotation::default()).unwrap();
    let fine = Outcome::Exited { code: 0 };
    sink.record(&denied(record(0, &["touch", "/etc/old"])));
    sink.record(&denied(record(60, &["tee", "/etc/hosts"])));
    sink.record(&record(120, &["ls"]).with_outcome(&fine, 0, Duration::ZERO));
    let first = redacted(&house, &house.say(["why", "--last"]));
    sink.record(&record(180, &["sudo", "ls"]).with_refusal("no privileges"));
    let second = redacted(&house, &house.say(["why", "--last"]));
    assert_snapshot!(format!("{first}\n{second}"));
}

#[test]
fn a_real_denial_is_found() {
    let house = House::new();
    let ran = house.say(["run", "--", "sh", "-c", "echo x > /etc/palisade-was-here"]);
    assert_ne!(ran.code, 0, "{ran:?}");
    let said = house.say(["why", "--last"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.contains("/etc/palisade-was-here"), "{said:?}");
}
