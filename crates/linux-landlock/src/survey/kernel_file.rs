//! Files that the kernel writes while they are read.

use std::fs::File;
use std::io::{self, Read as _};

/// More than most of them hold. They have no size, so a reader that knows no better begins with a few bytes, and the
/// kernel starts its list again for every piece.
const USUAL: usize = 16 << 10;

/// Reads such a file, or as much of it as the limit allows.
pub(super) fn read(path: &str, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(USUAL);
    File::open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The same for one that holds text.
pub(super) fn read_text(path: &str) -> io::Result<String> {
    String::from_utf8(read(path, u64::MAX)?).map_err(io::Error::other)
}
