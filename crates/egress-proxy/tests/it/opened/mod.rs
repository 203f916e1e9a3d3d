//! TLS that the proxy opens to add a secret, and all the TLS that it does not open.

mod pki;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use palisade_egress_proxy::wire::{BodyProblem, HeadProblem};
use palisade_egress_proxy::{
    Credential, Decision, Ending, Interception, InterceptionError, Opener, Refusal, Spoken,
};
use palisade_policy::NetworkAllowlistEntry;

use self::pki::{Pki, client, pki, pki_named, serve};
use crate::stage::{FINE, PUBLIC, Plan, Stage, Web, plan, read_head, server};
use crate::tools::{curl, have};

const SECRET: &str = "hunter2";

fn entry(host: &str, port: u16) -> NetworkAllowlistEntry {
    NetworkAllowlistEntry::with_port(host, port).unwrap()
}

fn secret(host: &str, port: u16) -> Credential {
    let value = format!("Bearer {SECRET}");
    Credential::new(entry(host, port), "Authorization", value).unwrap()
}

/// A server of this name, whom the authority vouches for.
fn web(pki: &Pki, name: &str) -> Web {
    let config = pki.server(name);
    Web::over(move |stream| serve(&config, stream), FINE)
}

/// Opens TLS to `api.test` for a secret.
fn opening(pki: &Pki, server: SocketAddr) -> Plan {
    let interception = Interception::with_roots([entry("api.test", 443)], pki.pem.as_bytes());
    plan()
        .open("api.test", 443, server)
        .credential(secret("api.test", 443))
        .interception(&interception.unwrap())
}

fn authority(stage: &Stage) -> String {
    stage.opener.as_ref().unwrap().certificate().to_owned()
}

/// Sends this inside TLS to `api.test`, and reads what comes back.
fn ask(stage: &Stage, request: &str) -> String {
    let tunnel = stage.tunnel("api.test", 443);
    let mut tls = client(tunnel, "api.test", &authority(stage), &[]);
    tls.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    // An end without a farewell is an end too.
    drop(tls.read_to_end(&mut answer));
    String::from_utf8_lossy(&answer).into_owned()
}

const GET: &str =
    "GET /x HTTP/1.1\r\nHost: api.test\r\nAuthorization: mine\r\nConnection: close\r\n\r\n";

#[test]
fn a_secret_arrives_and_is_never_inside() {
    let pki = pki();
    let web = web(&pki, "api.test");
    let stage = opening(&pki, web.address).start();
    let answer = ask(&stage, GET);
    assert!(
        answer.ends_with("fine\n") && !answer.contains(SECRET),
        "{answer}"
    );
    assert_eq!(
        web.requests(),
        [
            "GET /x HTTP/1.1\r\nhost: api.test\r\nauthorization: Bearer hunter2\r\nconnection: close\r\n\r\n"
        ]
    );
    let records = stage.records(1);
    assert_eq!(records.len(), 1, "{records:?}");
    let record = &records[0];
    assert_eq!(record.spoken, Spoken::OpenedTls);
    assert_eq!(record.ending, Ending::Complete);
    assert!(record.credential && record.sent > 0 && record.received > 0);
    let told = format!("{records:?}{}", serde_json::to_string(&records).unwrap());
    assert!(
        told.contains("opened-tls") && !told.contains(SECRET),
        "{told}"
    );
}

#[test]
fn curl_trusts_the_session_and_knows_no_secret() {
    if !have("curl") {
        return;
    }
    let pki = pki();
    for scheme in ["http", "socks5h"] {
        let web = web(&pki, "api.test");
        let stage = opening(&pki, web.address).start();
        let directory = tempfile::tempdir().unwrap();
        let trusted = directory.path().join("session.pem");
        fs::write(&trusted, authority(&stage)).unwrap();
        let trace = directory.path().join("trace");
        let (trusted, trace) = (trusted.to_str().unwrap(), trace.to_str().unwrap());
        let large = "a".repeat(300_000);
        let data = directory.path().join("data");
        fs::write(&data, &large).unwrap();
        let data = format!("@{}", data.display());
        let output = curl(
            &stage,
            scheme,
            &[
                "--cacert",
                trusted,
                "--trace-ascii",
                trace,
                "--data-binary",
                &data,
                "https://api.test/x",
                "https://api.test/y",
            ],
        );
        assert_eq!(output.stdout, b"fine\nfine\n", "{output:?}");
        let requests = web.requests();
        assert_eq!(requests.len(), 2);
        for request in requests {
            assert!(request.contains("\r\nauthorization: Bearer hunter2\r\n"));
            assert!(request.ends_with(&large));
        }
        let trace = fs::read_to_string(trace).unwrap();
        assert!(trace.contains("fine") && !trace.contains(SECRET));
        // Each request is judged, though the client had one connection for both.
        let records = stage.records(2);
        assert_eq!(records.len(), 2);
        assert!(
            records
                .iter()
                .all(|it| it.spoken == Spoken::OpenedTls && it.credential)
        );
        assert_eq!(stage.tried().len(), 2);
        // Without the session's own authority, nothing is sent.
        let output = curl(&stage, scheme, &["https://api.test/x"]);
        assert!(!output.status.success());
        let last = stage.records(3).pop().unwrap();
        assert!(
            matches!(
                &last.decision,
                Decision::Refused {
                    why: Refusal::ClientTls { .. }
                }
            ),
            "{last:?}"
        );
        assert!(!last.credential && last.sent == 0);
        assert_eq!(web.requests().len(), 2);
    }
}

#[test]
fn all_other_tls_stays_closed() {
    let pki = pki();
    // Neither a secret without leave to open, nor leave to open without a secret, nor another port is enough.
    for (opened, bound, port) in [
        (entry("other.test", 443), entry("api.test", 443), 443),
        (entry("api.test", 443), entry("other.test", 443), 443),
        (entry("api.test", 443), entry("api.test", 443), 8443),
        (entry("*.api.test", 443), entry("*.api.test", 443), 443),
    ] {
        let web = web(&pki, "api.test");
        let stage = plan()
            .open("api.test", port, web.address)
            .credential(Credential::new(bound, "Authorization", SECRET).unwrap())
            .interception(&Interception::with_roots([opened], pki.pem.as_bytes()).unwrap())
            .start();
        let tunnel = stage.tunnel("api.test", port);
        // The server's own certificate: the client trusts nobody else.
        let mut tls = client(tunnel, "api.test", &pki.pem, &["h2", "http/1.1"]);
        tls.write_all(GET.as_bytes()).unwrap();
        assert!(read_head(&mut tls).starts_with("HTTP/1.1 200 "));
        assert_eq!(tls.conn.alpn_protocol(), Some(&b"h2"[..]));
        drop(tls);
        let request = web.requests().pop().unwrap();
        assert!(request.contains("Authorization: mine") && !request.contains(SECRET));
        let record = &stage.records(1)[0];
        assert_eq!((record.spoken, record.credential), (Spoken::Connect, false));

        let tunnel = stage.tunnel("api.test", port);
        let mut tls = client(tunnel, "api.test", &authority(&stage), &[]);
        assert!(
            tls.write_all(GET.as_bytes())
                .and_then(|()| tls.flush())
                .is_err()
        );
    }
}

#[test]
fn a_secret_for_tls_is_never_sent_without_it() {
    let pki = pki();
    let web = Web::new(FINE);
    let ports = [443, 8443];
    let hosts = ports.map(|port| entry("api.test", port));
    let mut plan =
        plan().interception(&Interception::with_roots(hosts, pki.pem.as_bytes()).unwrap());
    for port in ports {
        plan = plan
            .open("api.test", port, web.address)
            .credential(secret("api.test", port));
    }
    let stage = plan.start();
    for port in ports {
        let request =
            format!("GET http://api.test:{port}/ HTTP/1.1\r\nHost: api.test:{port}\r\n\r\n");
        assert!(stage.ask_text(&request).ends_with("fine\n"));
    }
    assert!(
        web.requests()
            .iter()
            .all(|request| !request.contains(SECRET))
    );
    assert!(stage.records(2).iter().all(|record| !record.credential));

    // Nor does a tunnel carry anything else to where one is added.
    let mut tunnel = stage.tunnel("api.test", 443);
    tunnel.write_all(GET.as_bytes()).unwrap();
    assert!(read_head(&mut tunnel).starts_with("HTTP/1.1 403 "));
    let refused = stage.records(3).pop().unwrap();
    assert_eq!(
        refused.decision,
        Decision::Refused {
            why: Refusal::NotTls
        }
    );
    assert_eq!(web.requests().len(), 2);
}

/// A server that is not trusted gets nothing, and the client is told why.
#[track_caller]
fn untrusted(pki: &Pki, web: &Web, expected: &str) {
    untrusted_at(pki, web.address, expected);
    assert!(web.requests().is_empty());
}

#[track_caller]
fn untrusted_at(pki: &Pki, server: SocketAddr, expected: &str) {
    let stage = opening(pki, server).start();
    let answer = ask(&stage, GET);
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    let Refusal::ServerTls { problem } = stage.refusal() else {
        panic!("{:?}", stage.refusal());
    };
    assert!(problem.contains(expected), "{problem}");
    assert!(answer.contains(&problem), "{answer}");
    let record = &stage.records(1)[0];
    assert_eq!((record.ending, record.credential), (Ending::Refused, false));
    assert_eq!(record.address.unwrap().ip().to_string(), PUBLIC);
}

#[test]
fn servers_must_be_who_they_say() {
    let ours = pki();
    untrusted(&ours, &web(&ours, "evil.test"), "not valid for name");
    untrusted(&ours, &web(&ours, "sub.api.test"), "not valid for name");
    untrusted(
        &ours,
        &web(&pki_named("Another"), "api.test"),
        "UnknownIssuer",
    );
    untrusted(&ours, &web(&pki(), "api.test"), "BadSignature");
    let end = SystemTime::now() - Duration::from_secs(3600);
    let config = ours.server_until("api.test", end);
    let expired = Web::over(move |stream| serve(&config, stream), FINE);
    untrusted(&ours, &expired, "expired");
    // No TLS at all.
    let plain = server(|mut stream| drop(stream.write_all(FINE.as_bytes())));
    untrusted_at(&ours, plain, "");
}

#[test]
fn only_http_1_is_spoken_inside() {
    let pki = pki();
    let (seen, config) = (std::sync::mpsc::channel(), pki.server("api.test"));
    let tell = std::sync::Mutex::new(seen.0);
    let web = server(move |stream| {
        let mut tls = serve(&config, stream);
        read_head(&mut tls);
        let spoken = tls.conn.alpn_protocol().map(<[u8]>::to_vec);
        tell.lock().unwrap().send(spoken).unwrap();
        tls.write_all(FINE.as_bytes()).unwrap();
    });
    let stage = opening(&pki, web).start();
    let offers = |protocols: &[&str]| {
        let tunnel = stage.tunnel("api.test", 443);
        client(tunnel, "api.test", &authority(&stage), protocols)
    };
    let mut tls = offers(&["h2", "http/1.1"]);
    tls.write_all(GET.as_bytes()).unwrap();
    assert!(read_head(&mut tls).starts_with("HTTP/1.1 200 "));
    assert_eq!(tls.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
    assert_eq!(seen.1.recv().unwrap().as_deref(), Some(&b"http/1.1"[..]));

    let mut tls = offers(&["h2"]);
    let sent = tls.write_all(GET.as_bytes()).and_then(|()| tls.flush());
    assert!(sent.is_err() || read_head(&mut tls).is_empty());
    let refused = stage.records(2).pop().unwrap();
    assert!(
        matches!(
            &refused.decision,
            Decision::Refused {
                why: Refusal::ClientTls { .. }
            }
        ),
        "{refused:?}"
    );
}

#[test]
fn tls_must_name_the_host_of_its_tunnel() {
    let pki = pki();
    let web = web(&pki, "api.test");
    let stage = opening(&pki, web.address).allow("evil.test", 443).start();
    let tunnel = stage.tunnel("api.test", 443);
    let mut tls = client(tunnel, "evil.test", &authority(&stage), &[]);
    let sent = tls.write_all(GET.as_bytes()).and_then(|()| tls.flush());
    assert!(sent.is_err());
    let name = "evil.test".to_owned();
    assert_eq!(stage.refusal(), Refusal::ServerName { name });
    assert!(web.requests().is_empty());
}

/// A request inside TLS that is refused like this; the server hears nothing of it.
#[track_caller]
fn refused(request: &str, status: &str, expected: &Refusal) {
    let pki = pki();
    let web = web(&pki, "api.test");
    let stage = opening(&pki, web.address).start();
    let answer = ask(&stage, request);
    assert!(
        answer.starts_with(&format!("HTTP/1.1 {status} ")),
        "{request:?}: {answer}"
    );
    assert_eq!(stage.refusal(), *expected, "{request:?}");
    assert_eq!(stage.records(1)[0].spoken, Spoken::OpenedTls);
    assert!(
        !format!("{:?}", web.requests()).contains("evil"),
        "{request:?}"
    );
}

#[test]
fn inside_too_nothing_is_read_in_two_ways() {
    let post = |lines: &str| {
        format!(
            "POST / HTTP/1.1\r\nHost: api.test\r\n{lines}\r\n0\r\n\r\nGET /evil HTTP/1.1\r\nHost: api.test\r\n\r\n"
        )
    };
    let head = |problem| Refusal::Head { problem };
    for (lines, problem) in [
        (
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            HeadProblem::LengthAndEncoding,
        ),
        (
            "Content-Length: 5\r\nContent-Length: 6\r\n",
            HeadProblem::Length,
        ),
        ("X: a\r\n folded\r\n", HeadProblem::Folded),
        ("X: a\nY: b\r\n", HeadProblem::BareLf),
        ("Content_Length: 5\r\n", HeadProblem::Lookalike),
        ("Connection: authorization\r\n", HeadProblem::Connection),
    ] {
        refused(&post(lines), "400", &head(problem));
    }
    let upgrade = "Connection: upgrade\r\nUpgrade: websocket\r\n";
    refused(&post(upgrade), "501", &head(HeadProblem::Upgrade));
    refused(
        "TRACE / HTTP/1.1\r\nHost: api.test\r\n\r\n",
        "501",
        &head(HeadProblem::Trace),
    );
    refused(
        "GET http://api.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n",
        "400",
        &head(HeadProblem::TunnelForm),
    );
    refused(
        "CONNECT api.test:443 HTTP/1.1\r\nHost: api.test:443\r\n\r\n",
        "400",
        &head(HeadProblem::TunnelForm),
    );
    for name in ["evil.test", "api.test:80", "api.test.evil.test"] {
        let request = format!("GET / HTTP/1.1\r\nHost: {name}\r\n\r\n");
        let name = name.to_owned();
        refused(&request, "400", &Refusal::HostHeader { name });
    }
    refused(
        "POST / HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n3;evil\r\nabc\r\n0\r\n\r\n",
        "400",
        &Refusal::Body {
            problem: BodyProblem::Extension,
        },
    );
}

#[test]
fn nothing_to_open_and_nobody_to_trust_are_errors() {
    let hosts = || [entry("api.test", 443)];
    let none = Interception::with_roots([], pki().pem.as_bytes());
    assert_eq!(none.unwrap_err(), InterceptionError::NoHosts);
    let nobody = Interception::with_roots(hosts(), b"").unwrap_err();
    assert!(
        matches!(nobody, InterceptionError::Roots { .. }),
        "{nobody}"
    );
    let shown = format!(
        "{:?}",
        Interception::with_roots(hosts(), pki().pem.as_bytes())
    );
    assert!(shown.contains("api.test:443"), "{shown}");
}

#[test]
fn each_session_has_an_authority_of_its_own_and_shows_no_key() {
    let pki = pki();
    let hosts = [entry("api.test", 443)];
    let interception = Interception::with_roots(hosts, pki.pem.trim_end().as_bytes()).unwrap();
    let [one, other] = [(); 2].map(|()| Opener::new(&interception).unwrap());
    assert_ne!(one.certificate(), other.certificate());
    // Clients that trust this file trust whom they would trust without it, and the session.
    let bundle = String::from_utf8(one.bundle()).unwrap();
    assert_eq!(bundle, format!("{}{}", pki.pem, one.certificate()));
    let shown = format!("{one:?}{bundle}");
    assert!(shown.contains("api.test:443") && !shown.contains("PRIVATE"));
}

#[test]
fn the_systems_own_roots_are_found_where_there_are_any() {
    let found = Interception::new([entry("api.test", 443)]);
    let usual = std::path::Path::new("/etc/ssl/certs/ca-certificates.crt");
    match fs::read(usual) {
        Ok(pem) => {
            let bundle = Opener::new(&found.unwrap()).unwrap().bundle();
            assert!(bundle.starts_with(&pem) && bundle.len() > pem.len());
        }
        // Elsewhere, or nowhere; but nothing is trusted that is not there.
        Err(_) => drop(found),
    }
}
