//! Published observations and documentation, each as a case that the model must reproduce. The marks are those of the
//! documents they come from: `P` published by others, `D` documentation.

use palisade_windows_token::Sid;
use palisade_windows_token::acl::{Ace, AceKind, Rights};
use palisade_windows_token::model::vectors::{People, normal_cases, restricted_cases};
use palisade_windows_token::model::{
    Descriptor, FileSystem, Operation, OwnerCheck, Pass, Privilege, Switches, Token, WriteType,
    check, everything_for,
};

use crate::support::{
    FULL, MODIFY, abs, allow, attempt, attempt_with, capability, confined, deny, disk, here, logon,
    rename, sid, unconfined, user, users, with_directory, with_entry, with_file,
};

fn people() -> People {
    People {
        user: user(),
        group: Sid::everyone(),
        deny_only: Sid::administrators(),
        stranger: sid("S-1-5-21-9-9-9-9"),
        capability: capability(1),
    }
}

#[test]
fn one_pass_answers_as_documented() {
    let people = people();
    for switches in Switches::all() {
        for case in normal_cases() {
            let said = check(
                &case.token(&people),
                &case.descriptor(&people),
                case.desired,
                switches,
            );
            assert_eq!(said.is_ok(), case.granted, "{}: {said:?}", case.name);
        }
    }
}

#[test]
fn two_passes_answer_as_published() {
    let people = people();
    for case in restricted_cases() {
        let said = check(
            &case.token(&people),
            &case.descriptor(&people),
            case.desired,
            Switches::PUBLISHED,
        );
        assert_eq!(said.is_ok(), case.granted, "{}: {said:?}", case.name);
    }
}

/// A workspace in a directory that the user may modify, and a file outside.
fn scene(rights: Rights) -> FileSystem {
    let files = with_directory(disk(), "/srv/app", rights);
    let files = with_file(files, "/srv/app/old.txt");
    let files = with_file(files, "/srv/app/.git/config");
    let files = with_directory(files, "/home/dev", rights);
    with_file(files, "/home/dev/notes.txt")
}

fn opened(files: FileSystem, rights: Rights) -> FileSystem {
    with_entry(files, "/srv/app", allow(rights, capability(1)))
}

fn write(path: &str) -> Operation {
    Operation::Write(abs(path))
}

fn delete(path: &str) -> Operation {
    Operation::Delete(abs(path))
}

/// [P1] Both passes must allow; which one refuses is known.
#[test]
fn the_second_pass_is_the_sandbox() {
    let files = opened(scene(MODIFY), Rights::WRITABLE_ROOT);
    let token = confined([capability(1), logon()]);
    assert!(attempt(&files, &token, &write("/srv/app/old.txt")));
    assert!(!attempt(&files, &token, &write("/home/dev/notes.txt")));
    assert!(attempt(
        &files,
        &token,
        &Operation::Read(abs("/home/dev/notes.txt"))
    ));
    let notes = &files.at(&abs("/home/dev/notes.txt")).unwrap().descriptor;
    let refused = check(&token, notes, Rights::WRITE_DATA, Switches::PUBLISHED).unwrap_err();
    assert_eq!((refused.pass, refused.entry), (Pass::Restriction, None));
}

/// [P2] Without `DELETE` in the entry of the capability, tools cannot delete what was there before.
#[test]
fn removing_needs_delete_in_the_entry() {
    let token = confined([capability(1), logon()]);
    let without = Rights::WRITABLE_ROOT & !Rights::DELETE;
    let old = delete("/srv/app/old.txt");
    assert!(!attempt(&opened(scene(MODIFY), without), &token, &old));
    assert!(attempt(
        &opened(scene(MODIFY), Rights::WRITABLE_ROOT),
        &token,
        &old
    ));
}

/// [P2] `FILE_DELETE_CHILD` in the entry of a directory removes children that deny it.
#[test]
fn delete_child_defeats_denials_below() {
    let token = confined([capability(1), logon()]);
    let guard = |files| {
        let denial = deny(Rights::CHANGES, capability(1));
        with_entry(files, "/srv/app/.git/config", here(denial))
    };
    let config = delete("/srv/app/.git/config");
    let files = guard(opened(
        scene(FULL & !Rights::DELETE_CHILD),
        Rights::WRITABLE_ROOT,
    ));
    assert!(!attempt(&files, &token, &config));
    let careless = Rights::WRITABLE_ROOT | Rights::DELETE_CHILD;
    for switches in Switches::all() {
        let files = guard(opened(scene(FULL), careless));
        assert!(attempt_with(&files, &token, &config, switches));
    }
}

/// [openai/codex#32915] `FILE_DELETE_CHILD` that the *user* has on a directory is not checked a second time: restricted or
/// not, he deletes and moves what it holds, outside and inside.
#[test]
fn full_control_over_a_directory_removes_what_it_holds() {
    let token = confined([capability(1), logon()]);
    let denial = deny(Rights::CHANGES, capability(1));
    let files = |rights| {
        let files = opened(scene(rights), Rights::WRITABLE_ROOT);
        with_entry(files, "/srv/app/.git", denial.clone())
    };
    let outside = delete("/home/dev/notes.txt");
    let aside = rename("/srv/app/.git", "/srv/app/aside");
    let taken = rename("/home/dev/notes.txt", "/srv/app/notes.txt");
    for attack in [&outside, &aside, &taken] {
        assert!(attempt(&files(FULL), &token, attack), "{attack:?}");
        assert!(!attempt(&files(MODIFY), &token, attack), "{attack:?}");
        let wished = Switches::PUBLISHED.with_write_type(WriteType::Widest);
        assert!(
            !attempt_with(&files(FULL), &token, attack, wished),
            "{attack:?}"
        );
    }
    // The workspace itself goes as well, and what may be written there goes along.
    let mut moved = with_entry(
        files(FULL),
        "/srv/app",
        here(deny(Rights::DELETE, capability(1))),
    );
    moved = with_entry(moved, "/srv", here(allow(FULL, user())));
    let away = rename("/srv/app", "/srv/elsewhere");
    away.perform(&mut moved, &token, Switches::PUBLISHED)
        .unwrap();
    assert!(attempt(&moved, &token, &write("/srv/elsewhere/old.txt")));
    // An entry that denies it to somebody who is in the first pass holds.
    let held = with_entry(
        files(FULL),
        "/srv/app",
        here(deny(Rights::DELETE_CHILD, logon())),
    );
    assert!(!attempt(&held, &token, &aside));
    // It does not hold the user back from deleting what he may delete for its own sake.
    assert!(attempt(&held, &unconfined(), &delete("/srv/app/old.txt")));
}

/// [P3, P4] Everyone among the restricting identifiers opens what everybody may write.
#[test]
fn everyone_opens_what_everybody_may_write() {
    let files = with_directory(scene(MODIFY), "/srv/share", MODIFY);
    let files = with_entry(files, "/srv/share", allow(FULL, Sid::everyone()));
    let plant = Operation::CreateFile(abs("/srv/share/planted"));
    let careless = confined([capability(1), logon(), Sid::everyone()]);
    assert!(attempt(&files, &careless, &plant));
    for switches in Switches::all() {
        let token = confined([capability(1), logon()]);
        assert!(!attempt_with(&files, &token, &plant, switches));
    }
}

/// [P4] The user's own identifier among the restricting ones is no restriction at all.
#[test]
fn the_user_among_the_restricting_identifiers_is_no_sandbox() {
    let files = scene(FULL);
    let token = confined([capability(1), logon(), user()]);
    assert!(attempt(&files, &token, &write("/home/dev/notes.txt")));
}

/// [P5] Reading cannot be denied through a capability; without the flag nothing of the system can be read.
#[test]
fn reading_is_denied_only_without_the_flag() {
    let files = with_file(scene(MODIFY), "/windows/cmd.exe");
    let denial = deny(Rights::FILE_READ, capability(1));
    let files = with_entry(files, "/home/dev/notes.txt", here(denial));
    let secret = Operation::Read(abs("/home/dev/notes.txt"));
    let program = Operation::Read(abs("/windows/cmd.exe"));
    let writing = confined([capability(1), logon()]);
    let everything = unconfined().restricted([capability(1), logon()], false);
    for switches in Switches::all() {
        assert!(attempt_with(&files, &writing, &secret, switches));
        assert!(attempt_with(&files, &writing, &program, switches));
        assert!(!attempt_with(&files, &everything, &secret, switches));
        assert!(!attempt_with(&files, &everything, &program, switches));
    }
}

/// [P6] With the default list of the user a pipe that the command makes is closed to itself; with the capability or the
/// logon session in it, it is open.
#[test]
fn a_pipe_needs_the_session_in_the_default_list() {
    let both_ends = Rights::FILE_READ | Rights::FILE_WRITE;
    let his = here(allow(FULL, user()));
    let pipe = |token: &Token| {
        let nothing = Descriptor::new(user(), []);
        let new = Descriptor::of_new(
            &nothing,
            palisade_windows_token::model::Kind::File,
            &token.user,
            None,
            &token.default_dacl,
        );
        check(token, &new, both_ends, Switches::PUBLISHED).is_ok()
    };
    let kept = confined([capability(1), logon()]).with_default_dacl(vec![his.clone()]);
    assert!(!pipe(&kept));
    let session = here(allow(FULL, logon()));
    let mended = confined([capability(1), logon()]).with_default_dacl(vec![his, session]);
    assert!(pipe(&mended));
}

/// [S1] An entry that a crash left behind opens nothing to a token without its capability.
#[test]
fn entries_of_inactive_capabilities_open_nothing() {
    let files = opened(scene(MODIFY), Rights::WRITABLE_ROOT);
    for switches in Switches::all() {
        let token = confined([capability(2), logon()]);
        assert!(!attempt_with(
            &files,
            &token,
            &write("/srv/app/old.txt"),
            switches
        ));
    }
}

/// [D] A list goes along when its object moves, so a rename does not unprotect it; but a directory above it can go, and a
/// fresh one take its place.
#[test]
fn a_guard_goes_along_and_the_place_is_free() {
    let token = confined([capability(1), logon()]);
    let mut files = opened(scene(MODIFY), Rights::WRITABLE_ROOT);
    let inner = Operation::CreateDirectory(abs("/srv/app/pkg"));
    inner
        .perform(&mut files, &token, Switches::PUBLISHED)
        .unwrap();
    for operation in [
        Operation::CreateDirectory(abs("/srv/app/pkg/.git")),
        Operation::CreateFile(abs("/srv/app/pkg/.git/config")),
    ] {
        operation
            .perform(&mut files, &token, Switches::PUBLISHED)
            .unwrap();
    }
    let denial = deny(Rights::CHANGES, capability(1));
    let mut files = with_entry(files, "/srv/app/pkg/.git", denial.clone());
    let do_now = |files: &mut FileSystem, operation: Operation| {
        operation
            .perform(files, &token, Switches::PUBLISHED)
            .is_ok()
    };
    assert!(!do_now(
        &mut files,
        rename("/srv/app/pkg/.git", "/srv/app/pkg/aside")
    ));
    assert!(do_now(&mut files, rename("/srv/app/pkg", "/srv/app/away")));
    assert!(!do_now(&mut files, write("/srv/app/away/.git/config")));
    assert!(do_now(
        &mut files,
        Operation::CreateDirectory(abs("/srv/app/pkg"))
    ));
    assert!(do_now(
        &mut files,
        Operation::CreateDirectory(abs("/srv/app/pkg/.git"))
    ));
    assert!(do_now(
        &mut files,
        Operation::CreateFile(abs("/srv/app/pkg/.git/config"))
    ));
}

/// Why `WRITE_DAC` matters: if the second pass does not look at it, whoever has full control opens everything.
#[test]
fn a_list_that_can_be_changed_is_no_wall() {
    let token = confined([capability(1), logon()]);
    let notes = abs("/home/dev/notes.txt");
    let open_up = Operation::SetDacl(notes.clone(), everything_for(&capability(1)));
    for (write_type, passes) in [
        (WriteType::Narrow, true),
        (WriteType::Wide, false),
        (WriteType::Widest, false),
    ] {
        for switches in Switches::all_with(write_type) {
            let files = scene(FULL);
            assert_eq!(attempt_with(&files, &token, &open_up, switches), passes);
        }
    }
    // The rights of an owner alone do it only if each pass judges them for itself and the second does not look.
    let owned = Descriptor::new(user(), []);
    for switches in Switches::all() {
        let passes =
            switches.write_type == WriteType::Narrow && switches.owner == OwnerCheck::EachPass;
        let said = check(&token, &owned, Rights::WRITE_DAC, switches);
        assert_eq!(said.is_ok(), passes, "{switches:?}");
    }
}

/// [D] Privileges override lists, restricted or not: so a plan drops them.
#[test]
fn privileges_override_lists() {
    let token = confined([capability(1), logon()]);
    let closed = Descriptor::new(sid("S-1-5-21-9-9-9-9"), []);
    let asks = |token: &Token, rights| check(token, &closed, rights, Switches::PUBLISHED).is_ok();
    let restore = token.clone().with_privilege(Privilege::Restore);
    assert!(asks(
        &restore,
        Rights::FILE_WRITE | Rights::DELETE | Rights::WRITE_DAC
    ));
    assert!(!asks(&restore, Rights::READ_DATA));
    let backup = token.clone().with_privilege(Privilege::Backup);
    assert!(asks(&backup, Rights::FILE_READ));
    assert!(!asks(&backup, Rights::WRITE_DATA));
    let owner = token.with_privilege(Privilege::TakeOwnership);
    assert!(asks(&owner, Rights::WRITE_OWNER));
    assert!(!asks(&owner, Rights::WRITE_DAC));
}

/// [P14] What has no list is open to all.
#[test]
fn what_has_no_list_is_open() {
    let mut files = scene(MODIFY);
    let notes = files.find(&abs("/home/dev/notes.txt")).unwrap();
    files.set_descriptor(notes, Descriptor::without_list(user()));
    let token = confined([capability(1), logon()]);
    assert!(attempt(&files, &token, &write("/home/dev/notes.txt")));
}

/// A name that is spelled otherwise is the same object.
#[test]
fn the_case_of_names_does_not_matter() {
    let denial = deny(Rights::CHANGES, capability(1));
    let files = with_entry(
        opened(scene(MODIFY), Rights::WRITABLE_ROOT),
        "/srv/app/.git",
        denial,
    );
    let token = confined([capability(1), logon()]);
    assert!(!attempt(&files, &token, &write("/srv/app/.GIT/Config")));
    assert!(!attempt(
        &files,
        &token,
        &rename("/srv/app/.Git", "/srv/app/other")
    ));
}

/// A hard link does not change whose the file is.
#[test]
fn a_link_needs_the_file_and_the_directory() {
    let files = opened(scene(FULL), Rights::WRITABLE_ROOT);
    let token = confined([capability(1), logon()]);
    let link = |existing: &str, new: &str| Operation::Link {
        existing: abs(existing),
        new: abs(new),
    };
    assert!(attempt(
        &files,
        &token,
        &link("/srv/app/old.txt", "/srv/app/two")
    ));
    assert!(!attempt(
        &files,
        &token,
        &link("/srv/app/old.txt", "/home/dev/two")
    ));
    for switches in Switches::all() {
        let steal = link("/home/dev/notes.txt", "/srv/app/two");
        assert!(!attempt_with(&files, &token, &steal, switches));
    }
    assert!(attempt(
        &files,
        &unconfined(),
        &link("/home/dev/notes.txt", "/srv/app/two")
    ));
}

/// The rights of each operation, by what refuses when one is missing.
#[test]
fn each_operation_asks_for_its_rights() {
    let token = unconfined();
    let everything = scene(FULL);
    let old = "/srv/app/old.txt";
    let on_file: [(Operation, Rights); 8] = [
        (Operation::Read(abs(old)), Rights::READ_DATA),
        (write(old), Rights::WRITE_DATA),
        (Operation::Append(abs(old)), Rights::APPEND_DATA),
        (Operation::Truncate(abs(old)), Rights::WRITE_DATA),
        (Operation::SetAttributes(abs(old)), Rights::WRITE_ATTRIBUTES),
        (delete(old), Rights::DELETE),
        (rename(old, "/srv/app/new.txt"), Rights::DELETE),
        (Operation::TakeOwnership(abs(old)), Rights::WRITE_OWNER),
    ];
    for (operation, right) in on_file {
        assert!(attempt(&everything, &token, &operation), "{operation:?}");
        let denial = |rights| here(Ace::new(AceKind::Deny, rights, user()));
        // Without the directory's say, which would stand in for `DELETE`.
        let files = with_entry(everything.clone(), "/srv/app", denial(Rights::DELETE_CHILD));
        assert!(attempt(&files, &token, &operation), "{operation:?}");
        let files = with_entry(files, old, denial(right));
        assert!(!attempt(&files, &token, &operation), "{operation:?}");
    }
    let on_directory = [
        (Operation::CreateFile(abs("/srv/app/a")), Rights::WRITE_DATA),
        (
            Operation::CreateDirectory(abs("/srv/app/a")),
            Rights::APPEND_DATA,
        ),
        (
            rename("/home/dev/notes.txt", "/srv/app/a"),
            Rights::WRITE_DATA,
        ),
        (
            Operation::Copy {
                from: abs("/home/dev/notes.txt"),
                to: abs("/srv/app/a"),
            },
            Rights::WRITE_DATA,
        ),
    ];
    for (operation, right) in on_directory {
        assert!(attempt(&everything, &token, &operation), "{operation:?}");
        let denial = here(Ace::new(AceKind::Deny, right, users()));
        let files = with_entry(everything.clone(), "/srv/app", denial);
        assert!(!attempt(&files, &token, &operation), "{operation:?}");
    }
}
