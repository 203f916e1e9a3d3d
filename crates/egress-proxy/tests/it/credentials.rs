//! Secrets go to their host, in plain requests, and nowhere else.

use palisade_egress_proxy::Credential;
use palisade_policy::NetworkAllowlistEntry;

use crate::stage::{FINE, PUBLIC, Web, get, plan};

#[test]
fn a_secret_is_added_for_its_host_alone() {
    let (api, other) = (Web::new(FINE), Web::new(FINE));
    let hosts = NetworkAllowlistEntry::with_port("api.test", 80).unwrap();
    let stage = plan()
        .open("api.test", 80, api.address)
        .allow("other.test", 8080)
        .name("other.test", &[PUBLIC])
        .road(PUBLIC, 8080, other.address)
        .credential(Credential::new(hosts, "Authorization", "Bearer hunter2").unwrap())
        .start();
    let request = "GET http://api.test/ HTTP/1.1\r\nHost: api.test\r\nauthorization: mine\r\n\r\n";
    assert!(stage.ask_text(request).ends_with("fine\n"));
    assert_eq!(
        api.requests(),
        [
            "GET / HTTP/1.1\r\nhost: api.test\r\nauthorization: Bearer hunter2\r\nconnection: close\r\n\r\n"
        ]
    );
    assert!(stage.ask_text(&get("other.test:8080")).ends_with("fine\n"));
    assert!(!other.requests()[0].contains("hunter2"));

    let records = stage.records(2);
    assert_eq!(
        (records[0].credential, records[1].credential),
        (true, false)
    );
    let told = format!("{records:?}{}", serde_json::to_string(&records).unwrap());
    assert!(!told.contains("hunter2"), "{told}");
}

#[test]
fn a_client_cannot_name_it_away_or_keep_its_own() {
    let api = Web::new(FINE);
    let hosts = NetworkAllowlistEntry::with_port("*.api.test", 80).unwrap();
    let stage = plan()
        .open("v1.api.test", 80, api.address)
        .credential(Credential::new(hosts, "X-Key", "hunter2").unwrap())
        .start();
    stage.ask_text("GET http://v1.api.test/ HTTP/1.1\r\nHost: v1.api.test\r\nConnection: X-Key\r\nX-KEY: a\r\nx-key: b\r\n\r\n");
    let request = api.requests().pop().unwrap();
    assert_eq!(
        request.to_ascii_lowercase().matches("x-key").count(),
        1,
        "{request}"
    );
    assert!(request.contains("x-key: hunter2\r\n"), "{request}");
}

#[test]
fn what_is_bound_to_the_port_of_tls_is_not_sent_in_the_clear() {
    let api = Web::new(FINE);
    let hosts = NetworkAllowlistEntry::https("api.test").unwrap();
    let stage = plan()
        .open("api.test", 443, api.address)
        .credential(Credential::new(hosts, "X-Key", "hunter2").unwrap())
        .start();
    assert!(stage.ask_text(&get("api.test:443")).ends_with("fine\n"));
    assert!(!api.requests()[0].contains("hunter2"));
    assert!(!stage.records(1)[0].credential);
}
