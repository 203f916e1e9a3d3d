//! What every process of a command carries in its environment, so that it is known wherever it goes.

use std::fmt;

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::channel::retry;
use crate::wire::{Malformed, Reader, Wire};

/// A random number, one for each command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Marker(u128);

impl Marker {
    /// The variable that holds it.
    pub(crate) const VARIABLE: &str = "PALISADE_RUN";

    /// One that nobody else has.
    pub(crate) fn random() -> Result<Self, Errno> {
        let mut bytes = [0; 16];
        // So few bytes come at once or not at all.
        match retry(|| getrandom(&mut bytes, GetRandomFlags::empty()))? {
            16 => Ok(Self(u128::from_le_bytes(bytes))),
            _ => Err(Errno::AGAIN),
        }
    }

    /// The one in an environment as the kernel shows it: entries with a zero byte after each. The first counts, as it
    /// does for a program that asks.
    pub(crate) fn in_environment(environment: &[u8]) -> Option<Self> {
        environment
            .split(|byte| *byte == 0)
            .find_map(|entry| {
                entry
                    .strip_prefix(Self::VARIABLE.as_bytes())?
                    .strip_prefix(b"=")
            })
            .and_then(Self::parse)
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let digits = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        digits
            .then(|| u128::from_str_radix(text, 16).ok().map(Self))
            .flatten()
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Wire for Marker {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0.to_le_bytes());
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        let bytes = reader.bytes(size_of::<u128>())?;
        bytes
            .try_into()
            .map(|bytes| Self(u128::from_le_bytes(bytes)))
            .map_err(|_| Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_found_where_it_is_a_variable_of_its_own() {
        let marker = Marker::random().unwrap();
        let entry = format!("{}={marker}", Marker::VARIABLE);
        for before in ["", "A=1\0", "X_PALISADE_RUN=1\0", "PALISADE_RUNNER=1\0"] {
            for after in ["", "\0", "\0B=2\0"] {
                let environment = format!("{before}{entry}{after}");
                let found = Marker::in_environment(environment.as_bytes());
                assert_eq!(found, Some(marker), "{environment:?}");
            }
        }
        for none in ["", "\0", &format!("A={entry}\0"), &format!("{entry}0\0")] {
            assert_eq!(Marker::in_environment(none.as_bytes()), None, "{none:?}");
        }
        assert_eq!(Marker::from_bytes(&marker.to_bytes()), Ok(marker));
    }
}
