//! Hosts and the entries that match them.

use palisade_policy::{HostName, HostProblem, NetworkAllowlistEntry, Protocol};
use proptest::prelude::*;

fn matches(entry: &str, host: &str) -> bool {
    NetworkAllowlistEntry::https(entry).unwrap().matches(
        &HostName::parse(host).unwrap(),
        443,
        Protocol::Tcp,
    )
}

#[test]
fn an_entry_is_https_unless_said_otherwise() {
    let entry = NetworkAllowlistEntry::https("docs.example").unwrap();
    assert_eq!((entry.port, entry.protocol), (443, Protocol::Tcp));
    let entry = NetworkAllowlistEntry::with_port("docs.example", 8443).unwrap();
    let host = HostName::parse("docs.example").unwrap();
    assert!(entry.matches(&host, 8443, Protocol::Tcp));
    assert!(!entry.matches(&host, 443, Protocol::Tcp));
    assert!(!entry.matches(&host, 8443, Protocol::Udp));
}

#[test]
fn names_match_exactly_whatever_their_case_and_trailing_dot() {
    assert!(matches("docs.example", "DOCS.example."));
    assert!(matches("Docs.Example.", "docs.example"));
    assert!(!matches("docs.example", "a.docs.example"));
    assert!(!matches("docs.example", "xdocs.example"));
    assert!(!matches("docs.example", "docs.example.evil"));
}

#[test]
fn a_star_covers_subdomains_and_not_the_domain_itself() {
    assert!(matches("*.example", "a.example"));
    assert!(matches("*.example", "a.b.example"));
    assert!(!matches("*.example", "example"));
    assert!(!matches("*.b.example", "xb.example"));
}

#[test]
fn addresses_match_only_if_listed_as_such() {
    assert!(matches("192.0.2.1", "192.0.2.1"));
    assert!(
        matches("192.0.2.1", "::ffff:192.0.2.1"),
        "the same address in other clothes"
    );
    assert!(matches("2001:db8::1", "[2001:DB8::1]"));
    assert!(!matches("*.example", "192.0.2.1"));
    assert!(!matches("192.0.2.1", "192.0.2.2"));
}

#[test]
fn what_two_programs_read_in_two_ways_is_refused() {
    for (text, expected) in [
        ("", HostProblem::Empty),
        (".", HostProblem::Empty),
        ("a\0.example", HostProblem::Nul),
        ("ex\u{e4}mple.test", HostProblem::NotAscii),
        ("a..b", HostProblem::EmptyLabel),
        ("a.example..", HostProblem::EmptyLabel),
        ("a b", HostProblem::BadCharacter),
        ("a/b", HostProblem::BadCharacter),
        ("a:80", HostProblem::BadCharacter),
        ("user@a", HostProblem::BadCharacter),
        ("-a.example", HostProblem::BadCharacter),
        ("127.1", HostProblem::Numeric),
        ("2130706433", HostProblem::Numeric),
        ("0x7f000001", HostProblem::Numeric),
        ("0x7f.1", HostProblem::Numeric),
        ("256.0.0.1", HostProblem::Numeric),
        ("0177.0.0.1", HostProblem::Numeric),
    ] {
        assert_eq!(
            HostName::parse(text).unwrap_err().problem(),
            expected,
            "{text:?}"
        );
    }
    let long = "a".repeat(64);
    assert_eq!(
        HostName::parse(&long).unwrap_err().problem(),
        HostProblem::TooLong
    );
    for (text, expected) in [
        ("*", HostProblem::BadWildcard),
        ("a.*.example", HostProblem::BadWildcard),
        ("*a.example", HostProblem::BadWildcard),
        ("*.127.0.0.1", HostProblem::BadWildcard),
        ("*.", HostProblem::Empty),
    ] {
        let error = NetworkAllowlistEntry::https(text).unwrap_err();
        assert_eq!(error.problem(), expected, "{text:?}");
        assert_eq!(error.host(), text);
    }
    let zero = NetworkAllowlistEntry::with_port("a.example", 0).unwrap_err();
    assert_eq!(zero.problem(), HostProblem::PortZero);
}

#[test]
fn loopback_has_many_names() {
    for name in [
        "localhost",
        "LOCALHOST.",
        "x.localhost",
        "127.0.0.1",
        "127.9.9.9",
        "::1",
        "::ffff:127.0.0.1",
        "0.0.0.0",
        "::",
    ] {
        assert!(HostName::parse(name).unwrap().is_loopback(), "{name}");
    }
    for name in ["localhost.example", "192.0.2.1", "notlocalhost"] {
        assert!(!HostName::parse(name).unwrap().is_loopback(), "{name}");
    }
}

#[test]
fn entries_read_defaults_and_refuse_unknown_fields() {
    let entry: NetworkAllowlistEntry = serde_json::from_str(r#"{"domain":"A.example"}"#).unwrap();
    assert_eq!(entry, NetworkAllowlistEntry::https("a.example").unwrap());
    assert_eq!(
        serde_json::to_string(&entry).unwrap(),
        r#"{"domain":"a.example","port":443,"protocol":"tcp"}"#
    );
    for bad in [
        r#"{"domain":"a.example","ports":[1]}"#,
        r#"{"domain":"a.example","port":0}"#,
        r#"{"domain":"a.example","port":65536}"#,
        r#"{"domain":"a.example","protocol":"sctp"}"#,
        r#"{"domain":"a\u0000.example"}"#,
    ] {
        assert!(
            serde_json::from_str::<NetworkAllowlistEntry>(bad).is_err(),
            "{bad}"
        );
    }
}

proptest! {
    #[test]
    fn hosts_are_normal_forms(text in "[a-cA-C0-9x.*\\-_\\[\\]:]{0,12}") {
        if let Ok(host) = HostName::parse(&text) {
            prop_assert_eq!(HostName::parse(&host.to_string()), Ok(host));
        }
    }

    #[test]
    fn no_text_panics(text in any::<String>()) {
        let _ = HostName::parse(&text);
        let _ = NetworkAllowlistEntry::https(&text);
    }
}
