//! Every shape in which something inside may ask for what it must not reach: refused, nothing sent, and the audit says why.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::sync::{Arc, Mutex};

use crate::hosts::{Online, asks_nothing, no, stdout};
use crate::made_up_net::{MadeUp, host, server};
use crate::support::Stage;

/// A tunnel by HTTP.
fn connect(target: &str) -> Vec<u8> {
    format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").into_bytes()
}

/// A tunnel by SOCKS5, to a name.
fn socks5(name: &[u8], port: u16) -> Vec<u8> {
    let mut bytes = vec![5, 1, 0, 5, 1, 0, 3, u8::try_from(name.len()).unwrap()];
    bytes.extend_from_slice(name);
    bytes.extend(port.to_be_bytes());
    bytes
}

/// A plain request to the listed host with these lines, and another one hidden behind it.
fn smuggled(lines: &str) -> Vec<u8> {
    format!(
        "POST http://docs.test/ HTTP/1.1\r\nHost: docs.test\r\n{lines}\r\n0\r\n\r\n\
         GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n"
    )
    .into_bytes()
}

/// What is sent, and what the audit says about it.
fn shapes() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let long = format!("{}.test:80", "a".repeat(300));
    vec![
        ("another host", connect("evil.test:80"), "does not list"),
        ("another port", connect("docs.test:81"), "does not list"),
        ("an address", connect("93.184.216.34:80"), "does not list"),
        (
            "an inner address",
            connect("10.0.0.1:80"),
            "only if the policy lists that address",
        ),
        (
            "mapped into IPv6",
            connect("[::ffff:10.0.0.1]:80"),
            "only if the policy lists that address",
        ),
        (
            "a decimal address",
            connect("167772161:80"),
            "this is no host",
        ),
        (
            "an octal address",
            connect("012.0.0.1:80"),
            "this is no host",
        ),
        (
            "a hexadecimal address",
            connect("0x0a.0.0.1:80"),
            "this is no host",
        ),
        ("a trailing dot", connect("evil.test.:80"), "does not list"),
        ("upper case", connect("EVIL.TEST:80"), "does not list"),
        ("punycode", connect("xn--dcs-fna.test:80"), "does not list"),
        (
            "letters beyond ASCII",
            connect("döcs.test:80"),
            "not plain ASCII",
        ),
        (
            "a NUL",
            connect("docs.test\0.evil.test:80"),
            "contains a NUL",
        ),
        (
            "a NUL in SOCKS",
            socks5(b"evil.test\0.docs.test", 80),
            "this is no host",
        ),
        (
            "a line break",
            connect("docs.test:80\r\nX: evil.test"),
            "the first line is malformed",
        ),
        (
            "a line break in SOCKS",
            socks5(b"docs.test\r\nevil.test", 80),
            "this is no host",
        ),
        ("a long name", connect(&long), "this is no host"),
        (
            "a long name in SOCKS",
            socks5(&[b'a'; 255], 80),
            "this is no host",
        ),
        ("rebinding", connect("inner.test:80"), "10.0.0.1"),
        (
            "rebinding to metadata",
            connect("meta.test:80"),
            "169.254.169.254",
        ),
        ("this machine", connect("localhost:80"), "a local name"),
        ("SOCKS4", vec![4, 1, 0, 80, 93, 184, 216, 34, 0], "SOCKS"),
        (
            "SOCKS4a",
            b"\x04\x01\x00\x50\x00\x00\x00\x01\x00docs.test\x00".to_vec(),
            "SOCKS",
        ),
        (
            "UDP",
            vec![5, 1, 0, 5, 3, 0, 1, 93, 184, 216, 34, 0, 80],
            "SOCKS",
        ),
        (
            "a length and an encoding",
            smuggled("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
            "malformed",
        ),
        (
            "two lengths",
            smuggled("Content-Length: 5\r\nContent-Length: 50\r\n"),
            "malformed",
        ),
        ("a folded line", smuggled("X: a\r\n b\r\n"), "malformed"),
        ("a bare line feed", smuggled("X: a\nY: b\r\n"), "malformed"),
        (
            "a chunk with more to say",
            smuggled("Transfer-Encoding: chunked\r\n\r\n1;x\r\na\r\n"),
            "malformed",
        ),
        (
            "another Host",
            b"GET http://docs.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n".to_vec(),
            "the Host header names `evil.test`",
        ),
        (
            "TLS to the proxy",
            vec![22, 3, 1, 0, 1, 0],
            "does not speak TLS",
        ),
        ("neither", b"\0\0\0".to_vec(), "neither HTTP nor SOCKS"),
    ]
}

#[test]
fn each_is_refused_with_a_reason_in_the_audit() {
    let stage = Stage::new();
    // Whoever comes this far is noticed.
    let seen: Arc<Mutex<String>> = Arc::default();
    let kept = Arc::clone(&seen);
    let docs = server(move |mut stream| {
        let mut all = Vec::new();
        drop(stream.read_to_end(&mut all));
        kept.lock()
            .unwrap()
            .push_str(&String::from_utf8_lossy(&all));
        drop(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nARRIVED"));
    });
    let net = Arc::new(
        MadeUp::default()
            .with("docs.test", 80, docs)
            .named("inner.test", "10.0.0.1")
            .named("meta.test", "169.254.169.254"),
    );
    let policy = stage
        .policy()
        .approval(asks_nothing())
        .grant(host("docs.test", 80))
        .grant(host("inner.test", 80))
        .grant(host("meta.test", 80));
    let online = Online::new(&stage, &net, policy, no);
    let shapes = shapes();
    let mut script =
        "speak() { exec 3<>/dev/tcp/127.0.0.1/3128; cat $1 >&3; timeout 5 cat <&3; exec 3<&-; }\n"
            .to_owned();
    for (index, (_, bytes, _)) in shapes.iter().enumerate() {
        fs::write(stage.path(&format!("workspace/shape-{index}")), bytes).unwrap();
        // One after another, so that records are in order.
        writeln!(script, "speak shape-{index} >answer-{index}").unwrap();
    }
    fs::write(stage.path("workspace/speak.sh"), script).unwrap();
    let run = online.run("bash speak.sh; echo done");
    assert_eq!(stdout(&run), "done\n", "{run}");
    let records = online.records.connections();
    assert_eq!(records.len(), shapes.len());
    for (index, ((shape, _, reason), record)) in shapes.iter().zip(&records).enumerate() {
        let said = record.refusal.clone().unwrap_or_default();
        assert_eq!(
            record.outcome.as_deref(),
            Some("refused"),
            "{shape}: {record:?}"
        );
        assert!(!said.is_empty() && said.contains(reason), "{shape}: {said}");
        let answer = fs::read(stage.path(&format!("workspace/answer-{index}"))).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(
            !answer.contains("ARRIVED") && !answer.contains(" 200 "),
            "{shape}: {answer}"
        );
    }
    // Only what was listed was looked up, and only a body that was still to come had a connection.
    let listed = ["inner.test", "meta.test", "docs.test"];
    assert_eq!(*net.resolved.lock().unwrap(), listed);
    assert_eq!(net.connected.lock().unwrap().len(), 1);
    assert!(!seen.lock().unwrap().contains("evil"));
}

#[test]
fn a_redirect_and_another_name_in_tls_lead_nowhere() {
    let stage = Stage::new();
    let docs = server(|mut stream| {
        let mut first = [0; 1024];
        let count = stream.read(&mut first).unwrap_or(0);
        let answer = "HTTP/1.1 302 Found\r\nLocation: http://evil.test/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        if first[..count].starts_with(b"GET ") {
            drop(stream.write_all(answer.as_bytes()));
        }
    });
    let net = Arc::new(
        MadeUp::default()
            .with("docs.test", 80, docs)
            .with("docs.test", 443, docs),
    );
    let policy = stage
        .policy()
        .approval(asks_nothing())
        .grant(host("docs.test", 80))
        .grant(host("docs.test", 443));
    let online = Online::new(&stage, &net, policy, no);
    let redirected = online.curl("--location http://docs.test/");
    assert!(!redirected.outcome.success(), "{redirected}");
    let fronted = online.curl("--connect-to evil.test:443:docs.test:443 https://evil.test/");
    assert!(!fronted.outcome.success(), "{fronted}");
    let records = online.records.connections();
    let [first, redirect, front] = records.as_slice() else {
        panic!("{records:?}")
    };
    assert_eq!(first.outcome.as_deref(), Some("complete"));
    let reason = |record: &palisade_runner::audit::AuditRecord| record.refusal.clone().unwrap();
    assert!(reason(redirect).contains("does not list"), "{redirect:?}");
    assert_eq!(
        front.connection.as_ref().unwrap().host.as_deref(),
        Some("docs.test")
    );
    assert!(
        reason(front).contains("TLS names the host `evil.test`"),
        "{front:?}"
    );
}
