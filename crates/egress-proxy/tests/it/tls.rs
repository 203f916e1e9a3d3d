//! TLS in a tunnel names the tunnel's own host, or does not begin.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use palisade_egress_proxy::wire::HelloProblem;
use palisade_egress_proxy::{Decision, Ending, Refusal};

use crate::stage::{PUBLIC, Stage, echo, plan, wait_until};

fn vector16(data: &[u8]) -> Vec<u8> {
    let mut out = u16::try_from(data.len()).unwrap().to_be_bytes().to_vec();
    out.extend(data);
    out
}

fn sni(name: &str) -> (u16, Vec<u8>) {
    let mut entry = vec![0];
    entry.extend(vector16(name.as_bytes()));
    (0, vector16(&entry))
}

/// A ClientHello in records of this size.
fn hello(extensions: &[(u16, Vec<u8>)], size: usize) -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.extend([0, 0, 2, 0x13, 1, 1, 0]);
    let mut list = Vec::new();
    for (kind, data) in extensions {
        list.extend(kind.to_be_bytes());
        list.extend(vector16(data));
    }
    body.extend(vector16(&list));
    let mut message = vec![1, 0];
    message.extend(vector16(&body));
    let mut out = Vec::new();
    for part in message.chunks(size) {
        out.extend([22, 3, 1]);
        out.extend(vector16(part));
    }
    out
}

fn stage() -> Stage {
    plan().open("docs.test", 443, echo()).start()
}

/// Sends this, and everything comes back.
fn passes(tunnel: &mut TcpStream, bytes: &[u8]) {
    tunnel.write_all(bytes).unwrap();
    let mut back = vec![0; bytes.len()];
    tunnel.read_exact(&mut back).unwrap();
    assert!(back == bytes);
}

/// Sends this first in a tunnel, which is refused, and the server hears nothing of it.
#[track_caller]
fn refused(bytes: &[u8], expected: &Refusal) {
    let stage = stage();
    let mut tunnel = stage.tunnel("docs.test", 443);
    tunnel.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    drop(tunnel.read_to_end(&mut answer));
    assert_eq!(stage.refusal(), *expected);
    let record = &stage.records(1)[0];
    assert_eq!((record.sent, record.ending), (0, Ending::Refused));
    assert_eq!(answer.get(..2), Some(&[21, 3][..]), "an alert of TLS");
}

#[test]
fn the_same_name_passes_however_it_is_cut() {
    let stage = stage();
    for (size, piece) in [(16_000, 16_000), (16_000, 7), (20, 16_000), (20, 33)] {
        let mut tunnel = stage.tunnel("docs.test", 443);
        let hello = hello(&[(10, vec![0; 1500]), sni("DOCS.test")], size);
        for piece in hello.chunks(piece) {
            tunnel.write_all(piece).unwrap();
            if piece.len() > 30 {
                thread::sleep(Duration::from_millis(1));
            }
        }
        let mut back = vec![0; hello.len()];
        tunnel.read_exact(&mut back).unwrap();
        assert!(back == hello);
        // What follows is encrypted, and nobody's business.
        passes(&mut tunnel, &[20, 3, 3, 0, 1, 1, 23, 3, 3, 0, 3, 1, 2, 3]);
        passes(&mut tunnel, b"anything");
    }
}

#[test]
fn another_name_is_refused() {
    for name in [
        "evil.test",
        "docs.test.evil.test",
        "xdocs.test",
        "sub.docs.test",
    ] {
        let why = Refusal::ServerName {
            name: name.to_owned(),
        };
        refused(&hello(&[sni(name)], 16_000), &why);
        refused(&hello(&[sni(name)], 5), &why);
    }
}

#[test]
fn names_that_are_missing_hidden_or_doubled_are_refused() {
    refused(&hello(&[], 500), &Refusal::NoServerName);
    refused(
        &hello(&[sni("docs.test"), (0xfe0d, vec![0, 1])], 500),
        &Refusal::EncryptedHello,
    );
    let problem = HelloProblem::Malformed("an extension occurs twice");
    refused(
        &hello(&[sni("docs.test"), sni("evil.test")], 500),
        &Refusal::Hello { problem },
    );
    let problem = HelloProblem::EarlyData;
    refused(
        &hello(&[sni("docs.test"), (42, vec![])], 500),
        &Refusal::Hello { problem },
    );
    let problem = HelloProblem::Ssl2;
    refused(
        b"\x80\x2e\x01\x03\x01\x00\x15\x00\x00",
        &Refusal::Hello { problem },
    );
    let problem = HelloProblem::TooLong;
    refused(
        &hello(&[(10, vec![0; 40_000]), sni("docs.test")], 16_000),
        &Refusal::Hello { problem },
    );
}

#[test]
fn a_second_hello_names_the_same_host_too() {
    let first = hello(&[sni("docs.test")], 500);
    let change = [20, 3, 3, 0, 1, 1];
    let stage = stage();
    for between in [&[][..], &change] {
        let mut tunnel = stage.tunnel("docs.test", 443);
        passes(&mut tunnel, &first);
        passes(&mut tunnel, &[between, &first].concat());
        passes(&mut tunnel, b"anything");
        drop(tunnel);
    }
    let stage = self::stage();
    for (at, between) in [&[][..], &change].into_iter().enumerate() {
        let mut tunnel = stage.tunnel("docs.test", 443);
        passes(&mut tunnel, &first);
        let second = hello(&[sni("evil.test")], 3);
        tunnel.write_all(&[between, &second].concat()).unwrap();
        let name = "evil.test".to_owned();
        let why = Refusal::ServerName { name };
        assert_eq!(
            stage.records(at + 1)[at].decision,
            Decision::Refused { why }
        );
    }
}

#[test]
fn a_hello_is_not_waited_for_without_end() {
    let stage = plan()
        .open("docs.test", 443, echo())
        .limits(|limits| limits.head_time = Duration::from_millis(300))
        .start();
    let mut tunnel = stage.tunnel("docs.test", 443);
    tunnel
        .write_all(&hello(&[sni("docs.test")], 500)[..20])
        .unwrap();
    assert_eq!(stage.refusal(), Refusal::TooSlow);
    wait_until(|| stage.proxy.open_connections() == 0);
}

#[test]
fn an_address_has_no_name_to_send() {
    let stage = plan().allow(PUBLIC, 443).road(PUBLIC, 443, echo()).start();
    let mut tunnel = stage.tunnel(PUBLIC, 443);
    passes(&mut tunnel, &hello(&[], 500));
    drop(tunnel);
    let mut tunnel = stage.tunnel(PUBLIC, 443);
    tunnel.write_all(&hello(&[sni("evil.test")], 500)).unwrap();
    let name = "evil.test".to_owned();
    let refused = Decision::Refused {
        why: Refusal::ServerName { name },
    };
    wait_until(|| {
        stage
            .records
            .lock()
            .unwrap()
            .iter()
            .any(|it| it.decision == refused)
    });
}

#[test]
fn socks_is_held_to_the_same() {
    let stage = stage();
    let mut stream = stage.connect();
    stream
        .write_all(b"\x05\x01\x00\x05\x01\x00\x03\x09docs.test\x01\xbb")
        .unwrap();
    stream.write_all(&hello(&[sni("evil.test")], 500)).unwrap();
    let mut answer = Vec::new();
    drop(stream.read_to_end(&mut answer));
    assert!(matches!(stage.refusal(), Refusal::ServerName { .. }));
    assert_eq!(stage.records(1)[0].sent, 0);
}
