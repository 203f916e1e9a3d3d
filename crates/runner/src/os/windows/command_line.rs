//! Arguments as Windows takes them: one line, which nearly every program takes apart by the same rules.

use std::ffi::{OsStr, OsString};
use std::os::windows::ffi::{OsStrExt as _, OsStringExt as _};

const QUOTE: u16 = b'"' as u16;
const BACKSLASH: u16 = b'\\' as u16;

/// The longest line that a process can be given, its end included.
const LONGEST: usize = 32_767;

/// One line that a program of the usual C runtime takes apart into exactly these arguments; `Err` says why there is none.
pub(super) fn join(arguments: &[OsString]) -> Result<OsString, &'static str> {
    let mut line = Vec::new();
    for (index, argument) in arguments.iter().enumerate() {
        let units: Vec<u16> = argument.encode_wide().collect();
        if units.contains(&0) {
            return Err("an argument holds a zero character");
        }
        if index == 0 {
            // The name of the program is read by simpler rules: up to the next quote, and a backslash is one.
            if units.contains(&QUOTE) {
                return Err("the name of the program holds a quote");
            }
            line.push(QUOTE);
            line.extend(units);
            line.push(QUOTE);
        } else {
            line.push(u16::from(b' '));
            quote(&units, &mut line);
        }
    }
    match line.len() < LONGEST {
        true => Ok(OsString::from_wide(&line)),
        false => Err("its arguments are longer than 32766 characters; hand them over in a file"),
    }
}

/// Backslashes mean themselves, but before a quote each is written twice.
fn quote(units: &[u16], line: &mut Vec<u16>) {
    line.push(QUOTE);
    let mut backslashes = 0;
    for unit in units {
        match *unit {
            BACKSLASH => backslashes += 1,
            QUOTE => {
                line.extend(std::iter::repeat_n(BACKSLASH, backslashes + 1));
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        line.push(*unit);
    }
    line.extend(std::iter::repeat_n(BACKSLASH, backslashes));
    line.push(QUOTE);
}

/// Whether a name is that of a batch file. Windows would start the command interpreter for it, which takes the line apart by
/// rules of its own, and runs what it finds in it.
pub(super) fn is_batch(path: &OsStr) -> bool {
    let name = path.to_string_lossy().to_ascii_lowercase();
    // Dots and blanks at the end are not there for Windows, and a stream is the file's.
    let name = name.trim_end_matches(['.', ' ']);
    [".bat", ".cmd"]
        .iter()
        .any(|end| name.ends_with(end) || name.contains(&format!("{end}:")))
}
