//! ClientHellos: the name is the same however the message is cut into records, and nothing is hidden behind it.

use palisade_egress_proxy::wire::{
    AfterHello, HelloProblem, Opening, after_client_hello, classify, read_client_hello,
};

use crate::pieces;

const MOST: usize = 1024;

/// Reads the bytes as a ClientHello, and as what comes after one.
pub fn run(data: &[u8]) {
    pieces::check(data, |bytes| read_client_hello(bytes, MOST));
    pieces::check(data, after_client_hello);
    match after_client_hello(data) {
        Ok(Some(AfterHello::Again(at))) => assert_eq!(data[at], 22),
        Ok(None) => assert!(data.len() < 128, "it waits for ever"),
        _ => {}
    }
    // The message alone is a hello too: most inputs are no records.
    if data.len() < MOST - 9 {
        let length = (data.len() as u32).to_be_bytes();
        let mut message = vec![1];
        message.extend(&length[1..]);
        message.extend(data);
        let found = in_records(&message, MOST);
        if found.is_ok() {
            for size in [2, 5, message.len() / 2 + 1] {
                assert_eq!(in_records(&message, size), found, "in records of {size}");
            }
        }
    }
    let found = read_client_hello(data, MOST);
    if found == Ok(None) {
        assert!(data.len() < MOST, "it waits for ever");
    }
    if let Ok(Some(hello)) = found {
        assert!(hello.length <= MOST && hello.length <= data.len());
        assert!(hello.server_name.is_none_or(|name| name.is_ascii()));
        assert_eq!(classify(data), Opening::Tls, "it would not be looked at");
    }
}

/// The name and whether another one is hidden, read from records of this size.
fn in_records(message: &[u8], size: usize) -> Result<Option<(Option<String>, bool)>, HelloProblem> {
    let mut records = Vec::new();
    for part in message.chunks(size) {
        records.extend([22, 3, 1]);
        records.extend((part.len() as u16).to_be_bytes());
        records.extend(part);
    }
    let hello = read_client_hello(&records, 16 * MOST)?;
    Ok(hello.map(|hello| {
        assert_eq!(hello.length, records.len());
        (hello.server_name, hello.is_encrypted)
    }))
}
