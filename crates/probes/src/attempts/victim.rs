//! The process that attempts aim at: it holds a secret in every place from which one can be taken.

use std::ffi::OsString;
use std::hint::black_box;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;

use super::secrets::key_name;
use crate::sys::{files, ipc};

/// Says where its secret is, then waits for the end of its input.
pub(crate) fn serve(arguments: &[OsString]) -> Result<String, String> {
    let secret = arguments
        .first()
        .and_then(|secret| secret.to_str())
        .ok_or("usage: palisade-probe victim SECRET")?;
    let mut file = files::memory_file("secret", false).map_err(|error| error.to_string())?;
    file.write_all(secret.as_bytes())
        .map_err(|error| error.to_string())?;
    // Where there are no keys, there is nothing to steal.
    let key = ipc::add_key(&key_name(std::process::id()), secret);
    let memory = secret.to_owned().into_boxed_str();
    let mut out = io::stdout();
    writeln!(
        out,
        "{} {}",
        memory.as_ptr().expose_provenance(),
        file.as_raw_fd()
    )
    .and_then(|()| out.flush())
    .map_err(|error| error.to_string())?;
    let _ = io::stdin().read(&mut [0_u8; 1]);
    black_box(&memory);
    if let Ok(key) = key {
        ipc::remove_key(key);
    }
    Ok(String::new())
}
