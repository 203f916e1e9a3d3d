//! Files: where they really are, which they are, and what becomes of their access lists.

use std::os::windows::io::AsHandle as _;

use super::{allow, bytes_of};
use crate::acl::{AceFlags, Acl, Rights};
use crate::sid::Sid;
use crate::survey::{SpellingProblem, spelled};
use crate::sys::file::{
    HandleKind, LastName, file_id, final_path, kind, link_count, make_directory, open, open_by_id,
    profile_directory, volume_has_acls, volumes_without_acls,
};
use crate::sys::for_tests::{is_wine, skipped_on_wine};
use crate::sys::process::{is_alive, own_start};
use crate::sys::random;
use crate::sys::security::{Descriptor, file_dacl, file_owner, set_file_dacl};
use crate::sys::token::Token;

fn look(path: &std::path::Path) -> std::fs::File {
    open(path, Rights::READ_ATTRIBUTES, LastName::Followed).unwrap()
}

#[test]
fn the_final_path_is_one_that_the_spelling_rules_accept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("Ünïcode 項目 Name");
    std::fs::create_dir(&path).unwrap();
    let real = final_path(look(&path).as_handle()).unwrap();
    let text = real.to_str().unwrap();
    assert!(text.starts_with(r"\\?\"), "{text}");
    let plain = spelled(text).unwrap();
    assert_eq!(spelled(plain.as_str()).unwrap(), plain);
    assert!(plain.as_str().ends_with("Ünïcode 項目 Name"), "{plain}");
    // Other spellings of the same place lead to the same path.
    let twisted = directory
        .path()
        .join("..")
        .join(directory.path().file_name().unwrap());
    let other = path.to_str().unwrap().to_uppercase().to_lowercase();
    for spelling in [twisted.join("Ünïcode 項目 Name"), other.into()] {
        let found = final_path(look(&spelling).as_handle()).unwrap();
        assert_eq!(found, real, "{}", spelling.display());
    }
}

#[test]
fn what_the_spelling_rules_refuse_is_not_what_it_says() {
    // The name of a device is no file in any directory.
    let directory = tempfile::tempdir().unwrap();
    let device = directory.path().join("nul");
    let opened = std::fs::File::options().write(true).open(&device).unwrap();
    assert_eq!(kind(opened.as_handle()), HandleKind::Character);
    assert_eq!(
        spelled(device.to_str().unwrap()),
        Err(SpellingProblem::DeviceName("nul".to_owned()))
    );
    // What Windows drops leads to the file without it.
    let plain = directory.path().join("file");
    std::fs::write(&plain, "content").unwrap();
    let dotted = directory.path().join("file. .");
    assert_eq!(std::fs::read(&dotted).unwrap(), b"content");
    assert!(matches!(
        spelled(dotted.to_str().unwrap()),
        Err(SpellingProblem::Trailing(_))
    ));
}

#[test]
fn a_file_keeps_its_identity_when_it_is_renamed() {
    let directory = tempfile::tempdir().unwrap();
    let (before, after) = (directory.path().join("a"), directory.path().join("b"));
    std::fs::write(&before, "x").unwrap();
    let id = file_id(look(&before).as_handle()).unwrap();
    std::fs::rename(&before, &after).unwrap();
    std::fs::write(&before, "y").unwrap();
    assert_eq!(file_id(look(&after).as_handle()).unwrap(), id);
    assert_ne!(file_id(look(&before).as_handle()).unwrap(), id);
    let volume = look(directory.path());
    match open_by_id(volume.as_handle(), id, Rights::READ_ATTRIBUTES) {
        Ok(found) => assert_eq!(
            final_path(found.as_handle()).unwrap(),
            final_path(look(&after).as_handle()).unwrap()
        ),
        Err(error) => assert!(is_wine(), "{error}"),
    }
}

#[test]
fn hard_links_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let (one, two) = (directory.path().join("a"), directory.path().join("b"));
    std::fs::write(&one, "x").unwrap();
    assert_eq!(link_count(look(&one).as_handle()).unwrap(), 1);
    std::fs::hard_link(&one, &two).unwrap();
    assert_eq!(link_count(look(&one).as_handle()).unwrap(), 2);
}

#[test]
fn the_disk_of_the_profile_has_access_lists() {
    let profile = profile_directory(&Token::own().unwrap()).unwrap();
    assert!(profile.is_absolute(), "{}", profile.display());
    let drive = profile.ancestors().last().unwrap();
    assert!(volume_has_acls(look(drive).as_handle()).unwrap());
    let without = volumes_without_acls().unwrap();
    assert!(
        !without.iter().any(|volume| volume.as_path() == drive),
        "{without:?}"
    );
}

#[test]
fn a_file_has_an_owner_and_a_list() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let opened = open(file.path(), Rights::READ_CONTROL, LastName::Itself).unwrap();
    let owner = file_owner(opened.as_handle()).unwrap();
    let user = Token::own().unwrap().user().unwrap();
    assert!([user, Sid::administrators()].contains(&owner), "{owner}");
    let list = file_dacl(opened.as_handle()).unwrap().bytes.unwrap();
    assert!(!Acl::from_bytes(&list).unwrap().entries().is_empty());
}

#[test]
fn a_list_is_set_by_its_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let user = Token::own().unwrap().user().unwrap();
    let capability = Sid::capability(random::numbers().unwrap());
    let list = bytes_of([
        allow(Rights::FILE_ALL, &user).with_flags(AceFlags::TREE),
        allow(Rights::WRITABLE_ROOT, &capability).with_flags(AceFlags::TREE),
    ]);
    let rights = Rights(Rights::READ_CONTROL.0 | Rights::WRITE_DAC.0);
    let opened = open(directory.path(), rights, LastName::Itself).unwrap();
    set_file_dacl(opened.as_handle(), &list, true).unwrap();
    assert!(set_file_dacl(opened.as_handle(), &list[..list.len() - 4], true).is_err());
    let read = file_dacl(opened.as_handle()).unwrap();
    // Whoever could do everything before still can.
    std::fs::write(directory.path().join("file"), "x").unwrap();
    if skipped_on_wine("keeps no entries of files but those that a mode can say") {
        return;
    }
    assert!(read.protected);
    assert_eq!(read.bytes, Some(list));
    let below = open(
        &directory.path().join("file"),
        Rights::READ_CONTROL,
        LastName::Itself,
    )
    .unwrap();
    let inherited = file_dacl(below.as_handle()).unwrap().bytes.unwrap();
    assert!(Acl::from_bytes(&inherited).unwrap().mentions(&capability));
}

#[test]
fn a_directory_is_made_with_its_list_also_where_paths_are_long() {
    let directory = tempfile::tempdir().unwrap();
    let user = Token::own().unwrap().user().unwrap();
    let list = bytes_of([allow(Rights::FILE_ALL, &user).with_flags(AceFlags::TREE)]);
    let descriptor = Descriptor::new(&list).unwrap();
    let mut path = directory.path().to_path_buf();
    for _ in 0..3 {
        path.push("n".repeat(120));
        make_directory(&path, &descriptor).unwrap();
    }
    assert!(path.as_os_str().len() > 260);
    let again = make_directory(&path, &descriptor).unwrap_err();
    assert_eq!(again.kind(), std::io::ErrorKind::AlreadyExists);
    std::fs::write(path.join("file"), "x").unwrap();
    if !is_wine() {
        let opened = open(&path, Rights::READ_CONTROL, LastName::Itself).unwrap();
        assert_eq!(file_dacl(opened.as_handle()).unwrap().bytes, Some(list));
    }
}

#[test]
fn this_process_is_alive_and_was_not_started_at_another_moment() {
    let (id, started) = (std::process::id(), own_start().unwrap());
    assert!(is_alive(id, started));
    assert!(!is_alive(id, started + 1));
    let child = super::start_child(&["exit", "0"], &[]);
    child.wait(Some(super::PATIENCE)).unwrap().unwrap();
    // Its handle is still open, so its number is not used again: it is known, and has ended.
    let moment = crate::sys::process::start_of(child.handle()).unwrap();
    assert!(!is_alive(child.id(), moment));
}

#[test]
fn random_numbers_differ() {
    let one = random::bytes::<32>().unwrap();
    let other = random::bytes::<32>().unwrap();
    assert_ne!(one, other);
    assert_ne!(one, [0; 32]);
}
