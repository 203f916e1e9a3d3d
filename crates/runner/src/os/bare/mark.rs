//! What every process of a command carries in its environment.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

/// A random text, one for each command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark(OsString);

impl Mark {
    /// The variable that holds it; the Linux sandbox uses the same.
    pub(super) const VARIABLE: &str = "PALISADE_RUN";

    pub(super) fn random() -> Result<Self, Errno> {
        let mut bytes = [0; 16];
        loop {
            match getrandom(&mut bytes, GetRandomFlags::empty()) {
                Err(Errno::INTR) => {}
                Ok(16) => return Ok(Self(format!("{:032x}", u128::from_le_bytes(bytes)).into())),
                Ok(_) => return Err(Errno::AGAIN),
                Err(errno) => return Err(errno),
            }
        }
    }

    pub(super) const fn text(&self) -> &OsString {
        &self.0
    }

    /// Whether an environment, as the kernel shows it, holds this mark.
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

#[cfg(test)]
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
