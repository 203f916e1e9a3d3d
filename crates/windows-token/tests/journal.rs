//! The journal: nothing of ours is left, nothing of anybody else goes, and nobody is opened up while he still runs.
#![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]

use std::collections::BTreeMap;

use palisade_policy::AbsolutePath;
use palisade_windows_token::Sid;
use palisade_windows_token::acl::{Ace, AceKind, Acl, Rights};
use palisade_windows_token::journal::{
    Capabilities, CapabilitiesError, EditId, FileId, JournalError, Ledger, Object, Record, Repair,
    SessionId, decode, encode,
};
use proptest::prelude::*;

fn abs(path: &str) -> AbsolutePath {
    AbsolutePath::new(match cfg!(windows) {
        true => format!("C:{}", path.replace('/', "\\")),
        false => path.to_owned(),
    })
    .unwrap()
}

fn ace(n: u32) -> Ace {
    Ace::new(
        AceKind::Deny,
        Rights::CHANGES,
        Sid::capability([1, 2, 3, n]),
    )
}

fn object(path: &str) -> Object {
    Object::new(abs(path))
}

fn began(session: u64) -> Record {
    let session = SessionId(session);
    let (pid, started) = (u32::try_from(session.0).unwrap(), 1000 + session.0);
    Record::SessionBegan {
        session,
        pid,
        started,
    }
}

fn intended(session: u64, edit: u32, path: &str, add: &[Ace], share: &[Ace]) -> Record {
    Record::EditIntended {
        session: SessionId(session),
        edit: EditId(edit),
        object: object(path),
        add: add.to_vec(),
        share: share.to_vec(),
    }
}

fn done(session: u64, edit: u32) -> Record {
    let (session, edit) = (SessionId(session), EditId(edit));
    Record::EditDone { session, edit }
}

fn removed(session: u64, edit: u32) -> Record {
    let (session, edit) = (SessionId(session), EditId(edit));
    Record::RemovalDone { session, edit }
}

fn ended(session: u64) -> Record {
    let session = SessionId(session);
    Record::SessionEnded { session }
}

fn sample() -> Vec<Record> {
    vec![
        began(1),
        intended(1, 0, "/srv/app/.git", &[ace(1)], &[]),
        done(1, 0),
        intended(1, 1, "/srv/app", &[ace(1), ace(2)], &[]),
    ]
}

fn text(records: &[Record]) -> String {
    records
        .iter()
        .map(|record| encode(record).unwrap())
        .collect()
}

fn what(repairs: &[Repair]) -> Vec<(u32, Vec<Ace>)> {
    repairs
        .iter()
        .map(|repair| (repair.edit.0, repair.remove.clone()))
        .collect()
}

#[test]
fn records_are_lines_that_people_can_read() {
    let line = encode(&done(0x1234, 7)).unwrap();
    assert_eq!(
        line,
        "1 46 38f6a718 {\"record\":\"edit-done\",\"session\":4660,\"edit\":7}\n"
    );
}

#[test]
fn what_was_written_is_read() {
    let mut records = sample();
    let id = FileId {
        volume: u64::MAX,
        file: [0xFF; 16],
    };
    records.push(Record::EditIntended {
        session: SessionId(1),
        edit: EditId(9),
        object: object("/srv/app/a b\u{1F980}").with_id(id),
        add: vec![ace(9)],
        share: Vec::new(),
    });
    let text = text(&records);
    let journal = decode(text.as_bytes()).unwrap();
    assert_eq!(journal.records, records);
    assert_eq!((journal.good_bytes, journal.torn), (text.len(), false));
    assert_eq!(decode(b"").unwrap().records, []);
}

/// However much of the last line reached the disk.
#[test]
fn a_torn_tail_is_cut_off_at_every_byte() {
    let whole = text(&sample());
    let before = text(&sample()[..3]);
    for length in before.len()..whole.len() {
        let journal = decode(&whole.as_bytes()[..length]).unwrap();
        assert_eq!(journal.records, sample()[..3], "{length}");
        assert_eq!(journal.good_bytes, before.len());
        assert_eq!(journal.torn, length > before.len());
    }
    // The end of the line came, the middle did not.
    let mut holes = whole.clone().into_bytes();
    let middle = before.len() + 20;
    holes[middle..whole.len() - 1].fill(0);
    let journal = decode(&holes).unwrap();
    assert_eq!((journal.good_bytes, journal.torn), (before.len(), true));
}

#[test]
fn a_damaged_line_before_others_is_refused() {
    let whole = text(&sample());
    let last = text(&sample()[..3]).len();
    let second = text(&sample()[..1]).len();
    for at in 0..last {
        let mut bytes = whole.clone().into_bytes();
        bytes[at] ^= 0x01;
        let error = decode(&bytes).unwrap_err();
        let lines = match error {
            JournalError::Damaged { line, .. } | JournalError::OtherVersion { line } => line,
            _ => 0,
        };
        assert!(lines > 0 && (lines > 1 || at < second), "{at}: {error}");
    }
    let later = whole.replacen("1 ", "2 ", 1);
    assert_eq!(
        decode(later.as_bytes()),
        Err(JournalError::OtherVersion { line: 1 })
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let wrong = [
        vec![done(1, 0)],
        vec![ended(1)],
        vec![began(1), began(1)],
        vec![began(1), ended(1), began(1)],
        vec![began(1), done(1, 0)],
        vec![began(1), removed(1, 0)],
        vec![intended(1, 0, "/a", &[], &[])],
        vec![
            began(1),
            intended(1, 0, "/a", &[], &[]),
            intended(1, 0, "/a", &[], &[]),
        ],
        vec![began(1), intended(1, 0, "/a", &[ace(1)], &[]), ended(1)],
    ];
    for records in wrong {
        let last = records.len();
        let error = Ledger::new(&records).unwrap_err();
        assert!(
            matches!(error, JournalError::Inconsistent { record, .. } if record == last),
            "{error}"
        );
    }
}

/// Announced or done, what a crash left is looked for, the last first.
#[test]
fn a_crash_is_repaired_from_the_end() {
    let ledger = Ledger::new(&sample()).unwrap();
    let repairs = ledger.pending(|_, _| false);
    assert_eq!(
        what(&repairs),
        [(1, vec![ace(2), ace(1)]), (0, vec![ace(1)])]
    );
    assert_eq!(repairs[0].object, object("/srv/app"));
    assert!(ledger.pending(|_, _| true).is_empty());
    // A process of the same number that was started later is another one.
    assert_eq!(
        ledger
            .pending(|pid, started| pid == 1 && started == 7)
            .len(),
        2
    );
    assert!(
        ledger
            .pending(|pid, started| pid == 1 && started == 1001)
            .is_empty()
    );
    assert!(!ledger.is_settled());
}

/// A repair that is interrupted goes on where it was.
#[test]
fn a_repair_can_be_repeated() {
    let mut records = sample();
    records.push(removed(1, 1));
    let ledger = Ledger::new(&records).unwrap();
    assert_eq!(what(&ledger.pending(|_, _| false)), [(0, vec![ace(1)])]);
    records.extend([removed(1, 0), ended(1)]);
    let ledger = Ledger::new(&records).unwrap();
    assert!(ledger.is_settled());
    assert!(ledger.pending(|_, _| false).is_empty());
}

/// Two sessions in one workspace: what the first added holds the second as well, so it stays until both are over.
#[test]
fn an_entry_goes_with_the_last_who_needs_it() {
    let mut records = vec![
        began(1),
        intended(1, 0, "/srv/app/.git", &[ace(1)], &[]),
        began(2),
    ];
    let ledger = Ledger::new(&records).unwrap();
    let list: Acl = [ace(1), ace(7)].into_iter().collect();
    let intent = ledger.intend(&object("/srv/app/.git"), &[ace(1), ace(2), ace(7)], &list);
    assert_eq!(intent.share, [ace(1)]);
    assert_eq!(intent.add, [ace(2)]);
    assert_eq!(intent.foreign, [ace(7)], "nobody says that this was us");
    records.push(intended(2, 0, "/srv/app/.git", &intent.add, &intent.share));
    let ledger = Ledger::new(&records).unwrap();
    assert_eq!(what(&ledger.release(SessionId(1))), [(0, vec![])]);
    assert_eq!(what(&ledger.release(SessionId(2))), [(0, vec![ace(2)])]);
    // Both at once, as after a power cut: once.
    assert_eq!(
        what(&ledger.pending(|_, _| false)),
        [(0, vec![ace(1), ace(2)]), (0, vec![])]
    );
    records.extend([removed(1, 0), ended(1)]);
    let ledger = Ledger::new(&records).unwrap();
    assert_eq!(
        what(&ledger.release(SessionId(2))),
        [(0, vec![ace(1), ace(2)])]
    );
}

#[test]
fn an_object_is_known_by_its_identity_first() {
    let id = |n| FileId {
        volume: 1,
        file: [n; 16],
    };
    assert!(object("/a").is(&object("/a")));
    assert!(!object("/a").is(&object("/b")));
    assert!(object("/a").with_id(id(1)).is(&object("/b").with_id(id(1))));
    assert!(!object("/a").with_id(id(1)).is(&object("/a").with_id(id(2))));
    assert!(object("/a").with_id(id(1)).is(&object("/a")));
}

#[test]
fn capabilities_belong_to_one_place_each() {
    let sid = |n| Sid::capability([1, 2, 3, n]);
    let mut all = Capabilities::default();
    all.insert(abs("/srv/app"), sid(1)).unwrap();
    all.insert(abs("/srv/other"), sid(2)).unwrap();
    all.insert(abs("/srv/app"), sid(1)).unwrap();
    for (place, sid) in [(abs("/srv/app"), sid(3)), (abs("/srv/new"), sid(1))] {
        let error = all.insert(place, sid).unwrap_err();
        assert!(matches!(error, CapabilitiesError::Shared { .. }), "{error}");
    }
    for sid in [
        Sid::everyone(),
        Sid::local_system(),
        "S-1-5-5-0-1".parse().unwrap(),
    ] {
        let error = all.insert(abs("/srv/new"), sid).unwrap_err();
        assert!(
            matches!(error, CapabilitiesError::NotACapability { .. }),
            "{error}"
        );
    }
    let bytes = all.to_bytes().unwrap();
    let read = Capabilities::from_bytes(&bytes).unwrap();
    assert_eq!(read, all);
    assert_eq!(read.get(&abs("/srv/app")), Some(&sid(1)));
    let text = String::from_utf8(bytes).unwrap();
    let later = text.replace("\"version\": 1", "\"version\": 2");
    let refused = Capabilities::from_bytes(later.as_bytes());
    assert_eq!(refused, Err(CapabilitiesError::OtherVersion(2)));
    let everyone = text.replace(&sid(1).to_string(), "S-1-1-0");
    assert!(Capabilities::from_bytes(everyone.as_bytes()).is_err());
    assert!(Capabilities::from_bytes(b"{}").is_err());
    assert_eq!(all.remove(&abs("/srv/app")), Some(sid(1)));
    assert_eq!(all.get(&abs("/srv/app")), None);
}

/// A step of a random history.
#[derive(Clone, Debug)]
enum Step {
    Begin,
    Edit {
        who: usize,
        place: usize,
        aces: Vec<u32>,
    },
    End {
        who: usize,
    },
    Crash {
        who: usize,
    },
    /// The machine stops in the middle of an edit, before or after the list was changed.
    CrashInEdit {
        who: usize,
        place: usize,
        aces: Vec<u32>,
        changed: bool,
    },
}

fn any_step() -> impl Strategy<Value = Step> {
    let aces = || prop::collection::vec(0_u32..3, 1..3);
    prop_oneof![
        2 => Just(Step::Begin),
        5 => (0..4_usize, 0..2_usize, aces()).prop_map(|(who, place, aces)| Step::Edit { who, place, aces }),
        2 => (0..4_usize).prop_map(|who| Step::End { who }),
        1 => (0..4_usize).prop_map(|who| Step::Crash { who }),
        1 => (0..4_usize, 0..2_usize, aces(), any::<bool>())
            .prop_map(|(who, place, aces, changed)| Step::CrashInEdit { who, place, aces, changed }),
    ]
}

/// Lists, a journal, and sessions that come and go as the journal's users would.
struct Machine {
    lists: BTreeMap<AbsolutePath, Acl>,
    journal: Vec<Record>,
    alive: Vec<Running>,
    next: u64,
}

/// A session that runs, and what it relies on.
struct Running {
    session: u64,
    edits: u32,
    held: Vec<(AbsolutePath, Ace)>,
}

impl Machine {
    const PLACES: [&'static str; 2] = ["/srv/app", "/srv/app/.git"];

    fn ledger(&self) -> Ledger {
        // Through the text, as from a file.
        Ledger::new(&decode(text(&self.journal).as_bytes()).unwrap().records).unwrap()
    }

    fn edit(&mut self, at: usize, place: usize, aces: &[u32], change: bool) {
        let path = Self::PLACES.get(place).unwrap();
        let wanted: Vec<Ace> = aces.iter().map(|n| ace(*n)).collect();
        let list = self.lists.get(&abs(path)).unwrap().clone();
        let intent = self.ledger().intend(&object(path), &wanted, &list);
        let running = self.alive.get_mut(at).unwrap();
        let record = intended(
            running.session,
            running.edits,
            path,
            &intent.add,
            &intent.share,
        );
        running.edits += 1;
        running
            .held
            .extend(wanted.into_iter().map(|ace| (abs(path), ace)));
        self.journal.push(record);
        if change {
            let list = self.lists.get_mut(&abs(path)).unwrap();
            list.insert_all(&intent.add).unwrap();
        }
    }

    fn remove(&mut self, repairs: Vec<Repair>) {
        for repair in repairs {
            let list = self.lists.get_mut(&repair.object.path).unwrap();
            list.remove_all(&repair.remove);
            self.journal.push(removed(repair.session.0, repair.edit.0));
        }
    }

    fn repair(&mut self) {
        let ledger = self.ledger();
        let alive: Vec<u64> = self.alive.iter().map(|running| running.session).collect();
        let is_alive = |pid: u32, _| alive.contains(&u64::from(pid));
        let gone: Vec<SessionId> = ledger
            .open_sessions()
            .filter(|(_, pid, started)| !is_alive(*pid, *started))
            .map(|(session, ..)| session)
            .collect();
        self.remove(ledger.pending(is_alive));
        self.journal
            .extend(gone.iter().map(|session| ended(session.0)));
    }

    fn step(&mut self, step: Step) {
        let at = |who: usize| (!self.alive.is_empty()).then(|| who % self.alive.len().max(1));
        match step {
            Step::Begin => {
                self.repair();
                self.journal.push(began(self.next));
                self.alive.push(Running {
                    session: self.next,
                    edits: 0,
                    held: Vec::new(),
                });
                self.next += 1;
            }
            Step::Edit { who, place, aces } => {
                if let Some(at) = at(who) {
                    self.edit(at, place, &aces, true);
                }
            }
            Step::End { who } => {
                if let Some(at) = at(who) {
                    let Running { session, .. } = self.alive.remove(at);
                    self.remove(self.ledger().release(SessionId(session)));
                    self.journal.push(ended(session));
                }
            }
            Step::Crash { who } => {
                if let Some(at) = at(who) {
                    self.alive.remove(at);
                }
            }
            Step::CrashInEdit {
                who,
                place,
                aces,
                changed,
            } => {
                if let Some(at) = at(who) {
                    self.edit(at, place, &aces, changed);
                    self.alive.remove(at);
                }
            }
        }
    }
}

proptest! {
    /// Whatever comes and goes: who is alive has what he asked for, and in the end the lists are as they were.
    #[test]
    fn lists_are_as_they_were_when_all_is_over(
        steps in prop::collection::vec(any_step(), 0..25),
        foreign in prop::collection::vec(0_u32..3, 0..2),
    ) {
        let theirs: Acl = foreign
            .iter()
            .map(|n| ace(*n))
            .chain([Ace::new(AceKind::Allow, Rights::FILE_ALL, Sid::local_system())])
            .collect();
        let before: BTreeMap<AbsolutePath, Acl> = Machine::PLACES
            .iter()
            .map(|path| (abs(path), theirs.clone()))
            .collect();
        let mut machine = Machine {
            lists: before.clone(),
            journal: Vec::new(),
            alive: Vec::new(),
            next: 1,
        };
        for step in steps {
            machine.step(step);
            for running in &machine.alive {
                for (place, ace) in &running.held {
                    let list = &machine.lists[place];
                    prop_assert!(list.aces().any(|known| known == ace), "{ace} is gone");
                }
            }
        }
        machine.alive.clear();
        machine.repair();
        prop_assert_eq!(machine.lists, before);
        prop_assert!(Ledger::new(&machine.journal).unwrap().is_settled());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = decode(&bytes);
        let _ = Capabilities::from_bytes(&bytes);
    }
}
