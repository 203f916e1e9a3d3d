//! Heads of servers' answers: what is accepted has one reading, for the client as for the proxy.

use palisade_egress_proxy::wire::{Framing, HeadLimits, read_response};

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

/// Reads the bytes as the head of an answer.
pub fn run(data: &[u8]) {
    for method in ["GET", "HEAD"] {
        pieces::check(data, |bytes| read_response(bytes, LIMITS, method));
        let Ok(Some(head)) = read_response(data, LIMITS, method) else {
            continue;
        };
        assert!(head.length() <= LIMITS.bytes);
        pieces::plain_lines(&data[..head.length()]);
        assert!((100..=599).contains(&head.status()) && head.status() != 101);
        assert!(method == "GET" || head.framing() == Framing::Empty);
        for keep_alive in [false, true] {
            let sent = head.forwarded(keep_alive);
            pieces::plain_lines(&sent);
            let again = match read_response(&sent, SENT, method) {
                Ok(Some(again)) => again,
                other => panic!("{other:?}: {:?}", sent.escape_ascii().to_string()),
            };
            assert_eq!(again.length(), sent.len(), "two answers became of one");
            assert_eq!(again.status(), head.status());
            assert_eq!(again.framing(), head.framing(), "the body ends elsewhere");
            assert_eq!(again.forwarded(keep_alive), sent);
        }
    }
}
