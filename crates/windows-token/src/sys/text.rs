//! Text as Windows wants it: sixteen bits a unit, and a zero at the end.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::windows::ffi::{OsStrExt as _, OsStringExt as _};

/// With a zero at the end.
///
/// # Errors
/// There is one inside, at which Windows would cut the text off.
pub(crate) fn wide(text: &OsStr) -> io::Result<Vec<u16>> {
    let mut units: Vec<u16> = text.encode_wide().collect();
    if units.contains(&0) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the text contains a NUL",
        ));
    }
    units.push(0);
    Ok(units)
}

/// Up to the first zero, or all of it.
pub(crate) fn narrow(units: &[u16]) -> OsString {
    let end = units.iter().position(|unit| *unit == 0);
    OsString::from_wide(units.get(..end.unwrap_or(units.len())).unwrap_or_default())
}
