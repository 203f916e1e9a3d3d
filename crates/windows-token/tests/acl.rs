//! Access lists: the bytes that Windows keeps, and that nothing of anybody else is ever lost.
#![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]

use palisade_windows_token::Sid;
use palisade_windows_token::acl::{
    Ace, AceFlags, AceKind, Acl, AclEntry, AclError, Dacl, Inserted, Revision, Rights,
};
use proptest::prelude::*;

fn capability(n: u32) -> Sid {
    Sid::capability([1, 2, 3, n])
}

fn deny(n: u32) -> Ace {
    Ace::new(AceKind::Deny, Rights::CHANGES, capability(n)).with_flags(AceFlags::TREE)
}

fn allow(n: u32) -> Ace {
    Ace::new(AceKind::Allow, Rights::WRITABLE_ROOT, capability(n)).with_flags(AceFlags::TREE)
}

fn inherited(ace: Ace) -> Ace {
    let flags = AceFlags(ace.flags.0 | AceFlags::INHERITED.0);
    ace.with_flags(flags)
}

fn list(aces: impl IntoIterator<Item = Ace>) -> Acl {
    aces.into_iter().collect()
}

/// `D:(D;OICI;0x2;;;BA)(A;;FA;;;SY)` with its header, written out by hand.
const WRITTEN: [u8; 52] = [
    2, 0, 52, 0, 2, 0, 0, 0, //
    1, 3, 24, 0, 2, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 32, 2, 0, 0, //
    0, 0, 20, 0, 0xFF, 1, 0x1F, 0, 1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0,
];

#[test]
fn the_bytes_are_those_of_windows() {
    let acl = Acl::from_bytes(&WRITTEN).unwrap();
    let expected = list([
        Ace::new(AceKind::Deny, Rights::WRITE_DATA, Sid::administrators())
            .with_flags(AceFlags::TREE),
        Ace::new(AceKind::Allow, Rights::FILE_ALL, Sid::local_system()),
    ]);
    assert_eq!(acl, expected);
    assert_eq!(acl.to_bytes().unwrap(), WRITTEN);
    // Room at the end is not part of the list.
    let mut roomy = WRITTEN.to_vec();
    roomy.extend([0xAA; 12]);
    roomy[2] += 12;
    assert_eq!(Acl::from_bytes(&roomy).unwrap(), acl);
}

#[test]
fn what_is_no_list_is_refused() {
    for length in 0..WRITTEN.len() {
        let cut = WRITTEN.get(..length).unwrap();
        assert!(
            matches!(Acl::from_bytes(cut), Err(AclError::Truncated { .. })),
            "{length}"
        );
    }
    let with = |at: usize, byte: u8| {
        let mut bytes = WRITTEN;
        bytes[at] = byte;
        Acl::from_bytes(&bytes)
    };
    for revision in [0, 1, 3, 5, 255] {
        assert_eq!(with(0, revision), Err(AclError::Revision(revision)));
    }
    assert_eq!(with(0, 4).unwrap().revision(), Revision::Four);
    assert!(
        matches!(with(4, 3), Err(AclError::Truncated { .. })),
        "one entry too many"
    );
    for size in [0, 3, 22, 23] {
        assert!(
            matches!(with(10, size), Err(AclError::EntrySize { at: 8, .. })),
            "{size}"
        );
    }
    assert!(matches!(with(2, 51), Err(AclError::Truncated { .. })));
}

/// Conditions, objects, kinds that come later, and known kinds with something after the identifier.
#[test]
fn what_is_not_understood_is_kept_as_it_is() {
    for kind in [2_u8, 5, 6, 9, 10, 11, 12, 17, 99] {
        let mut bytes = WRITTEN;
        bytes[8] = kind;
        let mut acl = Acl::from_bytes(&bytes).unwrap();
        assert!(matches!(acl.entries()[0], AclEntry::Other(_)), "{kind}");
        let before = acl.clone();
        assert_eq!(acl.insert(allow(1)).unwrap(), Inserted::Added);
        assert_eq!(acl.insert(deny(1)).unwrap(), Inserted::Added);
        assert!(acl.remove(&allow(1)) && acl.remove(&deny(1)));
        assert_eq!(acl, before);
        assert_eq!(acl.to_bytes().unwrap(), bytes);
    }
    // An identifier that claims to be shorter than the entry.
    let mut bytes = WRITTEN;
    bytes[17] = 1;
    let acl = Acl::from_bytes(&bytes).unwrap();
    assert!(matches!(acl.entries()[0], AclEntry::Other(_)));
    assert_eq!(acl.to_bytes().unwrap(), bytes);
}

#[test]
fn ours_go_where_they_are_seen_in_time() {
    let system = Ace::new(AceKind::Allow, Rights::FILE_ALL, Sid::local_system());
    let theirs = Ace::new(AceKind::Deny, Rights::WRITE_DATA, Sid::everyone());
    let mut acl = list([
        theirs.clone(),
        system.clone(),
        inherited(allow(9)),
        inherited(deny(9)),
    ]);
    acl.insert(allow(1)).unwrap();
    acl.insert(deny(1)).unwrap();
    let expected = list([
        theirs.clone(),
        deny(1),
        system.clone(),
        allow(1),
        inherited(allow(9)),
        inherited(deny(9)),
    ]);
    assert_eq!(acl, expected);
    assert!(acl.is_canonical());
    // A list that was in no order before stays so, but for ours.
    let mut acl = list([system.clone(), theirs.clone(), allow(1)]);
    assert!(!acl.is_canonical());
    acl.insert(deny(1)).unwrap();
    assert_eq!(acl, list([deny(1), system, theirs, allow(1)]));
}

/// An entry that is there, but behind what it should come before, does not count as there.
#[test]
fn a_denial_that_comes_too_late_is_not_enough() {
    let mut acl = list([allow(1), deny(1)]);
    assert_eq!(acl.insert(deny(1)).unwrap(), Inserted::Added);
    assert_eq!(acl, list([deny(1), allow(1), deny(1)]));
    // Ours goes, theirs stays where it was.
    assert!(acl.remove(&deny(1)));
    assert_eq!(acl, list([allow(1), deny(1)]));
}

#[test]
fn only_exactly_the_same_entry_goes() {
    let near = [
        Ace::new(AceKind::Allow, Rights::CHANGES, capability(1)).with_flags(AceFlags::TREE),
        deny(1).with_flags(AceFlags::NONE),
        inherited(deny(1)),
        deny(2),
        Ace::new(
            AceKind::Deny,
            Rights::CHANGES | Rights::READ_DATA,
            capability(1),
        )
        .with_flags(AceFlags::TREE),
    ];
    let mut acl = list(near.clone());
    assert!(!acl.remove(&deny(1)));
    assert_eq!(acl, list(near));
    let mut twice = list([deny(1), deny(1)]);
    assert!(twice.remove(&deny(1)));
    assert_eq!(twice, list([deny(1)]), "never more than one");
}

#[test]
fn a_list_has_an_end() {
    let size = allow(0).size();
    let fits = u32::try_from((Acl::MAX_BYTES - 8) / size).unwrap();
    let mut acl = list((0..fits).map(allow));
    assert!(acl.to_bytes().is_ok());
    let before = acl.clone();
    let too_large = AclError::TooLarge {
        size: acl.size() + size,
    };
    assert_eq!(acl.insert(deny(7)), Err(too_large.clone()));
    // All or nothing: the first would not be new, the second does not fit.
    assert_eq!(acl.insert_all([&allow(1), &deny(7)]), Err(too_large));
    assert_eq!(acl, before);
    let over = list((0..=fits).map(allow));
    assert!(matches!(over.to_bytes(), Err(AclError::TooLarge { .. })));
}

#[test]
fn an_inherited_entry_is_not_put_in_by_hand() {
    let mut acl = Acl::default();
    assert_eq!(acl.insert(inherited(allow(1))), Err(AclError::Inherited));
}

#[test]
fn no_list_is_not_an_empty_list() {
    let empty = Acl::empty(Revision::Two).to_bytes().unwrap();
    assert_eq!(empty, [2, 0, 8, 0, 0, 0, 0, 0]);
    let mut list = Dacl::from_parts(true, Some(&empty)).unwrap();
    assert_eq!(list, Dacl::List(Acl::default()));
    assert_eq!(list.insert(allow(1)).unwrap(), Inserted::Added);
    for mut null in [
        Dacl::from_parts(true, None).unwrap(),
        Dacl::from_parts(false, None).unwrap(),
        Dacl::from_parts(false, Some(&empty)).unwrap(),
    ] {
        assert_eq!(null, Dacl::Null);
        assert_eq!(null.insert(allow(1)), Err(AclError::NullDacl));
        assert_eq!(null, Dacl::Null, "a list would lock everybody else out");
        assert!(!null.remove(&allow(1)));
        assert_eq!(null.list(), Err(AclError::NullDacl));
    }
}

fn any_sid() -> impl Strategy<Value = Sid> {
    (0_u64..1 << 48, prop::collection::vec(any::<u32>(), 1..=15))
        .prop_map(|(authority, numbers)| Sid::new(authority, numbers).unwrap())
}

fn any_ace() -> impl Strategy<Value = Ace> {
    let sid = prop_oneof![3 => (0_u32..3).prop_map(capability), 1 => any_sid()];
    let kind = prop::sample::select(vec![AceKind::Deny, AceKind::Allow]);
    let flags = prop_oneof![prop::sample::select(vec![0_u8, 3, 0x10, 0x13]), any::<u8>()];
    let rights = prop_oneof![
        Just(Rights::CHANGES),
        Just(Rights::WRITABLE_ROOT),
        any::<u32>().prop_map(Rights)
    ];
    (kind, flags, rights, sid).prop_map(|(kind, flags, rights, sid)| {
        Ace::new(kind, rights, sid).with_flags(AceFlags(flags))
    })
}

fn any_entry() -> impl Strategy<Value = AclEntry> {
    let other = (
        any::<u8>(),
        any::<u8>(),
        prop::collection::vec(any::<u32>(), 0..6),
    )
        .prop_map(|(kind, flags, body)| {
            let size = u8::try_from(4 + body.len() * 4).unwrap();
            let mut bytes = vec![4, 0, size + 8, 0, 1, 0, 0, 0, kind, flags, size, 0];
            bytes.extend(body.iter().flat_map(|word| word.to_le_bytes()));
            Acl::from_bytes(&bytes)
                .unwrap()
                .entries()
                .first()
                .unwrap()
                .clone()
        });
    prop_oneof![3 => any_ace().prop_map(AclEntry::Known), 1 => other]
}

fn any_acl() -> impl Strategy<Value = Acl> {
    prop::collection::vec(any_entry(), 0..8).prop_map(Acl::from_iter)
}

/// What a session adds.
fn any_wanted() -> impl Strategy<Value = Vec<Ace>> {
    let ace = (0_u32..4, any::<bool>()).prop_map(|(n, denies)| match denies {
        true => deny(n),
        false => allow(n),
    });
    prop::collection::vec(ace, 0..6)
}

proptest! {
    #[test]
    fn bytes_round_trip(acl in any_acl()) {
        let bytes = acl.to_bytes().unwrap();
        prop_assert_eq!(bytes.len(), acl.size());
        let read = Acl::from_bytes(&bytes).unwrap();
        prop_assert_eq!(read.to_bytes().unwrap(), bytes);
        prop_assert_eq!(read, acl);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(acl) = Acl::from_bytes(&bytes) {
            prop_assert_eq!(Acl::from_bytes(&acl.to_bytes().unwrap()).unwrap(), acl);
        }
        let _ = Dacl::from_parts(true, Some(&bytes));
        let _ = Sid::from_bytes(&bytes);
    }

    /// Bytes that are nearly a list.
    #[test]
    fn damaged_lists_are_read_or_refused(
        acl in any_acl(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = acl.to_bytes().unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(read) = Acl::from_bytes(&bytes) {
            prop_assert!(read.size() <= bytes.len());
            prop_assert_eq!(Acl::from_bytes(&read.to_bytes().unwrap()).unwrap(), read);
        }
    }

    #[test]
    fn what_was_added_goes_without_a_trace(before in any_acl(), wanted in any_wanted()) {
        let mut acl = before.clone();
        let added = acl.insert_all(&wanted).unwrap();
        let there = |ace: &Ace| acl.entries().contains(&AclEntry::Known(ace.clone()));
        prop_assert!(wanted.iter().all(there));
        let removed = acl.remove_all(added.iter().rev());
        prop_assert_eq!(removed.len(), added.len());
        prop_assert_eq!(acl, before);
    }

    /// Somebody else adds and removes entries while ours are there. What is left is what he would have had without us.
    #[test]
    fn what_others_did_meanwhile_stays(
        before in any_acl(),
        wanted in any_wanted(),
        edits in prop::collection::vec((any::<bool>(), 10_u32..14, any::<prop::sample::Index>()), 0..6),
    ) {
        let theirs = |n: u32| Ace::new(AceKind::Allow, Rights::FILE_READ, capability(n));
        let mut with_us = before.clone();
        let added = with_us.insert_all(&wanted).unwrap();
        // Which entries are ours, by place.
        let mut ours: Vec<bool> = marks(&before, &with_us);
        let mut without_us: Vec<AclEntry> = before.entries().to_vec();
        let mut entries: Vec<AclEntry> = with_us.entries().to_vec();
        for (add, n, at) in edits {
            let foreign: Vec<usize> = (0..entries.len()).filter(|i| !ours[*i]).collect();
            let place = at.index(foreign.len() + 1);
            // The same gap between foreign entries, in both lists.
            let gap = foreign.get(place).copied().unwrap_or(entries.len());
            if add {
                entries.insert(gap, AclEntry::Known(theirs(n)));
                ours.insert(gap, false);
                without_us.insert(place, AclEntry::Known(theirs(n)));
            } else if place < without_us.len() {
                entries.remove(gap);
                ours.remove(gap);
                without_us.remove(place);
            }
        }
        let mut acl: Acl = entries.into_iter().collect();
        let expected: Acl = without_us.into_iter().collect();
        let removed = acl.remove_all(added.iter().rev());
        prop_assert_eq!(removed.len(), added.len());
        prop_assert_eq!(acl, expected);
    }

    #[test]
    fn a_list_in_order_stays_in_order(mut acl in any_acl(), wanted in any_wanted()) {
        let was = acl.is_canonical();
        acl.insert_all(&wanted).unwrap();
        prop_assert!(!was || acl.is_canonical());
    }
}

/// Which entries of a list were not in it before; both are in the same order.
fn marks(before: &Acl, after: &Acl) -> Vec<bool> {
    let mut known = before.entries().iter().peekable();
    after
        .entries()
        .iter()
        .map(|entry| match known.peek() {
            Some(next) if *next == entry => {
                known.next();
                false
            }
            _ => true,
        })
        .collect()
}

#[test]
fn an_object_that_opens_itself_is_noticed() {
    let to = [capability(1), capability(2)];
    let opens = |aces: &[Ace], protected| list(aces.to_vec()).opens_by_itself(protected, &to);
    assert!(opens(&[deny(1), allow(2)], false));
    assert!(!opens(&[deny(1), deny(2)], false));
    assert!(!opens(&[allow(3)], false), "nobody here has it");
    // What comes from above is taken back from above, unless nothing comes from there.
    assert!(!opens(&[inherited(allow(1))], false));
    assert!(opens(&[inherited(allow(1))], true));
    let reading = Ace::new(AceKind::Allow, Rights::FILE_READ, capability(1));
    assert!(!opens(&[reading], true));
    for rights in [
        Rights::GENERIC_ALL,
        Rights::GENERIC_WRITE,
        Rights::WRITE_DAC,
        Rights::DELETE_CHILD,
    ] {
        let ace = Ace::new(AceKind::Allow, rights, capability(2));
        assert!(opens(&[ace], false), "{rights}");
    }
}
