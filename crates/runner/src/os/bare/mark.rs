//! What every process of a command carries in its environment.

use std::ffi::OsString;
#[cfg(target_os = "linux")]
use std::os::unix::ffi::OsStrExt as _;

use rustix::io::Errno;

/// A random text, one for each command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark(OsString);

impl Mark {
    /// The variable that holds it; the Linux sandbox uses the same.
    pub(super) const VARIABLE: &str = "PALISADE_RUN";

    pub(super) fn random() -> Result<Self, Errno> {
        let mut bytes = [0; 16];
        fill(&mut bytes)?;
        Ok(Self(format!("{:032x}", u128::from_le_bytes(bytes)).into()))
    }

    pub(super) const fn text(&self) -> &OsString {
        &self.0
    }

    /// The whole entry of an environment.
    #[cfg(all(target_os = "macos", feature = "seatbelt"))]
    pub(super) fn entry(&self) -> OsString {
        let mut entry = OsString::from(format!("{}=", Self::VARIABLE));
        entry.push(&self.0);
        entry
    }

    /// Whether an environment, as the kernel shows it, holds this mark.
    #[cfg(target_os = "linux")]
    pub(super) fn is_in(&self, environment: &[u8]) -> bool {
        environment
            .split(|byte| *byte == 0)
            .filter_map(|entry| {
                entry
                    .strip_prefix(Self::VARIABLE.as_bytes())?
                    .strip_prefix(b"=")
            })
            .any(|value| value == self.0.as_bytes())
    }
}

#[cfg(target_os = "linux")]
fn fill(bytes: &mut [u8; 16]) -> Result<(), Errno> {
    use rustix::rand::{GetRandomFlags, getrandom};
    loop {
        match getrandom(&mut *bytes, GetRandomFlags::empty()) {
            Err(Errno::INTR) => {}
            Ok(16) => return Ok(()),
            Ok(_) => return Err(Errno::AGAIN),
            Err(errno) => return Err(errno),
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn fill(bytes: &mut [u8; 16]) -> Result<(), Errno> {
    use std::io::Read as _;
    std::fs::File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(bytes))
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_where_it_is_a_variable_of_its_own() {
        let mark = Mark::random().unwrap();
        let text = mark.text().to_str().unwrap().to_owned();
        assert!(mark.is_in(format!("A=1\0PALISADE_RUN={text}\0B=2\0").as_bytes()));
        assert!(!mark.is_in(format!("A=PALISADE_RUN={text}\0").as_bytes()));
        assert!(!mark.is_in(format!("PALISADE_RUN={text}0\0").as_bytes()));
        assert!(!mark.is_in(b""));
        assert_ne!(Mark::random().unwrap(), mark);
    }
}
