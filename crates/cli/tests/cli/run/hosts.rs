//! The network by host: what `--net=HOST` and a policy's list open, what they do not, and what is told and kept about it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::support::House;

/// A certificate that somebody could trust. Nobody has its key any more.
#[cfg(feature = "intercept")]
const AUTHORITY: &str = "-----BEGIN CERTIFICATE-----
MIIBdjCCARygAwIBAgIUFvmzENpbj0HKXhZwtc09gfkArQQwCgYIKoZIzj0EAwIw
IDEeMBwGA1UEAwwVQXV0aG9yaXR5IG9mIHRoZSB0ZXN0MCAXDTc1MDEwMTAwMDAw
MFoYDzQwOTYwMTAxMDAwMDAwWjAgMR4wHAYDVQQDDBVBdXRob3JpdHkgb2YgdGhl
IHRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQYcErqZpcnBgUxNwW1K1SO
M1dPiF8Fj+CMJAOzn7frOYMEZI/wtMien1299p5Hh1nw6SgNYBtGwOKst+QwrruA
ozIwMDAdBgNVHQ4EFgQUCAGuOaW/UdA/QaKJd/3CfGZO8nQwDwYDVR0TAQH/BAUw
AwEB/zAKBggqhkjOPQQDAgNIADBFAiA1dR3AAGiTg77G5PfXxGTo8DSRjtxVQL+5
ekcbgTD0HAIhAL1jp+qRTPX7aWQNZGp2tbrZEoprPf5QBTChEWN+8Nat
-----END CERTIFICATE-----
";

/// A server on this machine's loopback that answers everybody with a page, and keeps what it was asked.
fn server() -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let heads = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heads);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            kept.lock().unwrap().push(head(&mut stream));
            let _ = stream.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\na page\n",
            );
        }
    });
    (port, heads)
}

fn head(stream: &mut TcpStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// Through the proxy, though it is an address of loopback; by a program that no rule knows.
fn curl(house: &House, port: u16) -> Vec<String> {
    let program = house.project().join("fetch");
    if !program.exists() {
        fs::copy("/usr/bin/curl", program).unwrap();
    }
    let url = format!("http://127.0.0.1:{port}/page");
    let words = [
        "--",
        "./fetch",
        "-sS",
        "--fail",
        "--noproxy",
        "",
        "--max-time",
        "20",
        &url,
    ];
    words.map(str::to_owned).to_vec()
}

fn run(flags: &[&str], words: Vec<String>) -> Vec<String> {
    let flags = ["run", "--approval", "never"].iter().chain(flags);
    flags.map(|word| (*word).to_owned()).chain(words).collect()
}

#[test]
fn a_host_that_is_named_is_reached_and_no_other() {
    let house = House::new();
    let ((open, _), (closed, asked)) = (server(), server());
    let net = format!("--net=127.0.0.1:{open}");
    let fine = house.say(run(&[&net], curl(&house, open)));
    assert_eq!((fine.code, fine.out.as_str()), (0, "a page\n"), "{fine:?}");
    let refused = house.say(run(&[&net], curl(&house, closed)));
    assert_ne!(refused.code, 0, "{refused:?}");
    assert_eq!(refused.out, "");
    assert!(asked.lock().unwrap().is_empty());
    let text = refused.err;
    assert!(text.contains(&format!("127.0.0.1:{closed}")), "{text}");
    // Both are in the record, with what decided.
    let records = house.say(["audit"]).out;
    assert!(
        records.contains(&format!(
            "connect to 127.0.0.1:{open} (listed as 127.0.0.1:{open}), "
        )),
        "{records}"
    );
    assert!(
        records.contains(&format!("connect to 127.0.0.1:{closed}, 0 bytes sent")),
        "{records}"
    );
    assert!(records.contains("    refused: "), "{records}");
}

#[test]
fn a_secret_of_the_users_policy_is_added_outside_and_known_nowhere_else() {
    let house = House::new();
    let (port, heads) = server();
    let policy = format!(
        "[network]\nallow = [\"127.0.0.1:{port}\"]\n\
         [[network.inject]]\nhost = \"127.0.0.1:{port}\"\nheader = \"Authorization\"\nprefix = \"Bearer \"\nfrom-env = \"HOUSE_WORD\"\n"
    );
    house.write(
        ".config/palisade/policy.toml",
        &format!("version = 1\n{policy}"),
    );
    let unset = house.say(run(&[], curl(&house, port)));
    assert_eq!(unset.code, 126, "{unset:?}");
    assert!(unset.err.contains("the variable is not set"), "{unset:?}");
    let mut command = house.palisade();
    let output = command
        .args(run(&[], curl(&house, port)))
        .env("HOUSE_WORD", "hunter2")
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"a page\n", "{output:?}");
    let heads = heads.lock().unwrap();
    assert!(
        heads[0]
            .to_ascii_lowercase()
            .contains("authorization: bearer hunter2\r\n"),
        "{heads:?}"
    );
    let mut command = house.palisade();
    let inside = command
        .args(["run", "--", "env"])
        .env("HOUSE_WORD", "hunter2")
        .output()
        .unwrap();
    let inside = String::from_utf8_lossy(&inside.stdout).into_owned();
    assert!(
        !inside.contains("hunter2") && inside.contains("HTTPS_PROXY="),
        "{inside}"
    );
    assert!(!house.say(["audit", "--json"]).out.contains("hunter2"));
}

#[cfg(feature = "intercept")]
#[test]
fn the_users_policy_opens_tls_and_commands_are_told_whom_to_trust() {
    let house = House::new();
    house.write("trusted.pem", AUTHORITY);
    let trusted = house.home().join("trusted.pem").display().to_string();
    let policy = |more: &str| {
        let text = format!(
            "version = 1\n[network]\nallow = [\"api.example\"]\n[[network.inject]]\nhost = \"api.example\"\n\
             header = \"Authorization\"\nfrom-env = \"HOUSE_WORD\"\n{more}"
        );
        house.write(".config/palisade/policy.toml", &text);
    };
    let count = |trusted: &str| {
        let mut command = house.palisade();
        let output = command
            .args([
                "run",
                "--",
                "sh",
                "-c",
                "grep -H -c BEGIN \"${SSL_CERT_FILE-/dev/null}\"",
            ])
            .env("HOUSE_WORD", "hunter2")
            .env("SSL_CERT_FILE", trusted)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        (
            String::from_utf8_lossy(&output.stdout).trim().to_owned(),
            told,
        )
    };
    policy("intercept = true\n");
    // The one that the user trusts, and the session's own.
    let (counted, told) = count(&trusted);
    let (file, count_of_file) = counted.split_once(':').unwrap_or_default();
    assert_eq!(count_of_file, "2", "{counted}{told}");
    assert_ne!(file, trusted);
    // Nothing of it is left.
    assert!(!fs::exists(std::path::Path::new(file).parent().unwrap()).unwrap());
    let shown = house.say(["policy", "show"]);
    assert!(shown.out.contains("in TLS that is opened"), "{shown:?}");
    let (_, told) = count("/nowhere.pem");
    assert!(told.contains("SSL_CERT_FILE cannot be read"), "{told}");
    assert!(told.contains("nothing ran"), "{told}");
    // Off unless it is said.
    policy("");
    let (counted, _) = count(&trusted);
    assert!(!counted.ends_with(":2"), "{counted}");
}

#[test]
fn a_program_that_is_killed_mid_transfer_leaves_no_connection_open() {
    const MUCH: usize = 4 << 20;
    let house = House::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        head(&mut stream);
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        let (block, mut sent) = ([b'x'; 64 << 10], 0);
        while stream.write_all(&block).is_ok() {
            sent += block.len();
            if sent == MUCH {
                tell.send("in the middle").unwrap();
            }
        }
        tell.send("over").unwrap();
    });
    let net = format!("--net=127.0.0.1:{port}");
    let mut child = house
        .palisade()
        .args(run(&[&net], curl(&house, port)))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let time = Duration::from_secs(30);
    assert_eq!(told.recv_timeout(time), Ok("in the middle"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(told.recv_timeout(time), Ok("over"));
}

#[test]
fn a_project_binds_no_secret_of_the_user() {
    let house = House::new();
    let project = house.project().join(".palisade");
    fs::create_dir_all(&project).unwrap();
    let text = "version = 1\n[[network.inject]]\nhost = \"evil.example\"\nheader = \"X\"\nfrom-env = \"HOME\"\n";
    fs::write(project.join("policy.toml"), text).unwrap();
    let said = house.say(["run", "--", "true"]);
    assert_ne!(said.code, 0, "{said:?}");
    assert!(
        said.err
            .contains("only your own policy file binds secrets to hosts"),
        "{said:?}"
    );
}
