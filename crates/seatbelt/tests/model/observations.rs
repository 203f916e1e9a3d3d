//! What others observed on Macs, as tests of the model.
//!
//! Each has the mark of its source: `P..` and `S..` are those of the facts that the backends were designed by (mxc, nono,
//! greywall and others), the rest names the project and the number of the thread. Model H has to reproduce every one. What
//! model F makes of each is written down too: where it differs from the Mac, a profile that relies on it is wrong.

use palisade_policy::AbsolutePath;
use palisade_seatbelt::model::{
    Address, CompileError, Model, Precedence, SystemCall, Transport, parameters, read,
};

fn abs(path: &str) -> AbsolutePath {
    AbsolutePath::new(path).unwrap()
}

fn tcp(loopback: bool, port: u16) -> Address {
    Address::Internet {
        transport: Transport::Tcp,
        loopback,
        port,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Allowed,
    Denied,
}
use Seen::{Allowed, Denied};

/// What the flat model makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flat {
    Agrees,
    Differs,
}
use Flat::{Agrees, Differs};

struct Observation {
    source: &'static str,
    what: &'static str,
    rules: &'static str,
    call: SystemCall,
    seen: Seen,
    flat: Flat,
}

fn observations() -> Vec<Observation> {
    let socket = || SystemCall::Connect(Address::Unix(abs("/private/tmp/a/s.sock")));
    let read_env = || SystemCall::OpenForReading(abs("/srv/app/.env"));
    let write = |path| SystemCall::OpenForWriting(abs(path));
    let observed = |source, what, rules, call, seen, flat| Observation {
        source,
        what,
        rules,
        call,
        seen,
        flat,
    };
    vec![
        observed(
            "P25, P32: mxc#754",
            "an allow, then a deny of the same path",
            r#"(allow network-outbound (literal "/private/tmp/a/s.sock"))
               (deny network-outbound (literal "/private/tmp/a/s.sock"))"#,
            socket(),
            Denied,
            Agrees,
        ),
        observed(
            "P25, P32: mxc#754",
            "a deny, then an allow of the same path",
            r#"(deny network-outbound (literal "/private/tmp/a/s.sock"))
               (allow network-outbound (literal "/private/tmp/a/s.sock"))"#,
            socket(),
            Allowed,
            Agrees,
        ),
        observed(
            "P25: mxc#754",
            "a shallow deny, then a deeper allow",
            r#"(deny network-outbound (subpath "/private/tmp"))
               (allow network-outbound (subpath "/private/tmp/a"))"#,
            socket(),
            Allowed,
            Agrees,
        ),
        observed(
            "P25, P33: mxc#749",
            "a deny with a filter, then an allow without",
            r#"(deny network-outbound (subpath "/private/tmp/a"))
               (allow network-outbound)"#,
            socket(),
            Denied,
            Differs,
        ),
        observed(
            "P25: mxc#754",
            "an allow without a filter, then a deny with one: the order of the two does not matter",
            r#"(allow network-outbound)
               (deny network-outbound (subpath "/private/tmp/a"))"#,
            socket(),
            Denied,
            Agrees,
        ),
        observed(
            "P34: greywall#20",
            "an allow of the narrow operation, then a deny of the wide one",
            r#"(allow file-read-data (subpath "/"))
               (deny file-read* (literal "/srv/app/.env"))"#,
            read_env(),
            Allowed,
            Differs,
        ),
        observed(
            "P34: greywall#20",
            "the same with the deny spelled like the allow",
            r#"(allow file-read-data (subpath "/"))
               (deny file-read-data (literal "/srv/app/.env"))"#,
            read_env(),
            Denied,
            Agrees,
        ),
        observed(
            "S7: nono",
            "a deny of the narrow operation, then an allow of the wide one",
            r#"(deny file-read-data (subpath "/srv/app"))
               (allow file-read* (literal "/srv/app/.env"))"#,
            read_env(),
            Denied,
            Differs,
        ),
        observed(
            "P35: nono#971",
            "a deny of unlinking without a filter, then an allow of all writing",
            r#"(deny file-write-unlink)
               (allow file-write* (subpath "/srv/app"))"#,
            SystemCall::Unlink(abs("/srv/app/a")),
            Denied,
            Differs,
        ),
        observed(
            "P35: nono#971",
            "the same in the other order",
            r#"(allow file-write* (subpath "/srv/app"))
               (deny file-write-unlink)"#,
            SystemCall::Unlink(abs("/srv/app/a")),
            Denied,
            Agrees,
        ),
        observed(
            "P36: nono#1324",
            "a deny of executing without a filter, then an allow with one",
            r#"(allow file-read*)
               (deny process-exec*)
               (allow process-exec* (literal "/bin/cat"))"#,
            SystemCall::Execute(abs("/bin/cat")),
            Allowed,
            Agrees,
        ),
        observed(
            "P32: nono#970",
            "a deny, then a broader allow of the same operation",
            r#"(deny file-write* (subpath "/private/tmp/protected"))
               (allow file-write* (subpath "/"))"#,
            write("/private/tmp/protected/foo"),
            Allowed,
            Agrees,
        ),
        observed(
            "nono#971",
            "a broad allow, then a deny of the same operation",
            r#"(allow file-write* (subpath "/"))
               (deny file-write* (subpath "/private/tmp/protected"))"#,
            write("/private/tmp/protected/foo"),
            Denied,
            Agrees,
        ),
        observed(
            "clash#295",
            "an allow of something deep, then a deny of what is above it",
            r#"(allow file-read* (subpath "/Users/dev"))
               (deny file-read* (subpath "/Users"))"#,
            SystemCall::OpenForReading(abs("/Users/dev/a")),
            Denied,
            Agrees,
        ),
        observed(
            "reyn#2978",
            "a secret denied, then its parent allowed",
            r#"(allow file-read*)
               (deny file-read* (subpath "/Users/dev/.ssh"))
               (allow file-read* (subpath "/Users/dev"))"#,
            SystemCall::OpenForReading(abs("/Users/dev/.ssh/id_ed25519")),
            Allowed,
            Agrees,
        ),
        observed(
            "nono#483",
            "denies of file operations say nothing about connecting to a socket",
            r#"(allow network-outbound)
               (deny file-read-data (subpath "/private/tmp/a/s.sock"))
               (deny file-write* (subpath "/private/tmp/a/s.sock"))"#,
            socket(),
            Allowed,
            Agrees,
        ),
        observed(
            "P22: sandbox-runtime#8",
            "what must not be read is moved away, and read there",
            r#"(allow file-write* (subpath "/Users/dev"))
               (deny file-read* (subpath "/Users/dev/.aws"))"#,
            SystemCall::Rename {
                from: abs("/Users/dev/.aws/credentials"),
                to: abs("/Users/dev/app/stolen.txt"),
                replaces: false,
            },
            Allowed,
            Agrees,
        ),
        observed(
            "P22: sandbox-runtime#8",
            "a directory above it is moved away",
            r#"(allow file-write* (subpath "/Users/dev"))
               (deny file-write* (subpath "/Users/dev/.aws/credentials"))"#,
            SystemCall::Rename {
                from: abs("/Users/dev/.aws"),
                to: abs("/Users/dev/moved"),
                replaces: false,
            },
            Allowed,
            Agrees,
        ),
        observed(
            "P25: mxc#754",
            "listening with nothing but the right to bind",
            r#"(allow network-bind (local ip "localhost:*"))"#,
            SystemCall::Listen(tcp(true, 8080)),
            Denied,
            Agrees,
        ),
        observed(
            "P25: mxc#754",
            "listening with the right to be connected to",
            r#"(allow network-inbound (local ip "localhost:*"))"#,
            SystemCall::Listen(tcp(true, 8080)),
            Allowed,
            Agrees,
        ),
        observed(
            "P18: clash#280",
            "a subpath that ends in a slash",
            r#"(allow file-read* (subpath "/srv/app/"))"#,
            read_env(),
            Denied,
            Agrees,
        ),
        observed(
            "P24: mxc#946",
            "a proxy's port on loopback",
            r#"(allow network-outbound (remote ip "localhost:8080"))"#,
            SystemCall::Connect(tcp(true, 8080)),
            Allowed,
            Agrees,
        ),
        observed(
            "P24: mxc#946",
            "the same port elsewhere",
            r#"(allow network-outbound (remote ip "localhost:8080"))"#,
            SystemCall::Connect(tcp(false, 8080)),
            Denied,
            Agrees,
        ),
        observed(
            "P37: cplt#455, if the allow named a narrower operation (our deduction)",
            "an allow by require-all, then a deny of a subpath",
            r#"(allow file-read-data (require-all (subpath "/srv/app") (vnode-type REGULAR-FILE)))
               (allow file-read-data (require-all (subpath "/srv/app")))
               (deny file-read* (subpath "/srv/app"))"#,
            read_env(),
            Allowed,
            Differs,
        ),
    ]
}

fn judged(rules: &str, call: &SystemCall, precedence: Precedence) -> Seen {
    let rules = read(&format!("(version 1)\n(deny default)\n{rules}")).unwrap();
    let model = Model::new(&rules, &parameters([]).unwrap()).unwrap();
    match model.allows(&call.requests(), precedence).unwrap() {
        true => Allowed,
        false => Denied,
    }
}

#[test]
fn the_model_per_operation_reproduces_every_observation() {
    for observed in observations() {
        assert_eq!(
            judged(observed.rules, &observed.call, Precedence::PerOperation),
            observed.seen,
            "{}: {}",
            observed.source,
            observed.what
        );
    }
}

#[test]
fn the_flat_model_reproduces_those_that_the_table_says() {
    for observed in observations() {
        let judged = judged(observed.rules, &observed.call, Precedence::LastMatch);
        let flat = match judged == observed.seen {
            true => Agrees,
            false => Differs,
        };
        assert_eq!(
            flat, observed.flat,
            "{}: {}",
            observed.source, observed.what
        );
    }
}

#[test]
fn some_observations_tell_the_two_models_apart() {
    let differing = observations()
        .iter()
        .filter(|observed| observed.flat == Differs)
        .count();
    assert_eq!((differing, observations().len()), (5, 24));
}

/// P20: a parameter that is not set does not compile.
#[test]
fn a_parameter_that_is_not_set_is_an_error() {
    let rules = read("(version 1)\n(allow file-read* (subpath (param \"ROOT\")))").unwrap();
    let error = Model::new(&rules, &parameters([]).unwrap()).unwrap_err();
    assert!(matches!(
        error,
        CompileError::UnsetParameter { rule: 0, .. }
    ));
    assert_eq!(error.to_string(), "rule 0: the parameter ROOT is not set");
}
