//! What is listed works: plain requests with and without bodies, tunnels, SOCKS5 by name.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;

use palisade_egress_proxy::{Decision, Ending, Spoken};

use crate::stage::{FINE, PUBLIC, Web, echo, get, plan, read_head, server};

#[test]
fn a_plain_request_and_its_record() {
    let web = Web::new(FINE);
    let stage = plan().open("docs.test", 80, web.address).start();
    let answer = stage.ask_text(&get("docs.test"));
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\nfine\n"), "{answer}");
    let record = &stage.records(1)[0];
    assert_eq!(record.spoken, Spoken::Http);
    assert_eq!(record.host.as_deref(), Some("docs.test"));
    assert_eq!(record.port, Some(80));
    let entry = "docs.test:80".to_owned();
    assert_eq!(record.decision, Decision::Listed { entry });
    assert_eq!(
        record.address,
        Some(format!("{PUBLIC}:80").parse().unwrap())
    );
    assert_eq!(record.ending, Ending::Complete);
    let sent: usize = web.requests().iter().map(String::len).sum();
    assert_eq!(record.sent, u64::try_from(sent).unwrap());
    assert!(record.received > 5);
    let json = serde_json::to_value(record).unwrap();
    assert_eq!(json["decision"], "listed");
    assert_eq!(json["ending"], "complete");
}

#[test]
fn case_and_a_trailing_dot_do_not_matter() {
    let web = Web::new(FINE);
    let stage = plan().open("docs.test", 80, web.address).start();
    for host in ["DOCS.test", "docs.test.", "Docs.Test.:80"] {
        let answer = stage.ask_text(&get(host));
        assert!(answer.ends_with("fine\n"), "{host}: {answer}");
    }
    assert!(
        web.requests()
            .iter()
            .all(|it| it.contains("\r\nhost: docs.test\r\n"))
    );
}

#[test]
fn an_international_name_in_its_ascii_form() {
    let web = Web::new(FINE);
    let stage = plan().open("xn--bcher-kva.test", 80, web.address).start();
    assert!(
        stage
            .ask_text(&get("xn--bcher-kva.test"))
            .ends_with("fine\n")
    );
}

#[test]
fn bodies_by_length_and_in_chunks() {
    let web = Web::new(FINE);
    let stage = plan().open("docs.test", 80, web.address).start();
    for (headers, body) in [
        ("Content-Length: 5\r\n", "hello"),
        (
            "Transfer-Encoding: chunked\r\n",
            "5\r\nhello\r\n3\r\n...\r\n0\r\n\r\n",
        ),
        ("Content-Length: 5\r\nExpect: 100-continue\r\n", "hello"),
    ] {
        let answer = stage.ask_text(&format!(
            "POST http://docs.test/up HTTP/1.1\r\nHost: docs.test\r\n{headers}\r\n{body}"
        ));
        assert!(answer.ends_with("fine\n"), "{answer}");
        let request = web.requests().pop().unwrap();
        assert!(request.starts_with("POST /up HTTP/1.1\r\n"), "{request}");
        assert!(request.ends_with(&format!("\r\n\r\n{body}")), "{request}");
    }
}

#[test]
fn one_connection_serves_one_request_after_another() {
    let web = Web::new(FINE);
    let stage = plan().open("docs.test", 80, web.address).start();
    let pipelined = get("docs.test").repeat(3);
    let answer = stage.ask_text(&pipelined);
    assert_eq!(answer.matches("fine\n").count(), 3, "{answer}");
    assert_eq!(stage.records(3).len(), 3);
    assert_eq!(
        stage.names.asked.lock().unwrap().len(),
        3,
        "each is judged anew"
    );
}

#[test]
fn answers_of_every_shape() {
    for (answer, expected) in [
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            "2\r\nok\r\n0\r\n\r\n",
        ),
        ("HTTP/1.1 200 OK\r\n\r\nuntil the end", "until the end"),
        ("HTTP/1.0 200 OK\r\n\r\nold", "old"),
        ("HTTP/1.1 204 No Content\r\n\r\n", ""),
        ("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", ""),
        (
            "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            "ok",
        ),
    ] {
        let web = Web::new(answer);
        let stage = plan().open("docs.test", 80, web.address).start();
        let seen = stage.ask_text(&get("docs.test"));
        let (_, body) = seen.rsplit_once("\r\n\r\n").unwrap();
        let tail = expected
            .rsplit_once("\r\n\r\n")
            .map_or(expected, |(_, tail)| tail);
        assert_eq!(body, tail, "{seen:?}");
        assert!(seen.contains(expected), "{seen:?}");
    }
}

#[test]
fn a_tunnel_carries_both_ways_and_half_closes() {
    let stage = plan().open("git.test", 9418, echo()).start();
    let mut tunnel = stage.tunnel("git.test", 9418);
    let data: Vec<u8> = (0..300_000_u32)
        .map(|number| (number % 251) as u8)
        .collect();
    let mut sender = tunnel.try_clone().unwrap();
    let sent = data.clone();
    let thread = std::thread::spawn(move || {
        sender.write_all(&[0]).unwrap();
        sender.write_all(&sent).unwrap();
        sender.shutdown(Shutdown::Write).unwrap();
    });
    let mut back = Vec::new();
    tunnel.read_to_end(&mut back).unwrap();
    thread.join().unwrap();
    assert!(back[1..] == data[..], "{} bytes came back", back.len());
    let record = &stage.records(1)[0];
    assert_eq!((record.sent, record.received), (300_001, 300_001));
    assert_eq!(record.ending, Ending::Complete);
    assert_eq!(record.spoken, Spoken::Connect);
}

#[test]
fn a_server_may_speak_first() {
    let ssh = server(|mut stream| {
        stream.write_all(b"SSH-2.0-server\r\n").unwrap();
        let mut line = [0; 16];
        stream.read_exact(&mut line).unwrap();
        stream.write_all(&line).unwrap();
    });
    let stage = plan().open("git.test", 22, ssh).start();
    let mut tunnel = stage.tunnel("git.test", 22);
    let mut line = [0; 16];
    tunnel.read_exact(&mut line).unwrap();
    assert_eq!(&line, b"SSH-2.0-server\r\n");
    tunnel.write_all(b"SSH-2.0-client\r\n").unwrap();
    tunnel.read_exact(&mut line).unwrap();
    assert_eq!(&line, b"SSH-2.0-client\r\n");
}

#[test]
fn plain_http_in_a_tunnel() {
    let web = server(|mut stream| {
        while !read_head(&mut stream).is_empty() {
            stream.write_all(FINE.as_bytes()).unwrap();
        }
    });
    let stage = plan().open("docs.test", 80, web).start();
    let mut tunnel = stage.tunnel("docs.test", 80);
    for _ in 0..2 {
        tunnel
            .write_all(b"GET / HTTP/1.1\r\nHost: docs.test\r\n\r\n")
            .unwrap();
        assert!(read_head(&mut tunnel).starts_with("HTTP/1.1 200 OK"));
        let mut body = [0; 5];
        tunnel.read_exact(&mut body).unwrap();
    }
}

#[test]
fn socks_by_name() {
    let stage = plan().open("db.test", 5432, echo()).start();
    let mut stream = stage.connect();
    // Greeting, request and data at once, as an impatient client sends them.
    stream
        .write_all(b"\x05\x01\x00\x05\x01\x00\x03\x07DB.test\x15\x38\x00data")
        .unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert_eq!(answer, b"\x05\x00\x05\x00\x00\x01\0\0\0\0\0\0\x00data");
    let record = &stage.records(1)[0];
    assert_eq!(record.spoken, Spoken::Socks5);
    assert_eq!(record.host.as_deref(), Some("db.test"));
    assert_eq!(record.ending, Ending::Complete);
}

#[test]
fn an_address_that_is_listed() {
    let stage = plan().allow(PUBLIC, 7).road(PUBLIC, 7, echo()).start();
    let mut stream = stage.connect();
    stream
        .write_all(b"\x05\x01\x00\x05\x01\x00\x01\x5d\xb8\xd8\x22\x00\x07\x00hi")
        .unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer.ends_with(b"\x00hi"), "{answer:?}");
    assert!(stage.names.asked.lock().unwrap().is_empty());
}
