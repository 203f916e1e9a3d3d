//! What the Windows backend reads: its journal, its table of capabilities, and a command line as programs take it apart.

use palisade_windows_token::command_line::{join_wide, split};
use palisade_windows_token::journal::{Capabilities, Ledger, decode, encode};

/// Reads the bytes as each of them.
pub fn run(data: &[u8]) {
    if let Ok(table) = Capabilities::from_bytes(data) {
        let bytes = table
            .to_bytes()
            .expect("a table that was read can be written");
        let back = Capabilities::from_bytes(&bytes).expect("and read back");
        assert!(back == table);
    }
    if let Ok(journal) = decode(data) {
        for record in &journal.records {
            let line = encode(record).expect("a record that was read can be written");
            let back = decode(line.as_bytes()).expect("and read back");
            assert_eq!(back.records, std::slice::from_ref(record));
        }
        if let Ok(ledger) = Ledger::new(&journal.records) {
            let _ = ledger.pending(|_, _| false);
        }
    }
    let units: Vec<u16> = data
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    let words = split(&units);
    // Words that a line was taken apart into can be put together again, and mean the same.
    if let Ok(line) = join_wide(&words) {
        let line = line.strip_suffix(&[0]).unwrap_or(&line);
        assert_eq!(split(line), words);
    }
    let given: Vec<Vec<u16>> = units
        .split(|unit| *unit == 0)
        .map(<[u16]>::to_vec)
        .collect();
    if let Ok(line) = join_wide(&given) {
        let line = line.strip_suffix(&[0]).unwrap_or(&line);
        assert_eq!(split(line), given);
    }
}
