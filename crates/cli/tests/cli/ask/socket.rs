//! `--approval-socket`: somebody who answers on a socket.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use super::house;
use crate::support::{House, Said};

/// Listens, and answers the first question with these bytes.
fn listen(path: &Path, answer: &'static str) -> std::thread::JoinHandle<String> {
    let listener = UnixListener::bind(path).unwrap();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut question = String::new();
        BufReader::new(&stream).read_line(&mut question).unwrap();
        (&stream).write_all(answer.as_bytes()).unwrap();
        question
    })
}

fn path(house: &House) -> PathBuf {
    house.home().join("answers")
}

fn ask(house: &House, path: &Path, more: &[&str]) -> Said {
    let mut palisade = house.palisade();
    palisade
        .args(["run", "--approval-timeout", "20s", "--approval-socket"])
        .arg(path)
        .args(more)
        .args(["--", "touch", "made"]);
    Said::of(palisade.output().unwrap())
}

fn made(house: &House) -> bool {
    house.project().join("made").exists()
}

#[test]
fn a_line_there_and_a_line_back() {
    let house = house();
    let thread = listen(&path(&house), "{\"v\":1,\"decision\":\"approved\"}\n");
    let said = ask(&house, &path(&house), &[]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(made(&house));
    let question: serde_json::Value = serde_json::from_str(&thread.join().unwrap()).unwrap();
    assert_eq!(question["display"], "touch made");
    assert_eq!(question["type"], "question");
}

#[test]
fn every_failure_is_a_no() {
    for answer in [
        "",
        "\n",
        "yes\n",
        "{\"decision\":\"denied\"}\n",
        "{\"decision\":",
    ] {
        let house = house();
        let thread = listen(&path(&house), answer);
        let said = ask(&house, &path(&house), &[]);
        assert_eq!(said.code, 126, "{answer}: {said:?}");
        assert!(!made(&house), "{answer}");
        thread.join().unwrap();
    }
    // Nobody listens any more.
    let house = house();
    drop(UnixListener::bind(path(&house)).unwrap());
    let said = ask(&house, &path(&house), &[]);
    assert_eq!(said.code, 126, "{said:?}");
    assert!(said.err.contains("nobody could be asked"), "{said:?}");
    assert!(!made(&house));
}

#[test]
fn one_who_is_silent_is_a_no() {
    let house = house();
    let listener = UnixListener::bind(path(&house)).unwrap();
    let mut palisade = house.palisade();
    palisade
        .args(["run", "--approval-timeout", "1s", "--approval-socket"])
        .arg(path(&house))
        .args(["--", "touch", "made"]);
    let said = Said::of(palisade.output().unwrap());
    assert_eq!(said.code, 126, "{said:?}");
    assert!(said.err.contains("no answer in time"), "{said:?}");
    assert!(!made(&house));
    drop(listener);
}

#[test]
fn a_file_a_missing_socket_and_one_within_reach_are_refused() {
    let house = house();
    house.write("file", "");
    for (wrong, why) in [
        (house.home().join("file"), "not a socket"),
        (house.home().join("missing"), "No such file"),
    ] {
        let said = ask(&house, &wrong, &[]);
        assert_eq!(said.code, 126, "{said:?}");
        assert!(said.err.contains(why), "{said:?}");
    }
    let inside = house.project().join("answers");
    let _listener = UnixListener::bind(&inside).unwrap();
    let said = ask(&house, &inside, &[]);
    assert_eq!(said.code, 126, "{said:?}");
    assert!(said.err.contains("could answer for itself"), "{said:?}");
    let outside = path(&house);
    let _listener = UnixListener::bind(&outside).unwrap();
    let grant = format!("unix-socket:{}", outside.display());
    let said = ask(&house, &outside, &["--grant", &grant]);
    assert_eq!(said.code, 126, "{said:?}");
    assert!(said.err.contains("could speak to it"), "{said:?}");
    assert!(!made(&house));
}
