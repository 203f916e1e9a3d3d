//! Variables that flags set or pass on.

use std::ffi::{OsStr, OsString};

use crate::complaint::Complaint;

/// `K=V` sets a variable; `K` alone passes the caller's on, if there is one, even if the rules would hide it: whoever
/// names it wants it. Every byte of a value is kept.
///
/// # Errors
/// There is no name.
pub(super) fn read(flags: &[OsString]) -> Result<Vec<(OsString, OsString)>, Complaint> {
    let mut variables = Vec::with_capacity(flags.len());
    for flag in flags {
        let (name, value) = split(flag);
        if name.is_empty() {
            let shown = palisade::runner::approve::visible(&flag.to_string_lossy());
            return Err(Complaint::usage(format!(
                "--env {shown}: there is no name before the equals sign"
            ))
            .help("--env NAME=VALUE sets a variable, --env NAME passes yours on"));
        }
        // As with other programs: what is not set stays not set.
        if let Some(value) = value.or_else(|| std::env::var_os(&name)) {
            variables.push((name, value));
        }
    }
    Ok(variables)
}

#[cfg(unix)]
fn split(flag: &OsStr) -> (OsString, Option<OsString>) {
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    let mut parts = flag.as_bytes().splitn(2, |byte| *byte == b'=');
    let name = parts.next().unwrap_or_default().to_vec();
    let value = parts.next().map(|value| OsString::from_vec(value.to_vec()));
    (OsString::from_vec(name), value)
}

#[cfg(not(unix))]
fn split(flag: &OsStr) -> (OsString, Option<OsString>) {
    let text = flag.to_string_lossy();
    match text.split_once('=') {
        Some((name, value)) => (name.into(), Some(value.into())),
        None => (flag.to_owned(), None),
    }
}
