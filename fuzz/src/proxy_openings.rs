//! What opens a tunnel: it is told in bounded time, once and for all, and what names a host is never taken for something
//! that does not.

use palisade_egress_proxy::wire::{HeadLimits, Opening, classify, read_client_hello, read_request};

use crate::pieces;

/// Nothing is waited for beyond this.
const MOST: usize = 8 * 1024 + 1;
const LIMITS: HeadLimits = HeadLimits {
    bytes: 64 * 1024,
    headers: 64,
};

/// Reads the bytes as the first ones in a tunnel.
pub fn run(data: &[u8]) {
    let read = |bytes: &[u8]| match classify(bytes) {
        Opening::Wait => Ok::<_, ()>(None),
        opening => Ok(Some(opening)),
    };
    pieces::check(data, read);
    let opening = classify(data);
    assert!(
        opening != Opening::Wait || data.len() < MOST,
        "it waits for ever"
    );
    if matches!(read_request(data, LIMITS), Ok(Some(_))) {
        assert_eq!(opening, Opening::Http);
    }
    if matches!(read_client_hello(data, MOST), Ok(Some(_))) {
        assert_eq!(opening, Opening::Tls);
    }
    // Servers skip empty lines before a request.
    if opening == Opening::Http {
        let later = [b"\r\n", data].concat();
        assert!(matches!(classify(&later), Opening::Http | Opening::Wait));
    }
}
