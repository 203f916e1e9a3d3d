//! What is not listed, or not said plainly, is refused with a reason, and nothing goes anywhere.

use palisade_egress_proxy::{
    AddressProblem, Ending, Refusal,
    wire::{HeadProblem, SocksProblem},
};
use palisade_policy::HostProblem;

use crate::stage::{FINE, PUBLIC, Stage, Web, echo, get, plan, wait_until};

/// A proxy that opens two ports of one host; everything resolves to something that looks public.
fn stage() -> Stage {
    plan()
        .open("docs.test", 80, Web::new(FINE).address)
        .allow("docs.test", 443)
        .name("evil.test", &[PUBLIC])
        .start()
}

/// Asks for this host and port in every way, and each is refused like this, untried.
#[track_caller]
fn check(host: &str, port: u16, expected: &Refusal) {
    let authority = if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    };
    let mut socks = vec![5, 1, 0, 5, 1, 0, 3, u8::try_from(host.len()).unwrap()];
    socks.extend(host.as_bytes());
    socks.extend(port.to_be_bytes());
    let connect = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n");
    for request in [get(&authority).into_bytes(), connect.into_bytes(), socks] {
        let stage = stage();
        let answer = stage.ask(&request);
        let shown = request.escape_ascii();
        assert_eq!(stage.refusal(), *expected, "{shown}");
        assert_eq!(stage.records(1)[0].ending, Ending::Refused);
        assert!(stage.tried().is_empty(), "{shown}: {:?}", stage.tried());
        assert!(stage.names.asked.lock().unwrap().is_empty(), "{shown}");
        if request.starts_with(b"\x05") {
            assert_eq!(answer[..4], [5, 0, 5, 2], "{shown}");
        } else {
            assert!(answer.starts_with(b"HTTP/1.1 40"), "{shown}");
        }
    }
}

#[test]
fn other_hosts_and_ports() {
    check("evil.test", 80, &Refusal::NotListed);
    check("docs.test", 8080, &Refusal::NotListed);
    check("sub.docs.test", 80, &Refusal::NotListed);
    check("docs.test.evil.test", 443, &Refusal::NotListed);
    check("xn--dcs-gna.test", 80, &Refusal::NotListed);
}

#[test]
fn local_names() {
    check("localhost", 80, &Refusal::LocalName);
    check("Sub.LOCALHOST.", 80, &Refusal::LocalName);
}

#[test]
fn addresses() {
    let literal = |problem| Refusal::Literal { problem };
    check("127.0.0.1", 80, &literal(AddressProblem::Loopback));
    check("::1", 80, &literal(AddressProblem::Loopback));
    check("::ffff:127.0.0.1", 80, &literal(AddressProblem::Loopback));
    check("::ffff:a9fe:a9fe", 80, &literal(AddressProblem::Metadata));
    check("169.254.169.254", 80, &literal(AddressProblem::Metadata));
    check("10.1.2.3", 443, &literal(AddressProblem::Private));
    check("0.0.0.0", 80, &literal(AddressProblem::Unspecified));
    check("64:ff9b::7f00:1", 80, &literal(AddressProblem::Loopback));
    check(PUBLIC, 80, &Refusal::NotListed);
}

#[test]
fn numbers_that_some_take_for_addresses() {
    let problem = HostProblem::Numeric;
    for host in [
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "0x7f.0.0.1",
        "1.2.3.4.5",
    ] {
        check(host, 80, &Refusal::NotAHost { problem });
    }
}

#[test]
fn names_that_are_none() {
    let not = |problem| Refusal::NotAHost { problem };
    check(&"a".repeat(64), 80, &not(HostProblem::TooLong));
    check(&("a.".repeat(127) + "a"), 80, &not(HostProblem::TooLong));
    check("a..test", 80, &not(HostProblem::EmptyLabel));
    check("docs.test@evil.test", 80, &not(HostProblem::BadCharacter));
    check("*.test", 80, &not(HostProblem::BadCharacter));
}

/// A name over SOCKS, where every byte can be in it.
fn socks_name(name: &[u8]) -> Refusal {
    let stage = stage();
    let mut request = vec![5, 1, 0, 5, 1, 0, 3, u8::try_from(name.len()).unwrap()];
    request.extend(name);
    request.extend([0, 80]);
    stage.ask(&request);
    assert!(stage.tried().is_empty());
    stage.refusal()
}

#[test]
fn nul_lines_and_letters_beyond_ascii_over_socks() {
    let not = |problem| Refusal::NotAHost { problem };
    assert_eq!(socks_name(b"evil.test\0.docs.test"), not(HostProblem::Nul));
    assert_eq!(socks_name(b"docs.test\0"), not(HostProblem::Nul));
    assert_eq!(
        socks_name(b"docs.test\r\nX: y"),
        not(HostProblem::BadCharacter)
    );
    assert_eq!(socks_name(b"docs.test "), not(HostProblem::BadCharacter));
    assert_eq!(socks_name(b""), not(HostProblem::Empty));
    let problem = SocksProblem::NotAscii;
    assert_eq!(
        socks_name("b\u{fc}cher.test".as_bytes()),
        Refusal::Socks { problem }
    );
    assert_eq!(socks_name(b"\xff\xfe"), Refusal::Socks { problem });
}

#[test]
fn nul_lines_and_letters_beyond_ascii_over_http() {
    let head = |problem| Refusal::Head { problem };
    for (request, expected) in [
        (
            "CONNECT docs.test\0.evil.test:443 HTTP/1.1\r\n\r\n",
            head(HeadProblem::Nul),
        ),
        (
            "CONNECT docs.test:443\r\nX: y HTTP/1.1\r\n\r\n",
            head(HeadProblem::Malformed("the first line is malformed")),
        ),
        (
            "GET http://docs.test/\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            head(HeadProblem::Malformed("the first line is malformed")),
        ),
        (
            "GET http://b\u{fc}cher.test/ HTTP/1.1\r\nHost: x\r\n\r\n",
            head(HeadProblem::Malformed("the target is not plain ASCII")),
        ),
        (
            "GET http://docs.test%0d%0a.evil.test/ HTTP/1.1\r\nHost: x\r\n\r\n",
            Refusal::NotAHost {
                problem: HostProblem::BadCharacter,
            },
        ),
        (
            "GET / HTTP/1.1\r\nHost: docs.test\r\n\r\n",
            head(HeadProblem::TargetForm),
        ),
        (
            "GET https://docs.test/ HTTP/1.1\r\nHost: docs.test\r\n\r\n",
            head(HeadProblem::TargetForm),
        ),
    ] {
        let stage = stage();
        let answer = stage.ask_text(request);
        assert!(answer.starts_with("HTTP/1.1 400 "), "{request:?}: {answer}");
        assert_eq!(stage.refusal(), expected, "{request:?}");
        assert!(stage.tried().is_empty());
    }
}

#[test]
fn other_kinds_of_socks() {
    let socks = |problem| Refusal::Socks { problem };
    for (request, answer, expected) in [
        // Version 4 with an address, and 4a with a name.
        (
            &b"\x04\x01\x00\x50\x5d\xb8\xd8\x22user\0"[..],
            &b"\0\x5b\0\0\0\0\0\0"[..],
            socks(SocksProblem::Version4),
        ),
        (
            b"\x04\x01\x00\x50\0\0\0\x01\0docs.test\0",
            b"\0\x5b\0\0\0\0\0\0",
            socks(SocksProblem::Version4),
        ),
        (
            b"\x05\x01\x00\x05\x02\x00\x03\x09docs.test\x00\x50",
            b"\x05\0\x05\x07\0\x01\0\0\0\0\0\0",
            socks(SocksProblem::Bind),
        ),
        (
            b"\x05\x01\x00\x05\x03\x00\x03\x09docs.test\x00\x50",
            b"\x05\0\x05\x07\0\x01\0\0\0\0\0\0",
            socks(SocksProblem::Udp),
        ),
        (
            b"\x05\x01\x02",
            b"\x05\xff",
            socks(SocksProblem::Authentication),
        ),
        (
            b"\x05\x01\x00\x05\x01\x00\x09aaaaaa",
            b"\x05\0\x05\x08\0\x01\0\0\0\0\0\0",
            socks(SocksProblem::AddressKind),
        ),
        (
            b"\x05\x01\x00\x05\x01\x00\x03\x09docs.test\0\0",
            b"\x05\0\x05\x02\0\x01\0\0\0\0\0\0",
            Refusal::NotAHost {
                problem: HostProblem::PortZero,
            },
        ),
    ] {
        let stage = stage();
        assert_eq!(stage.ask(request), answer, "{}", request.escape_ascii());
        assert_eq!(stage.refusal(), expected);
        assert!(stage.tried().is_empty());
    }
}

#[test]
fn other_protocols() {
    let stage = stage();
    let answer = stage.ask(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert_eq!(answer[..10], [0, 0, 0, 4, 0, 0, 0, 0, 0, 0]);
    assert!(
        answer.ends_with(b"use HTTP/1.1"),
        "{}",
        answer.escape_ascii()
    );
    assert_eq!(stage.refusal(), Refusal::Http2);
    let stage = self::stage();
    assert_eq!(
        stage.ask(b"\x16\x03\x01\x00\x05hello"),
        b"\x15\x03\x01\0\x02\x02\x46"
    );
    assert_eq!(stage.refusal(), Refusal::TlsToProxy);
    let stage = self::stage();
    assert!(stage.ask(b"\0\x01\x02").starts_with(b"HTTP/1.1 400 "));
    assert_eq!(stage.refusal(), Refusal::UnknownProtocol);
}

#[test]
fn a_redirect_leads_nowhere_else() {
    let web =
        Web::new("HTTP/1.1 302 Found\r\nLocation: http://evil.test/\r\nContent-Length: 0\r\n\r\n");
    let stage = plan()
        .open("docs.test", 80, web.address)
        .name("evil.test", &[PUBLIC])
        .start();
    // On one connection, as a client follows it.
    let answer = stage.ask_text(&(get("docs.test") + &get("evil.test")));
    assert!(
        answer.contains("302 Found") && answer.contains("403 Forbidden"),
        "{answer}"
    );
    let records = stage.records(2);
    assert_eq!(records[1].host.as_deref(), Some("evil.test"));
    assert_eq!(records[1].ending, Ending::Refused);
    assert_eq!(stage.tried().len(), 1);
}

#[test]
fn names_that_nobody_knows_and_servers_that_are_not_there() {
    let stage = plan()
        .allow("gone.test", 80)
        .allow("down.test", 80)
        .name("down.test", &[PUBLIC])
        .start();
    assert!(
        stage
            .ask_text(&get("gone.test"))
            .starts_with("HTTP/1.1 502 ")
    );
    assert_eq!(stage.records(1)[0].ending, Ending::Unresolved);
    assert!(
        stage
            .ask_text(&get("down.test"))
            .starts_with("HTTP/1.1 502 ")
    );
    assert_eq!(stage.records(2)[1].ending, Ending::Unreachable);
}

#[test]
fn an_empty_list_opens_nothing() {
    let stage = plan()
        .name("docs.test", &[PUBLIC])
        .road(PUBLIC, 7, echo())
        .start();
    assert!(
        stage
            .ask_text("CONNECT docs.test:7 HTTP/1.1\r\nHost: docs.test:7\r\n\r\n")
            .starts_with("HTTP/1.1 403")
    );
    assert_eq!(stage.refusal(), Refusal::NotListed);
    let json = serde_json::to_value(&stage.records(1)[0]).unwrap();
    assert_eq!(json["decision"], "refused");
    assert_eq!(json["why"]["code"], "not-listed");
    wait_until(|| stage.proxy.open_connections() == 0);
}
