//! Heads of requests to the proxy, and in tunnels: what is accepted has one reading, and is sent as it was read.

use palisade_egress_proxy::wire::{Framing, HeadLimits, RequestHead, Target, read_request};

use crate::pieces;

const LIMITS: HeadLimits = HeadLimits {
    bytes: 2048,
    headers: 12,
};
/// What is sent may have a few lines more.
const SENT: HeadLimits = HeadLimits {
    bytes: 2 * LIMITS.bytes,
    headers: LIMITS.headers + 4,
};
const USUAL_PORT: u16 = 80;
const SECRET: (&str, &[u8]) = ("x-secret", b"of the proxy");

/// Reads the bytes as a head.
pub fn run(data: &[u8]) {
    pieces::check(data, |bytes| read_request(bytes, LIMITS));
    let Ok(Some(head)) = read_request(data, LIMITS) else {
        return;
    };
    assert!(head.length() <= LIMITS.bytes);
    pieces::plain_lines(&data[..head.length()]);
    let (authority, path) = match head.target() {
        Target::Tunnel(_) => {
            assert_eq!(head.method(), "CONNECT");
            assert_eq!(head.framing(), Framing::Empty);
            return;
        }
        Target::Resource { authority, path } => (authority.clone(), path.clone()),
        // In a tunnel the host is known from elsewhere.
        Target::Path(path) => match read_request(b"GET http://a.test/ HTTP/1.0\r\n\r\n", LIMITS) {
            Ok(Some(other)) => match other.target() {
                Target::Resource { authority, .. } => (authority.clone(), path.clone()),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        },
    };
    assert!(path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic()));
    for added in [&[][..], &[SECRET]] {
        let sent = head.forwarded(&authority, USUAL_PORT, &path, added);
        pieces::plain_lines(&sent);
        let again = read(&sent);
        assert_eq!(again.length(), sent.len(), "two requests became of one");
        assert_eq!(again.method(), head.method());
        assert_eq!(again.minor_version(), head.minor_version());
        assert_eq!(again.framing(), head.framing(), "the body ends elsewhere");
        assert_eq!(*again.target(), Target::Path(path.clone()));
        assert_eq!(again.check_host(&authority), Ok(()));
        assert!(!again.keeps_alive());
        assert_eq!(again.forwarded(&authority, USUAL_PORT, &path, added), sent);
        let lower = sent.to_ascii_lowercase();
        let named = lower.windows(11).filter(|it| it == b"\nx-secret: ").count();
        assert!(added.is_empty() || named == 1, "the client kept its own");
    }
}

fn read(sent: &[u8]) -> RequestHead {
    match read_request(sent, SENT) {
        Ok(Some(head)) => head,
        other => panic!("{other:?}: {:?}", sent.escape_ascii().to_string()),
    }
}
