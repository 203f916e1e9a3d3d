//! What goes in and comes out is what went in and came out, byte for byte, however much and however slowly.

use std::ffi::OsStr;
use std::fs;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::{end_of, until};
use crate::support::House;

const MIB: usize = 1024 * 1024;

/// So many bytes of every value, the same every time.
fn noise(many: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(many + 8);
    while bytes.len() < many {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(many);
    bytes
}

fn read_all(mut from: PipeReader) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

fn write_all(mut to: PipeWriter, bytes: Vec<u8>) -> thread::JoinHandle<()> {
    thread::spawn(move || to.write_all(&bytes).unwrap())
}

/// Feeds a program, and returns its code, what it wrote, and what it complained.
fn fed(command: &mut Command, bytes: &[u8]) -> (Option<i32>, Vec<u8>, Vec<u8>) {
    let (input, ours) = std::io::pipe().unwrap();
    let (out, out_theirs) = std::io::pipe().unwrap();
    let (err, err_theirs) = std::io::pipe().unwrap();
    let mut child = command
        .stdin(input)
        .stdout(out_theirs)
        .stderr(err_theirs)
        .spawn()
        .unwrap();
    command.stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let writing = write_all(ours, bytes.to_vec());
    let (out, err) = (read_all(out), read_all(err));
    let code = end_of(&mut child).code();
    writing.join().unwrap();
    (code, out.join().unwrap(), err.join().unwrap())
}

#[track_caller]
fn same(seen: &[u8], wanted: &[u8]) {
    // Not shown: there may be a hundred megabytes of it.
    assert_eq!(seen.len(), wanted.len());
    assert!(seen == wanted, "the bytes differ");
}

#[test]
fn every_byte_goes_through_all_three_streams() {
    let house = House::new();
    let bytes: Vec<u8> = (0..=255).cycle().take(256 * 257).collect();
    let (code, out, err) = fed(house.palisade().args(["run", "--", "cat"]), &bytes);
    assert_eq!(code, Some(0), "{}", String::from_utf8_lossy(&err));
    same(&out, &bytes);
    let script = ["run", "--", "sh", "-c", "cat >&2"];
    let (code, out, err) = fed(house.palisade().args(script), &bytes);
    assert_eq!((code, out), (Some(0), Vec::new()));
    same(&err, &bytes);
}

#[test]
fn a_hundred_megabytes_go_through_each_stream() {
    let house = House::new();
    let bytes = noise(100 * MIB);
    let (code, out, _) = fed(house.palisade().args(["run", "--", "cat"]), &bytes);
    assert_eq!(code, Some(0));
    same(&out, &bytes);
    drop(out);
    let script = ["run", "--", "sh", "-c", "cat >&2"];
    let (code, _, err) = fed(house.palisade().args(script), &bytes);
    assert_eq!(code, Some(0));
    same(&err, &bytes);
}

#[test]
fn both_streams_in_one_pipe_keep_their_order() {
    let house = House::new();
    let (ours, theirs) = std::io::pipe().unwrap();
    let script = "i=0; while [ $i -lt 500 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done";
    let mut command = house.palisade();
    command
        .args(["run", "--", "sh", "-c", script])
        .stdout(theirs.try_clone().unwrap())
        .stderr(theirs);
    let mut child = command.spawn().unwrap();
    drop(command);
    let seen = String::from_utf8(read_all(ours).join().unwrap()).unwrap();
    assert_eq!(end_of(&mut child).code(), Some(0), "{seen}");
    let wanted: String = (0..500).map(|i| format!("out {i}\nerr {i}\n")).collect();
    assert_eq!(seen, wanted);
}

#[test]
fn both_streams_in_one_file_keep_their_order() {
    let house = House::new();
    let path = house.project().join("log");
    let log = fs::File::create(&path).unwrap();
    let script = "echo one; echo two >&2; echo three; echo four >&2";
    let status = house
        .palisade()
        .args(["run", "--", "sh", "-c", script])
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(house.read("log"), "one\ntwo\nthree\nfour\n");
}

#[test]
fn a_file_is_read_and_written_in_place() {
    let house = House::new();
    let bytes = noise(3 * MIB);
    fs::write(house.home().join("input"), &bytes).unwrap();
    let output = house.home().join("output");
    let status = house
        .palisade()
        .args(["run", "--", "cat"])
        .stdin(fs::File::open(house.home().join("input")).unwrap())
        .stdout(fs::File::create(&output).unwrap())
        .status()
        .unwrap();
    assert!(status.success());
    same(&fs::read(output).unwrap(), &bytes);
}

#[test]
fn arguments_and_variables_that_are_no_text_arrive_as_they_are() {
    let house = House::new();
    let odd = OsStr::from_bytes(b"\xff\xfe\n\x01'\"$x ");
    let said = house
        .palisade()
        .args(["run", "--", "printf", "%s"])
        .arg(odd)
        .output()
        .unwrap();
    assert_eq!(said.stdout, odd.as_bytes(), "{said:?}");
    let mut flag = b"ODD=".to_vec();
    flag.extend_from_slice(odd.as_bytes());
    let said = house
        .palisade()
        .args(["run", "--env"])
        .arg(OsStr::from_bytes(&flag))
        .args(["--", "printenv", "ODD"])
        .output()
        .unwrap();
    let mut line = odd.as_bytes().to_vec();
    line.push(b'\n');
    assert_eq!(said.stdout, line, "{said:?}");
}

#[test]
fn a_variable_is_passed_on_by_name_and_not_otherwise() {
    let house = House::new();
    let print = |flags: &[&str]| {
        let output = house
            .palisade()
            .env("DEPLOY_TOKEN", "sesame")
            .arg("run")
            .args(flags)
            .args(["--", "sh", "-c", "echo ${DEPLOY_TOKEN-unset} ${NEW-unset}"])
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(print(&[]), "unset unset\n");
    assert_eq!(print(&["--env", "DEPLOY_TOKEN"]), "sesame unset\n");
    assert_eq!(print(&["--env", "NEW=1", "--env", "GONE"]), "unset 1\n");
}

#[test]
fn a_command_whose_reader_is_gone_ends_as_it_would_without_us() {
    let house = House::new();
    // The signal of a broken pipe, or the end that a shell makes of it for its last command.
    for script in ["exec yes", "exec yes >&2"] {
        let (ours, theirs) = std::io::pipe().unwrap();
        let mut command = house.palisade();
        command.args(["run", "--", "sh", "-c", script]);
        match script.contains("2") {
            true => command.stderr(theirs).stdout(Stdio::null()),
            false => command.stdout(theirs).stderr(Stdio::null()),
        };
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut ours = ours;
        let mut first = [0; 2];
        ours.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"y\n");
        drop(ours);
        assert_eq!(end_of(&mut child).code(), Some(128 + 13), "{script}");
    }
}

#[test]
fn closed_streams_are_no_reason_to_fail() {
    let house = House::new();
    let status = house
        .command("sh")
        .args(["-c", r#"exec "$0" "$@" <&- >&- 2>&-"#])
        .arg(house.palisade().get_program())
        .args(["run", "--", "sh", "-c"])
        .arg("cat; echo out; echo err >&2; echo ran > note")
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(0));
    assert_eq!(house.read("note"), "ran\n");
}

#[test]
fn a_timeout_does_not_wait_for_a_reader_that_reads_nothing() {
    let house = House::new();
    for both in [false, true] {
        let (ours, theirs) = std::io::pipe().unwrap();
        let mut command = house.palisade();
        command
            .args(["run", "--timeout", "1s", "--", "sh", "-c", "yes >&2"])
            .stderr(theirs.try_clone().unwrap());
        if both {
            command.stdout(theirs.try_clone().unwrap());
        }
        let mut child = command.spawn().unwrap();
        assert_eq!(end_of(&mut child).code(), Some(124));
        drop((ours, theirs));
    }
}

#[test]
fn a_slow_reader_gets_everything_after_the_command_has_ended() {
    let house = House::new();
    let (mut ours, theirs) = std::io::pipe().unwrap();
    let script = "head -c 100000 /dev/zero >&2; echo > written";
    let mut command = house.palisade();
    command
        .args(["run", "--", "sh", "-c", script])
        .stderr(theirs);
    let mut child = command.spawn().unwrap();
    drop(command);
    until("the command has written all", || {
        house.project().join("written").exists()
    });
    // Longer than anybody waits for what others hold open.
    thread::sleep(Duration::from_millis(700));
    let mut bytes = Vec::new();
    ours.read_to_end(&mut bytes).unwrap();
    same(&bytes, &[0; 100_000]);
    assert_eq!(end_of(&mut child).code(), Some(0));
}

#[test]
fn the_callers_descriptors_keep_their_flags() {
    let house = House::new();
    let (ours, theirs) = std::io::pipe().unwrap();
    let mut command = house.palisade();
    command
        .args(["run", "--", "sh", "-c", "echo out; echo err >&2"])
        .stdout(theirs.try_clone().unwrap())
        .stderr(theirs.try_clone().unwrap());
    let status = command.status().unwrap();
    assert!(status.success());
    let flags = rustix::fs::fcntl_getfl(&theirs).unwrap();
    assert!(!flags.contains(rustix::fs::OFlags::NONBLOCK));
    drop((command, theirs));
    let seen = read_all(ours).join().unwrap();
    assert_eq!(String::from_utf8(seen).unwrap(), "out\nerr\n");
}
