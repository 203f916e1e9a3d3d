//! Paths on their way through serde, before they are checked.
//!
//! A path that is Unicode is a string. One that is not must not be changed on the way, so it travels as
//! `{ "unix_bytes": "2f77ff" }` (hexadecimal), or on Windows as `{ "windows_wide": "..." }`.

use std::fmt;
use std::path::PathBuf;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

#[cfg(unix)]
const ENCODED: &str = "unix_bytes";
#[cfg(windows)]
const ENCODED: &str = "windows_wide";

/// An unchecked path that survives serde unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawPath(pub(crate) PathBuf);

impl Serialize for RawPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = self.0.to_str() {
            return serializer.serialize_str(text);
        }
        #[cfg(any(unix, windows))]
        {
            let mut map = serializer.serialize_map(Some(1))?;
            map.serialize_entry(ENCODED, &encode(&self.0))?;
            map.end()
        }
        #[cfg(not(any(unix, windows)))]
        Err(serde::ser::Error::custom("a path that is not Unicode"))
    }
}

impl<'de> Deserialize<'de> for RawPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PathVisitor)
    }
}

struct PathVisitor;

impl<'de> Visitor<'de> for PathVisitor {
    type Value = RawPath;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a path")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<RawPath, E> {
        Ok(RawPath(PathBuf::from(text)))
    }

    #[cfg(any(unix, windows))]
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawPath, A::Error> {
        let Some((key, hex)) = map.next_entry::<String, String>()? else {
            return Err(de::Error::missing_field(ENCODED));
        };
        if key != ENCODED {
            return Err(de::Error::unknown_field(&key, &[ENCODED]));
        }
        if let Some(extra) = map.next_key::<String>()? {
            return Err(de::Error::unknown_field(&extra, &[ENCODED]));
        }
        decode(&hex).map(RawPath).ok_or_else(|| {
            de::Error::invalid_value(de::Unexpected::Str(&hex), &"pairs of hexadecimal digits")
        })
    }
}

#[cfg(unix)]
fn encode(path: &std::path::Path) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt as _;

    path.as_os_str()
        .as_bytes()
        .iter()
        .fold(String::new(), |mut hex, byte| {
            // Writing to a `String` cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

#[cfg(unix)]
fn decode(hex: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;

    hex_units(hex, 2)?
        .map(|unit| u8::from_str_radix(unit, 16).ok())
        .collect::<Option<Vec<u8>>>()
        .map(|bytes| PathBuf::from(std::ffi::OsString::from_vec(bytes)))
}

#[cfg(windows)]
fn encode(path: &std::path::Path) -> String {
    use std::fmt::Write as _;
    use std::os::windows::ffi::OsStrExt as _;

    path.as_os_str()
        .encode_wide()
        .fold(String::new(), |mut hex, unit| {
            // Writing to a `String` cannot fail.
            let _ = write!(hex, "{unit:04x}");
            hex
        })
}

#[cfg(windows)]
fn decode(hex: &str) -> Option<PathBuf> {
    use std::os::windows::ffi::OsStringExt as _;

    hex_units(hex, 4)?
        .map(|unit| u16::from_str_radix(unit, 16).ok())
        .collect::<Option<Vec<u16>>>()
        .map(|units| PathBuf::from(std::ffi::OsString::from_wide(&units)))
}

/// The digits of each unit, if there are whole units of hexadecimal digits and nothing else.
#[cfg(any(unix, windows))]
fn hex_units(hex: &str, digits: usize) -> Option<impl Iterator<Item = &str>> {
    let whole =
        hex.bytes().all(|byte| byte.is_ascii_hexdigit()) && hex.len().is_multiple_of(digits);
    whole
        .then(|| (0..hex.len() / digits).filter_map(move |i| hex.get(i * digits..(i + 1) * digits)))
}
