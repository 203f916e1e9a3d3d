//! Which questions system calls ask.

use palisade_policy::AbsolutePath;
use palisade_seatbelt::model::{Address, SystemCall, known_operations};

fn abs(path: &str) -> AbsolutePath {
    AbsolutePath::new(path).unwrap()
}

fn asked(call: &SystemCall) -> Vec<String> {
    let ask = |request: &palisade_seatbelt::model::Request| match &request.path {
        Some(path) => format!("{} {path}", request.operation),
        None => request.operation.to_string(),
    };
    call.requests().iter().map(ask).collect()
}

#[test]
fn a_rename_is_an_unlink_and_a_create() {
    let rename = |replaces| SystemCall::Rename {
        from: abs("/a"),
        to: abs("/b"),
        replaces,
    };
    assert_eq!(
        asked(&rename(false)),
        ["file-write-unlink /a", "file-write-create /b"]
    );
    assert_eq!(
        asked(&rename(true)),
        [
            "file-write-unlink /a",
            "file-write-create /b",
            "file-write-unlink /b"
        ]
    );
    let swap = SystemCall::Swap {
        one: abs("/a"),
        other: abs("/b"),
    };
    assert_eq!(asked(&swap).len(), 4);
}

#[test]
fn links_and_clones_ask_about_what_is_there() {
    let link = SystemCall::Link {
        existing: abs("/a"),
        new: abs("/b"),
    };
    assert_eq!(asked(&link), ["file-link /a", "file-write-create /b"]);
    let clone = SystemCall::Clone {
        existing: abs("/a"),
        new: abs("/b"),
    };
    assert_eq!(
        asked(&clone),
        ["file-clone /a", "file-read-data /a", "file-write-create /b"]
    );
}

#[test]
fn executing_asks_about_every_directory_above() {
    assert_eq!(
        asked(&SystemCall::Execute(abs("/usr/bin/env"))),
        [
            "process-exec* /usr/bin/env",
            "file-read-data /usr/bin/env",
            "file-read-metadata /usr/bin/env",
            "file-read-metadata /usr/bin",
            "file-read-metadata /usr",
            "file-read-metadata /",
        ]
    );
}

#[test]
fn a_local_socket_is_a_path() {
    let socket = || Address::Unix(abs("/srv/app/s"));
    assert_eq!(
        asked(&SystemCall::Connect(socket())),
        ["network-outbound /srv/app/s"]
    );
    assert_eq!(
        asked(&SystemCall::Bind(socket())),
        ["network-bind /srv/app/s", "file-write-create /srv/app/s"]
    );
    assert_eq!(
        asked(&SystemCall::Listen(socket())),
        ["network-inbound /srv/app/s"]
    );
}

#[test]
fn every_question_is_about_a_known_operation() {
    let path = || abs("/a");
    let known: Vec<_> = known_operations().collect();
    for call in [
        SystemCall::OpenForReading(path()),
        SystemCall::Stat(path()),
        SystemCall::ReadAttribute(path()),
        SystemCall::OpenForWriting(path()),
        SystemCall::Truncate(path()),
        SystemCall::ChangeMode(path()),
        SystemCall::ChangeOwner(path()),
        SystemCall::ChangeFlags(path()),
        SystemCall::ChangeTimes(path()),
        SystemCall::WriteAttribute(path()),
        SystemCall::ChangeAcl(path()),
        SystemCall::Create(path()),
        SystemCall::MakeDirectory(path()),
        SystemCall::MakeSymlink(path()),
        SystemCall::Unlink(path()),
        SystemCall::RemoveDirectory(path()),
        SystemCall::Execute(path()),
        SystemCall::Socket("AF_UNIX".to_owned()),
    ] {
        for request in call.requests() {
            assert!(known.contains(&request.operation), "{}", request.operation);
        }
    }
}
