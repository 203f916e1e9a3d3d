//! Requests that two programs would read in two ways never reach a server.

use std::io::Write as _;
use std::time::{Duration, Instant};

use palisade_egress_proxy::wire::{BodyProblem, HeadProblem};
use palisade_egress_proxy::{Ending, Refusal};

use crate::stage::{FINE, Stage, Web, plan};

fn head(problem: HeadProblem) -> Refusal {
    Refusal::Head { problem }
}

fn stage(web: &Web) -> Stage {
    plan()
        .open("docs.test", 80, web.address)
        .limits(|limits| {
            limits.head_bytes = 4096;
            limits.head_time = Duration::from_millis(700);
        })
        .start()
}

/// A request that is refused like this, before anybody is connected to.
#[track_caller]
fn check(request: &str, status: &str, expected: &Refusal) {
    let web = Web::new(FINE);
    let stage = stage(&web);
    let answer = stage.ask_text(request);
    assert!(
        answer.starts_with(&format!("HTTP/1.1 {status} ")),
        "{request:?}: {answer}"
    );
    assert_eq!(stage.refusal(), *expected, "{request:?}");
    assert!(stage.tried().is_empty(), "{request:?}");
    assert!(web.requests().is_empty(), "{request:?}");
}

#[track_caller]
fn check_lines(lines: &str, status: &str, problem: HeadProblem) {
    let request = format!(
        "POST http://docs.test/ HTTP/1.1\r\nHost: docs.test\r\n{lines}\r\n0\r\n\r\nGET /evil HTTP/1.1\r\n\r\n"
    );
    check(&request, status, &head(problem));
}

#[test]
fn two_framings() {
    check_lines(
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "400",
        HeadProblem::LengthAndEncoding,
    );
    check_lines(
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "400",
        HeadProblem::LengthAndEncoding,
    );
    check_lines(
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "400",
        HeadProblem::Length,
    );
    check_lines(
        "Content-Length: 5\r\nContent-Length: 5\r\n",
        "400",
        HeadProblem::Length,
    );
    check_lines(
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "400",
        HeadProblem::Encoding,
    );
    check_lines(
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "400",
        HeadProblem::Encoding,
    );
    check_lines(
        "Transfer-Encoding: x, chunked\r\n",
        "400",
        HeadProblem::Encoding,
    );
}

#[test]
fn lines_that_are_not_quite_lines() {
    check_lines(
        "Transfer-Encoding : chunked\r\n",
        "400",
        HeadProblem::Malformed("a header's name is malformed"),
    );
    check_lines("X: a\r\n folded\r\n", "400", HeadProblem::Folded);
    check_lines(
        "X: a\nTransfer-Encoding: chunked\r\n",
        "400",
        HeadProblem::BareLf,
    );
    check_lines(
        "X: a\rTransfer-Encoding: chunked\r\n",
        "400",
        HeadProblem::BareCr,
    );
    check_lines("X: a\0b\r\n", "400", HeadProblem::Nul);
}

#[test]
fn another_host_in_the_header() {
    let name = "evil.test".to_owned();
    for target in ["GET http://docs.test/", "CONNECT docs.test:80"] {
        let request = format!("{target} HTTP/1.1\r\nHost: evil.test\r\n\r\n");
        check(&request, "400", &Refusal::HostHeader { name: name.clone() });
    }
    check_lines("Host: docs.test\r\n", "400", HeadProblem::HostCount);
}

#[test]
fn upgrades_and_methods_that_read_back() {
    check_lines(
        "Upgrade: h2c\r\nConnection: Upgrade\r\n",
        "501",
        HeadProblem::Upgrade,
    );
    check(
        "TRACE http://docs.test/ HTTP/1.1\r\nHost: docs.test\r\n\r\n",
        "501",
        &head(HeadProblem::Trace),
    );
}

#[test]
fn heads_that_are_too_large() {
    check_lines(
        &format!("X: {}\r\n", "a".repeat(5000)),
        "431",
        HeadProblem::TooLong,
    );
    check_lines(&"X: a\r\n".repeat(150), "431", HeadProblem::TooManyHeaders);
    check(
        &format!("GET http://docs.test/{}", "a".repeat(5000)),
        "431",
        &head(HeadProblem::TooLong),
    );
}

#[test]
fn heads_that_never_end() {
    let web = Web::new(FINE);
    let stage = stage(&web);
    let mut stream = stage.connect();
    let started = Instant::now();
    stream
        .write_all(b"GET http://docs.test/ HTTP/1.1\r\n")
        .unwrap();
    // A line now and then; whether the last ones are still read does not matter.
    while stage.records.lock().unwrap().is_empty() && started.elapsed() < Duration::from_secs(10) {
        drop(stream.write_all(b"X: y\r\n"));
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(stage.refusal(), Refusal::TooSlow);
    assert!(started.elapsed() >= Duration::from_millis(700));
    assert!(stage.tried().is_empty());
}

#[test]
fn bodies_that_do_not_end_where_they_say() {
    for (body, problem) in [
        ("5\r\nhelloX\r\n0\r\n\r\n", BodyProblem::ChunkEnd),
        ("5;ext=1\r\nhello\r\n0\r\n\r\n", BodyProblem::Extension),
        ("0\r\nTrailer: x\r\n\r\n", BodyProblem::Trailer),
        ("zz\r\n", BodyProblem::ChunkSize),
        ("5\r\nhel", BodyProblem::Cut),
    ] {
        let web = Web::new(FINE);
        let stage = stage(&web);
        let answer = stage.ask_text(&format!(
            "POST http://docs.test/ HTTP/1.1\r\nHost: docs.test\r\nTransfer-Encoding: chunked\r\n\r\n{body}"
        ));
        assert!(answer.starts_with("HTTP/1.1 400 "), "{body:?}: {answer}");
        assert_eq!(stage.refusal(), Refusal::Body { problem }, "{body:?}");
    }
}

#[test]
fn what_is_about_the_connection_is_not_forwarded() {
    let web = Web::new(FINE);
    let stage = stage(&web);
    stage.ask_text(
        "GET http://docs.test/ HTTP/1.1\r\nHost: docs.test\r\nProxy-Authorization: Basic c2VjcmV0\r\n\
         Proxy-Connection: keep-alive\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nTE: trailers\r\nX-Stays: 1\r\n\r\n",
    );
    assert_eq!(
        web.requests(),
        ["GET / HTTP/1.1\r\nhost: docs.test\r\nx-stays: 1\r\nconnection: close\r\n\r\n"]
    );
}

#[test]
fn answers_that_split_are_not_passed_on() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        "HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n",
        "nonsense\r\n\r\n",
    ] {
        let web = Web::new(answer);
        let stage = stage(&web);
        let seen = stage.ask_text("GET http://docs.test/ HTTP/1.1\r\nHost: docs.test\r\n\r\n");
        assert!(seen.starts_with("HTTP/1.1 502 "), "{answer:?}: {seen}");
        assert_eq!(stage.records(1)[0].ending, Ending::BadAnswer);
    }
}

#[test]
fn a_tunnel_is_no_way_around() {
    for (request, expected) in [
        (
            "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
            Refusal::HostHeader {
                name: "evil.test".to_owned(),
            },
        ),
        (
            "\r\nGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
            head(HeadProblem::Malformed("the head begins with an empty line")),
        ),
        ("GET / HTTP/1.0\r\n\r\n", head(HeadProblem::HostCount)),
        (
            "GET /\r\n",
            head(HeadProblem::Malformed("the first line is malformed")),
        ),
        (
            "get http://evil.test/ HTTP/1.1\r\nHost: docs.test\r\n\r\n",
            head(HeadProblem::TunnelForm),
        ),
        (
            "GET / HTTP/1.1\nHost: evil.test\n\n",
            head(HeadProblem::BareLf),
        ),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Refusal::Http2),
        // The second request of a connection.
        (
            "GET / HTTP/1.1\r\nHost: docs.test\r\n\r\nGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
            Refusal::HostHeader {
                name: "evil.test".to_owned(),
            },
        ),
    ] {
        let web = Web::new(FINE);
        let stage = stage(&web);
        let mut tunnel = stage.tunnel("docs.test", 80);
        tunnel.write_all(request.as_bytes()).unwrap();
        if request.ends_with("GET /\r\n") {
            tunnel.write_all(b"\r\n").unwrap();
        }
        assert_eq!(stage.refusal(), expected, "{request:?}");
        assert!(
            web.requests().iter().all(|it| !it.contains("evil")),
            "{:?}",
            web.requests()
        );
    }
}
