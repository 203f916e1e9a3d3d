//! The text of a journal: one record a line, each with its version and a sum over it.

use super::JournalError;
use super::record::Record;

/// What the lines of this version begin with.
const VERSION: &str = "1";

/// What a text holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Journal {
    /// The records.
    pub records: Vec<Record>,
    /// How many bytes they take. What follows is a line that was not written to its end: cut the file here before
    /// anything is appended to it.
    pub good_bytes: usize,
    /// Whether there is such a line.
    pub torn: bool,
}

/// A record as one line, with its end.
///
/// # Errors
/// The record cannot be written as text.
pub fn encode(record: &Record) -> Result<String, JournalError> {
    let json = serde_json::to_string(record).map_err(|error| JournalError::Unwritable {
        why: error.to_string(),
    })?;
    Ok(format!("{VERSION} {:08x} {json}\n", crc32(json.as_bytes())))
}

/// The records of a text.
///
/// # Errors
/// A line is damaged that is not the last one, or was written by another version.
pub fn decode(text: &[u8]) -> Result<Journal, JournalError> {
    let mut journal = Journal::default();
    let mut rest = text;
    let mut line = 0;
    while !rest.is_empty() {
        line += 1;
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
            journal.torn = true;
            break;
        };
        let (this, after) = rest.split_at(end);
        // Past the end of the line, which was found.
        let after = after.get(1..).unwrap_or_default();
        match read(this, line) {
            Ok(record) => {
                journal.records.push(record);
                journal.good_bytes = text.len() - after.len();
            }
            // Blocks reach a disk in any order, so the end of a line can be there without its middle.
            Err(JournalError::Damaged { .. }) if after.is_empty() => journal.torn = true,
            Err(error) => return Err(error),
        }
        rest = after;
    }
    Ok(journal)
}

fn read(bytes: &[u8], line: usize) -> Result<Record, JournalError> {
    let damaged = |why: &str| JournalError::Damaged {
        line,
        why: why.to_owned(),
    };
    let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is not text"))?;
    let (version, text) = text
        .split_once(' ')
        .ok_or_else(|| damaged("it has no sum"))?;
    let (sum, json) = text
        .split_once(' ')
        .ok_or_else(|| damaged("it has no sum"))?;
    if version != VERSION {
        return Err(match version.bytes().all(|byte| byte.is_ascii_digit()) {
            true if !version.is_empty() => JournalError::OtherVersion { line },
            _ => damaged("it has no version"),
        });
    }
    if sum != format!("{:08x}", crc32(json.as_bytes())) {
        return Err(damaged("its sum is another"));
    }
    serde_json::from_str(json).map_err(|error| JournalError::Damaged {
        line,
        why: error.to_string(),
    })
}

/// The sum of Ethernet and of zip files: it notices every tear, and nobody relies on it against an attacker.
fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            let carry = sum & 1;
            sum >>= 1;
            if carry == 1 {
                sum ^= 0xEDB8_8320;
            }
        }
    }
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_the_usual_one() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }
}
