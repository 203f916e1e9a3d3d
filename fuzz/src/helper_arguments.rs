//! The command line of the helpers: any words are refused or understood strictly. Words are separated by a zero byte, as the
//! system separates them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use palisade_linux_landlock::wrapper::Wrapped;
use palisade_windows_token::wrapper::Wrapped as WindowsWrapped;

/// Hands the words to both helpers.
pub fn run(data: &[u8]) {
    let words: Vec<OsString> = data
        .split(|byte| *byte == 0)
        .map(|word| OsStr::from_bytes(word).to_owned())
        .collect();
    let after = words.iter().position(|word| word == "--");
    match Wrapped::parse(words.clone()) {
        Ok(wrapped) => {
            // What follows the first `--` is the command, to the last word.
            let command = after.and_then(|at| words.get(at + 1..));
            let argv = Some(wrapped.argv.as_slice());
            assert!(argv == command || is_value(&words, after), "{argv:?}");
            assert!(!wrapped.argv.is_empty());
            assert!(wrapped.status_fd.is_none_or(|fd| fd > 2));
            for place in [&wrapped.host_home, &wrapped.host_tmpdir] {
                let relative =
                    |path: &std::path::PathBuf| path.is_relative() && !path.as_os_str().is_empty();
                assert!(!place.as_ref().is_some_and(relative));
            }
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
    match WindowsWrapped::parse(words) {
        Ok(wrapped) => assert!(!wrapped.argv.is_empty()),
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
}

/// Whether the first `--` is the value of an option before it.
fn is_value(words: &[OsString], at: Option<usize>) -> bool {
    at.and_then(|at| words.get(at.checked_sub(1)?))
        .is_some_and(|option| {
            option
                .to_str()
                .is_some_and(|option| option.starts_with("--"))
        })
}
