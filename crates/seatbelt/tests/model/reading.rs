//! What the reader takes, what it refuses, and that it never falls over.

use palisade_policy::AbsolutePath;
use palisade_seatbelt::model::{Model, Precedence, Request, parameters, read};
use palisade_seatbelt::profile::{
    Decision, Endpoint, EndpointHost, Filter, Modifier, Operation, PathValue, Target, VnodeType,
};
use proptest::prelude::*;

use crate::subject::config;

const SAMPLE: &str = r#"(version 1)
; What every run has.
(deny default)
(allow (with report) process-exec process-fork)
(allow file-read* file-write*
  (literal "/dev/null") (path "/dev/zero") ; two devices
  (subpath (param "ROOT_0"))
  (regex #"^/dev/ttys[0-9]+$"))
(allow file-write* (require-all (subpath "/a \"b\" \\c") (require-not (literal "/a/x"))))
(allow file-read-metadata (path-ancestors "/srv/app") (vnode-type DIRECTORY))
(allow network-outbound (remote ip "localhost:8080") (remote tcp "*:443") (remote udp "*:*"))
(allow network-outbound (remote unix-socket) (remote unix-socket (subpath "/private/tmp")))
(allow network-inbound network-bind (local ip "localhost:*"))
(allow mach-lookup (global-name "com.apple.logd") (global-name-prefix "com.") (local-name "x"))
(allow sysctl-read (sysctl-name "hw.ncpu") (sysctl-name-prefix "kern."))
(allow ipc-posix-shm* (ipc-posix-name "a") (ipc-posix-name-prefix "b"))
(allow iokit-open (iokit-registry-entry-class "C") (iokit-user-client-class "D"))
(allow user-preference-read (preference-domain "kCFPreferencesAnyApplication"))
(allow signal process-info* (target same-sandbox) (target self) (target children) (target pgrp) (target others))
(allow system-socket (socket-domain AF_UNIX))
(deny file-write* (require-any (literal "/b") (vnode-type SYMLINK)) (with message "tag") (with no-log))
"#;

#[test]
fn every_filter_and_modifier_is_read() {
    let rules = read(SAMPLE).unwrap();
    assert_eq!(rules.len(), 16);
    assert_eq!(rules[0].decision, Decision::Deny);
    assert_eq!(rules[0].operations, [Operation::DEFAULT]);
    assert_eq!(rules[1].modifiers, [Modifier::Report]);
    assert_eq!(rules[1].operations[0].name(), "process-exec");
    assert_eq!(rules[2].filters.len(), 4);
    let Filter::All(all) = &rules[3].filters[0] else {
        panic!("{:?}", rules[3]);
    };
    let fixed = |path: &str| PathValue::Fixed(path.to_owned());
    assert_eq!(all[0], Filter::Subpath(fixed("/a \"b\" \\c")));
    let not = Filter::Not(Box::new(Filter::Literal(fixed("/a/x"))));
    assert_eq!(all[1], not);
    assert_eq!(
        rules[5].filters[0],
        Filter::Remote(Endpoint::Ip {
            host: EndpointHost::Localhost,
            port: Some(8080)
        })
    );
    assert_eq!(
        rules[6].filters[0],
        Filter::Remote(Endpoint::UnixSocket(vec![]))
    );
    assert_eq!(rules[13].filters[0], Filter::Target(Target::SameSandbox));
    assert_eq!(
        rules[14].filters[0],
        Filter::SocketDomain("AF_UNIX".to_owned())
    );
    let deny = &rules[15];
    let Filter::Any(any) = &deny.filters[0] else {
        panic!("{deny:?}");
    };
    assert_eq!(any[1], Filter::VnodeType(VnodeType::Symlink));
    let tag = Modifier::Message("tag".to_owned());
    assert_eq!(deny.modifiers, [tag, Modifier::NoLog]);
}

#[test]
fn what_is_not_understood_is_refused_with_its_place() {
    for (text, expected) in [
        (
            "",
            "line 1, column 1: a profile begins with (version 1), once",
        ),
        (
            "(deny default)",
            "line 1, column 1: a profile begins with (version 1), once",
        ),
        (
            "(version 2)",
            "line 1, column 1: a profile begins with (version 1), once",
        ),
        (
            "(version 1)\n(version 1)",
            "line 2, column 1: a profile begins with (version 1), once",
        ),
        (
            "(version 1)\n (import \"bsd.sb\")",
            "line 2, column 2: import is no form that is understood here",
        ),
        (
            "(version 1)(define x 1)",
            "line 1, column 12: define is no form that is understood here",
        ),
        (
            "(version 1)(allow file-frob)",
            "line 1, column 19: file-frob is no operation that is known",
        ),
        (
            "(version 1)(allow file-frob*)",
            "line 1, column 19: file-frob* is no operation that is known",
        ),
        (
            "(version 1)(allow)",
            "line 1, column 12: the rule names no operation",
        ),
        (
            "(version 1)(allow (literal \"/\"))",
            "line 1, column 12: the rule names no operation",
        ),
        (
            "(version 1)(allow file* (literal \"/\") file*)",
            "line 1, column 39: expected a filter",
        ),
        (
            "(version 1)(allow file* (entitlement \"x\"))",
            "line 1, column 25: entitlement is no filter that is understood here",
        ),
        (
            "(version 1)(allow file* (literal))",
            "line 1, column 25: expected one path",
        ),
        (
            "(version 1)(allow file* (literal x))",
            "line 1, column 34: expected a string or (param \"NAME\")",
        ),
        (
            "(version 1)(allow file* (literal \"a\" \"b\"))",
            "line 1, column 25: expected one path",
        ),
        (
            "(version 1)(allow file* (literal (param \"a b\")))",
            "line 1, column 41: \"a b\" is no name for a parameter: upper-case letters, digits and _",
        ),
        (
            "(version 1)(allow file* (literal (param ROOT)))",
            "line 1, column 41: expected the name of a parameter, as a string",
        ),
        (
            "(version 1)(allow file* (regex \"a\"))",
            "line 1, column 32: expected a raw string, #\"...\"",
        ),
        (
            "(version 1)(allow file* (regex #\"a{2}\"))",
            "line 1, column 32: in the pattern: '{' means different things to different readers; escape it",
        ),
        (
            "(version 1)(allow file* (regex #\"a\\\"))",
            "line 1, column 36: a backslash before the closing quote of a raw string is read differently by different readers",
        ),
        (
            "(version 1)(allow file* (require-all))",
            "line 1, column 25: expected filters",
        ),
        (
            "(version 1)(allow file* (require-not (literal \"a\") (literal \"b\")))",
            "line 1, column 25: expected one filter",
        ),
        (
            "(version 1)(allow network* (remote ip \"example.com:80\"))",
            "line 1, column 39: \"example.com:80\" is no endpoint: the host is * or localhost, the port * or a number",
        ),
        (
            "(version 1)(allow network* (remote ip \"*:70000\"))",
            "line 1, column 39: \"*:70000\" is no endpoint: the host is * or localhost, the port * or a number",
        ),
        (
            "(version 1)(allow network* (remote ip))",
            "line 1, column 28: expected one address, as a string",
        ),
        (
            "(version 1)(allow network* (remote unix-socket (target self)))",
            "line 1, column 48: expected a filter about paths",
        ),
        (
            "(version 1)(allow file* (vnode-type DOOR))",
            "line 1, column 37: expected a kind of entry",
        ),
        (
            "(version 1)(allow signal (target everyone))",
            "line 1, column 34: expected a target",
        ),
        (
            "(version 1)(allow file* (with errno))",
            "line 1, column 25: errno is no modifier that is understood here",
        ),
        (
            "(version 1)(allow file* (with no-log 1))",
            "line 1, column 25: expected nothing more",
        ),
        (
            "(version 1",
            "line 1, column 1: the text ends inside a list",
        ),
        ("(version 1))", "line 1, column 12: this closes nothing"),
        (
            "(version 1)(allow file* (literal \"a",
            "line 1, column 34: the text ends inside a string",
        ),
        (
            "(version 1)(allow file* (literal \"\\q\"))",
            "line 1, column 35: \\q is no escape that is understood here",
        ),
        (
            "(version 1)(allow file* #t)",
            "line 1, column 25: '#' begins nothing that is understood here",
        ),
        (
            "(version 1)(allow file* 'x)",
            "line 1, column 25: '\\'' begins nothing that is understood here",
        ),
    ] {
        assert_eq!(read(text).unwrap_err().to_string(), expected, "{text}");
    }
    let deep = format!("(version 1){}", "(".repeat(1_000_000));
    assert!(
        read(&deep)
            .unwrap_err()
            .to_string()
            .contains("nested more than")
    );
    let long = format!("(version 1){}", " ".repeat(2_000_000));
    assert!(read(&long).unwrap_err().to_string().contains("more than"));
}

/// Texts that look like profiles.
fn any_scraps() -> impl Strategy<Value = String> {
    let scrap = prop::sample::select(vec![
        "(",
        ")",
        "\"",
        "#\"",
        "\\",
        "; x\n",
        " ",
        "\n",
        "allow",
        "deny",
        "file-write*",
        "default",
        "(literal \"/a\")",
        "(subpath (param \"A\"))",
        "(regex #\"",
        "^/a",
        "[",
        "]",
        "(version 1)",
        "(require-not ",
        "(with message ",
        "é",
        "\0",
        "1",
        "*",
        "|",
        "+",
    ]);
    prop::collection::vec(scrap, 0..40).prop_map(|scraps| scraps.concat())
}

/// The sample with a few changes.
fn any_mutation() -> impl Strategy<Value = String> {
    let change = (0..SAMPLE.len(), 0..12_usize, any_scraps());
    prop::collection::vec(change, 1..4).prop_map(|changes| {
        let mut text = SAMPLE.to_owned();
        for (at, length, with) in changes {
            let from = at.min(text.len());
            let to = (from + length).min(text.len());
            if text.is_char_boundary(from) && text.is_char_boundary(to) {
                text.replace_range(from..to, &with);
            }
        }
        text
    })
}

fn ask_everything(text: &str) {
    let Ok(rules) = read(text) else { return };
    let path = AbsolutePath::new("/srv/app").unwrap();
    let parameters = parameters([("A", path.clone()), ("ROOT_0", path.clone())]).unwrap();
    let Ok(model) = Model::new(&rules, &parameters) else {
        return;
    };
    for precedence in Precedence::ALL {
        let ruling = model
            .decide(
                &Request::new(Operation::FILE_WRITE).at(path.clone()),
                precedence,
            )
            .unwrap();
        assert!(ruling.rule.is_none_or(|rule| rule < rules.len()));
    }
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn no_text_makes_the_reader_fall_over(text in any::<String>()) {
        ask_everything(&text);
        ask_everything(&format!("(version 1){text}"));
    }

    #[test]
    fn nor_do_scraps_of_profiles(text in any_scraps()) {
        ask_everything(&text);
        ask_everything(&format!("(version 1){text}"));
    }

    #[test]
    fn nor_do_profiles_with_changes(text in any_mutation()) {
        ask_everything(&text);
    }
}
