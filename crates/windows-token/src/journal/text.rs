//! The text of a journal: one record a line, each with its version, its length and a sum over it.

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
    let (length, sum) = (json.len(), crc32(json.as_bytes()));
    Ok(format!("{VERSION} {length} {sum:08x} {json}\n"))
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
        let end = rest.iter().position(|byte| *byte == b'\n');
        let (this, after) = rest.split_at(end.unwrap_or(rest.len()));
        // Past the end of the line, if there is one.
        let after = after.get(1..).unwrap_or_default();
        match read(this, line) {
            Ok(record) if end.is_some() => {
                journal.records.push(record);
                journal.good_bytes = text.len() - after.len();
            }
            Ok(_) => journal.torn = true,
            // Blocks reach a disk in any order, so the end of a line can be there without its middle. But a line that is
            // longer than it should be has lost its end, and others with it.
            Err(JournalError::Damaged { .. }) if after.is_empty() && !is_too_long(this) => {
                journal.torn = true;
            }
            Err(error) => return Err(error),
        }
        rest = after;
    }
    Ok(journal)
}

/// The parts of a line: version, length, sum and record.
fn parts(line: &[u8]) -> Option<[&[u8]; 4]> {
    let mut parts = line.splitn(4, |byte| *byte == b' ');
    Some([parts.next()?, parts.next()?, parts.next()?, parts.next()?])
}

fn length(written: &[u8]) -> Option<usize> {
    std::str::from_utf8(written).ok()?.parse().ok()
}

fn is_too_long(line: &[u8]) -> bool {
    parts(line).is_some_and(|[_, written, _, json]| {
        length(written).is_some_and(|length| json.len() > length)
    })
}

fn read(bytes: &[u8], line: usize) -> Result<Record, JournalError> {
    let damaged = |why: &str| JournalError::Damaged {
        line,
        why: why.to_owned(),
    };
    let [version, written, sum, json] = parts(bytes).ok_or_else(|| damaged("it is cut short"))?;
    if version != VERSION.as_bytes() {
        return Err(match version {
            [_, ..] if version.iter().all(u8::is_ascii_digit) => {
                JournalError::OtherVersion { line }
            }
            _ => damaged("it has no version"),
        });
    }
    if length(written) != Some(json.len()) {
        return Err(damaged("its length is another"));
    }
    if sum != format!("{:08x}", crc32(json)).as_bytes() {
        return Err(damaged("its sum is another"));
    }
    serde_json::from_slice(json).map_err(|error| JournalError::Damaged {
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
