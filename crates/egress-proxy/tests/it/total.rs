//! The readers are total, and what they have said stays true whatever follows.

use std::fmt::Debug;

use palisade_egress_proxy::wire::{
    BodyScanner, Framing, HeadLimits, Opening, Side, after_client_hello, classify,
    read_client_hello, read_greeting, read_request, read_response, read_socks_request,
};
use proptest::collection::vec;
use proptest::prelude::*;

const LIMITS: HeadLimits = HeadLimits {
    bytes: 400,
    headers: 6,
};

/// Bytes in pieces that matter to one reader or another, among any others.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "GET ",
        "CONNECT ",
        "http://a.test",
        "a.test:443",
        "/x",
        " HTTP/1.1",
        "HTTP/1.1 200 OK",
        "\r\n",
        "\r\n\r\n",
        "\n",
        "\r",
        " ",
        "\t",
        "\0",
        "Host: a.test\r\n",
        "Content-Length: 3\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Connection: close\r\n",
        "3\r\nabc\r\n",
        "0\r\n\r\n",
        ";x",
        "\u{5}\u{1}\u{0}",
        "\u{3}\u{6}a.test\u{0}\u{50}",
        "\u{16}\u{3}\u{1}\u{0}\u{5}",
        "\u{1}\u{0}\u{0}\u{1}\u{3}",
        "\u{14}\u{3}\u{3}\u{0}\u{1}\u{1}",
    ];
    let piece = prop_oneof![
        8 => proptest::sample::select(pieces.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..6),
    ];
    vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

/// What is found in a beginning is found in the whole, and what is wrong with a beginning is never right again.
fn check_reader<T: PartialEq + Debug, P: PartialEq + Debug>(
    bytes: &[u8],
    read: impl Fn(&[u8]) -> Result<Option<T>, P>,
) -> Result<(), TestCaseError> {
    let whole = read(bytes);
    for end in 0..bytes.len() {
        match read(&bytes[..end]) {
            Ok(None) => {}
            Err(_) => prop_assert!(whole.is_err(), "{end}: {:?}", bytes.escape_ascii()),
            found => prop_assert_eq!(&found, &whole, "{}: {:?}", end, bytes.escape_ascii()),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn readers(bytes in bytes()) {
        check_reader(&bytes, |bytes| read_request(bytes, LIMITS))?;
        check_reader(&bytes, |bytes| read_response(bytes, LIMITS, "GET"))?;
        check_reader(&bytes, read_greeting)?;
        check_reader(&bytes, read_socks_request)?;
        check_reader(&bytes, |bytes| read_client_hello(bytes, 200))?;
        check_reader(&bytes, after_client_hello)?;
        check_reader(&bytes, |bytes| match classify(bytes) {
            Opening::Wait => Ok::<_, ()>(None),
            opening => Ok(Some(opening)),
        })?;
    }

    #[test]
    fn what_is_read_is_really_there(bytes in bytes()) {
        if let Ok(Some(head)) = read_request(&bytes, LIMITS) {
            prop_assert!(bytes[..head.length()].ends_with(b"\r\n\r\n"));
            prop_assert_eq!(bytes.windows(4).position(|it| it == b"\r\n\r\n"), Some(head.length() - 4));
        }
    }

    #[test]
    fn bodies_end_in_one_place(bytes in bytes(), cut in 0..100_usize, length in 0..40_u64) {
        for framing in [Framing::Chunked, Framing::Length(length), Framing::UntilClose] {
            for side in [Side::Client, Side::Server] {
                let whole = BodyScanner::new(framing, side).scan(&bytes);
                let mut scanner = BodyScanner::new(framing, side);
                let (start, rest) = bytes.split_at(cut.min(bytes.len()));
                let pieces = scanner.scan(start).and_then(|first| {
                    if first < start.len() { Ok(first) } else { Ok(first + scanner.scan(rest)?) }
                });
                prop_assert_eq!(whole, pieces);
            }
        }
    }
}
