//! Reading records back.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::Path;

use super::record::AuditRecord;

/// Longer lines are no records of ours.
const LINE_BYTES: u64 = 1024 * 1024;

/// A line that is not a record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be read on.
    #[error("line {line}: {source}")]
    Io {
        /// The line, from 1.
        line: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The line is torn or was not written by us. The lines after it can be read.
    #[error("line {line} is not a record: {problem}")]
    Malformed {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
}

/// The records of a file, oldest first. A torn last line is skipped: somebody is writing it, or died doing so.
///
/// # Errors
/// The file cannot be opened.
pub fn read(path: &Path) -> io::Result<Records> {
    Ok(Records {
        file: Some(BufReader::new(File::open(path)?)),
        line: 0,
    })
}

/// Records as they are read.
#[derive(Debug)]
pub struct Records {
    file: Option<BufReader<File>>,
    line: u64,
}

impl Iterator for Records {
    type Item = Result<AuditRecord, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let file = self.file.as_mut()?;
            self.line += 1;
            let line = self.line;
            let mut bytes = Vec::new();
            let read = file.by_ref().take(LINE_BYTES).read_until(b'\n', &mut bytes);
            if let Err(source) = read {
                self.file = None;
                return Some(Err(ReadError::Io { line, source }));
            }
            let whole = bytes.ends_with(b"\n");
            if !whole && bytes.len() as u64 == LINE_BYTES {
                if let Err(source) = file.skip_until(b'\n') {
                    self.file = None;
                    return Some(Err(ReadError::Io { line, source }));
                }
                let problem = "it is too long".to_owned();
                return Some(Err(ReadError::Malformed { line, problem }));
            }
            if !whole {
                // The last line: complete but for its end, or torn.
                self.file = None;
                return serde_json::from_slice(&bytes).ok().map(Ok);
            }
            let text = bytes.trim_ascii();
            if !text.is_empty() {
                return Some(serde_json::from_slice(text).map_err(|error| {
                    let problem = error.to_string();
                    ReadError::Malformed { line, problem }
                }));
            }
        }
    }
}
