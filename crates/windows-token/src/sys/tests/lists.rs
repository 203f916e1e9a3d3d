//! Our access lists, as the system reads them.

use super::{allow, bytes_of};
use crate::acl::{Ace, AceFlags, AceKind, Acl, Rights};
use crate::sid::Sid;
use crate::sys::for_tests::{access_check, walk};
use crate::sys::token::Token;

#[test]
fn the_system_reads_our_bytes_as_we_mean_them() {
    let capability = Sid::capability([u32::MAX, 0, 1, 2]);
    let longest = Sid::new(5, vec![21; Sid::MAX_SUB_AUTHORITIES]).unwrap();
    let aces = [
        Ace::new(AceKind::Deny, Rights::CHANGES, capability.clone()).with_flags(AceFlags::TREE),
        Ace::new(AceKind::Deny, Rights::DELETE, longest),
        Ace::new(AceKind::Allow, Rights::WRITABLE_ROOT, capability).with_flags(AceFlags::TREE),
        allow(Rights::FILE_ALL, &Sid::everyone()),
    ];
    let bytes = bytes_of(aces.clone());
    let seen = walk(&bytes).unwrap();
    assert_eq!(seen.len(), aces.len());
    for (ace, (kind, flags, size)) in aces.iter().zip(seen) {
        assert_eq!(kind, u8::from(ace.kind == AceKind::Deny));
        assert_eq!(flags, ace.flags.0);
        assert_eq!(usize::from(size), ace.size());
    }
}

#[test]
fn an_empty_list_and_the_largest_one_are_lists() {
    assert_eq!(walk(&bytes_of([])).unwrap(), []);
    let mut list = Acl::default();
    let mut count = 0;
    while list
        .insert(allow(Rights::FILE_READ, &Sid::capability([1, 2, 3, count])))
        .is_ok()
    {
        count += 1;
    }
    let seen = walk(&list.to_bytes().unwrap()).unwrap();
    assert_eq!(seen.len(), count as usize);
    assert!(seen.len() > 1500);
}

/// The case table of the first check: what the system says about each is what the words of the documentation say.
#[test]
fn the_system_decides_by_order_and_by_owner() {
    let token = Token::own().unwrap();
    let user = token.user().unwrap();
    let acting = token.impersonation().unwrap();
    let nobody = Sid::capability([9, 9, 9, 9]);
    let everyone = Sid::everyone();
    let deny = |rights, sid: &Sid| Ace::new(AceKind::Deny, rights, sid.clone());
    let system = Sid::local_system();
    let only_below = AceFlags(AceFlags::TREE.0 | AceFlags::INHERIT_ONLY.0);
    let write = Rights::WRITE_DATA;
    let both = Rights(Rights::READ_DATA.0 | Rights::WRITE_DATA.0);
    for (name, list, owner, wanted, expected) in [
        ("nothing grants", vec![], &system, write, false),
        (
            "everyone",
            vec![allow(write, &everyone)],
            &system,
            write,
            true,
        ),
        ("the user", vec![allow(write, &user)], &system, write, true),
        (
            "somebody else",
            vec![allow(write, &nobody)],
            &system,
            write,
            false,
        ),
        (
            "deny first",
            vec![deny(write, &user), allow(write, &user)],
            &system,
            write,
            false,
        ),
        (
            "allow first",
            vec![allow(write, &user), deny(write, &user)],
            &system,
            write,
            true,
        ),
        (
            "deny of somebody else",
            vec![deny(write, &nobody), allow(write, &user)],
            &system,
            write,
            true,
        ),
        (
            "deny of another right",
            vec![deny(Rights::DELETE, &user), allow(write, &user)],
            &system,
            write,
            true,
        ),
        (
            "rights from two entries",
            vec![allow(Rights::READ_DATA, &everyone), allow(write, &user)],
            &system,
            both,
            true,
        ),
        (
            "one of two rights is denied",
            vec![deny(write, &user), allow(both, &user)],
            &system,
            both,
            false,
        ),
        (
            "only what is below",
            vec![allow(write, &user).with_flags(only_below)],
            &system,
            write,
            false,
        ),
        (
            "a denial only for what is below",
            vec![
                deny(write, &user).with_flags(only_below),
                allow(write, &user),
            ],
            &system,
            write,
            true,
        ),
        (
            "a generic right is mapped",
            vec![allow(Rights::FILE_WRITE, &user)],
            &system,
            Rights::GENERIC_WRITE,
            true,
        ),
        (
            "the owner may change the list",
            vec![],
            &user,
            Rights::WRITE_DAC,
            true,
        ),
        ("and only that", vec![], &user, write, false),
        (
            "not somebody else",
            vec![],
            &system,
            Rights::WRITE_DAC,
            false,
        ),
    ] {
        let bytes = bytes_of(list);
        let said = access_check(Some(&bytes), owner, &acting, wanted).unwrap();
        assert_eq!(said, expected, "{name}");
    }
    assert!(access_check(None, &system, &acting, Rights::FILE_ALL).unwrap());
}
