//! Messages between caller and helper: any bytes are refused or understood, and what was understood is sent as it was
//! understood. What is held in memory is not more than a small multiple of what arrived.

use palisade_linux_landlock::untrusted::MESSAGES;

/// Reads the bytes as each kind of message.
pub fn run(data: &[u8]) {
    for (name, read) in MESSAGES {
        let Some(sent) = read(data) else { continue };
        // Paths and rights are written in one way only, which is never longer.
        assert!(sent.len() <= data.len(), "a {name} grew on its way");
        let again = read(&sent).unwrap_or_else(|| panic!("a {name} that was sent is refused"));
        assert_eq!(again, sent, "a {name} changed on its way");
    }
}
