//! What is inherited, by the table of Microsoft Learn, "ACE Inheritance Rules".

use palisade_windows_token::acl::{Ace, AceFlags, AceKind, Dacl, Rights};
use palisade_windows_token::model::{Descriptor, Kind, Operation, Switches, inherited};

use crate::support::{
    FULL, MODIFY, READ, abs, allow, capability, deny, disk, here, rename, unconfined, user, users,
    with_directory, with_entry, with_file,
};

const OI: u8 = AceFlags::OBJECT_INHERIT.0;
const CI: u8 = AceFlags::CONTAINER_INHERIT.0;
const NP: u8 = AceFlags::NO_PROPAGATE.0;
const IO: u8 = AceFlags::INHERIT_ONLY.0;
const ID: u8 = AceFlags::INHERITED.0;

/// The flags of what a child inherits from an entry with these flags.
fn handed_down(flags: u8, kind: Kind) -> Vec<u8> {
    let ace = Ace::new(AceKind::Allow, READ, user()).with_flags(AceFlags(flags));
    inherited(&[ace], kind)
        .iter()
        .map(|ace| ace.flags.0)
        .collect()
}

#[test]
fn every_combination_of_flags() {
    let none: Vec<u8> = Vec::new();
    for io in [0, IO] {
        assert_eq!(handed_down(io, Kind::File), none);
        assert_eq!(handed_down(io, Kind::Directory), none);
        assert_eq!(handed_down(OI | io, Kind::File), [ID]);
        assert_eq!(handed_down(OI | io, Kind::Directory), [OI | IO | ID]);
        assert_eq!(handed_down(OI | NP | io, Kind::File), [ID]);
        assert_eq!(handed_down(OI | NP | io, Kind::Directory), none);
        assert_eq!(handed_down(CI | io, Kind::File), none);
        assert_eq!(handed_down(CI | io, Kind::Directory), [CI | ID]);
        assert_eq!(handed_down(CI | NP | io, Kind::Directory), [ID]);
        assert_eq!(handed_down(OI | CI | io, Kind::File), [ID]);
        assert_eq!(handed_down(OI | CI | io, Kind::Directory), [OI | CI | ID]);
        assert_eq!(handed_down(OI | CI | NP | io, Kind::File), [ID]);
        assert_eq!(handed_down(OI | CI | NP | io, Kind::Directory), [ID]);
    }
}

#[test]
fn generic_rights_are_mapped_where_they_take_effect() {
    let generic = Ace::new(AceKind::Allow, Rights::GENERIC_READ, user()).with_flags(AceFlags::TREE);
    let file = inherited(std::slice::from_ref(&generic), Kind::File);
    assert_eq!(file.len(), 1);
    assert_eq!(file[0].rights, Rights::FILE_READ);
    let directory = inherited(&[generic], Kind::Directory);
    assert_eq!(directory.len(), 2);
    assert_eq!(
        (directory[0].rights, directory[0].flags.0),
        (Rights::FILE_READ, ID)
    );
    assert_eq!(
        (directory[1].rights, directory[1].flags.0),
        (Rights::GENERIC_READ, OI | CI | IO | ID)
    );
}

fn flags_and_kinds(descriptor: &Descriptor) -> Vec<(AceKind, bool)> {
    let inherited = |ace: &Ace| ace.flags.contains(AceFlags::INHERITED);
    descriptor
        .entries()
        .iter()
        .map(|ace| (ace.kind, inherited(ace)))
        .collect()
}

#[test]
fn what_is_handed_down_comes_behind_what_is_its_own() {
    let files = with_directory(disk(), "/srv/app", MODIFY);
    let files = with_file(files, "/srv/app/.git/config");
    let files = with_entry(files, "/srv/app/.git", here(allow(READ, users())));
    let files = with_entry(
        files,
        "/srv/app",
        allow(Rights::WRITABLE_ROOT, capability(1)),
    );
    let files = with_entry(files, "/srv/app/.git", deny(Rights::CHANGES, capability(1)));
    let git = &files.at(&abs("/srv/app/.git")).unwrap().descriptor;
    let (deny, allow) = (AceKind::Deny, AceKind::Allow);
    assert_eq!(
        flags_and_kinds(git),
        [(deny, false), (allow, false), (allow, true), (allow, true)]
    );
    let config = &files.at(&abs("/srv/app/.git/config")).unwrap().descriptor;
    assert_eq!(
        flags_and_kinds(config),
        [(deny, true), (allow, true), (allow, true)]
    );
}

#[test]
fn a_plain_set_hands_nothing_down() {
    let mut files = with_file(with_directory(disk(), "/srv/app", MODIFY), "/srv/app/a");
    let before = files.at(&abs("/srv/app/a")).unwrap().descriptor.clone();
    let root = files.find(&abs("/srv/app")).unwrap();
    files.set_descriptor(root, Descriptor::new(user(), [allow(FULL, users())]));
    assert_eq!(files.at(&abs("/srv/app/a")).unwrap().descriptor, before);
    files.propagate(root);
    assert_eq!(
        files.at(&abs("/srv/app/a")).unwrap().descriptor.entries(),
        inherited(&[allow(FULL, users())], Kind::File)
    );
}

#[test]
fn what_is_protected_inherits_nothing_and_no_list_becomes_one() {
    let files = with_directory(disk(), "/srv/app", MODIFY);
    let mut files = with_file(with_directory(files, "/srv/app/own", FULL), "/srv/app/open");
    let open = files.find(&abs("/srv/app/open")).unwrap();
    files.set_descriptor(open, Descriptor::without_list(user()));
    let before = files.at(&abs("/srv/app/own")).unwrap().descriptor.clone();
    let files = with_entry(files, "/srv/app", allow(READ, users()));
    assert_eq!(files.at(&abs("/srv/app/own")).unwrap().descriptor, before);
    let open = &files.at(&abs("/srv/app/open")).unwrap().descriptor;
    assert!(matches!(&open.dacl, Dacl::List(list) if list.entries().len() == 2));
}

#[test]
fn what_moves_keeps_its_list_and_a_copy_inherits() {
    let files = with_directory(with_directory(disk(), "/srv/one", FULL), "/srv/two", MODIFY);
    let mut files = with_file(files, "/srv/one/a");
    let kept = files.at(&abs("/srv/one/a")).unwrap().descriptor.clone();
    let token = unconfined();
    let copy = Operation::Copy {
        from: abs("/srv/one/a"),
        to: abs("/srv/two/copy"),
    };
    copy.perform(&mut files, &token, Switches::PUBLISHED)
        .unwrap();
    rename("/srv/one/a", "/srv/two/moved")
        .perform(&mut files, &token, Switches::PUBLISHED)
        .unwrap();
    assert_eq!(files.at(&abs("/srv/two/moved")).unwrap().descriptor, kept);
    let copied = &files.at(&abs("/srv/two/copy")).unwrap().descriptor;
    assert_eq!(
        copied.entries(),
        inherited(&[allow(MODIFY, user())], Kind::File)
    );
    assert!(files.find(&abs("/srv/one/a")).is_none());
}

/// By the documentation: what had no list, and so was open to everybody, is closed to everybody once something was handed
/// down to it and taken away again. A plan that is removed does not bring that back.
#[test]
fn what_had_no_list_keeps_an_empty_one() {
    let mut files = with_file(with_directory(disk(), "/srv/app", MODIFY), "/srv/app/open");
    let (root, open) = (abs("/srv/app"), abs("/srv/app/open"));
    let (root, open) = (files.find(&root).unwrap(), files.find(&open).unwrap());
    files.set_descriptor(open, Descriptor::without_list(user()));
    let none = Descriptor::new(user(), []);
    let before = files.object(root).unwrap().descriptor.clone();
    for descriptor in [before, none] {
        files.set_descriptor(root, descriptor);
        files.propagate(root);
    }
    let left = &files.object(open).unwrap().descriptor;
    assert!(matches!(&left.dacl, Dacl::List(list) if list.entries().is_empty()));
}
