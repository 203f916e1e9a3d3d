//! Values of variables on their way through serde: a string, or `{ "unix_bytes": "66ff" }` where they are not Unicode.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use serde::de::Error as _;
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Raw {
    Text(String),
    Encoded(Encoded),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Encoded {
    unix_bytes: String,
}

pub(super) fn serialize<S: Serializer>(
    set: &BTreeMap<OsString, OsString>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(set.len()))?;
    for (name, value) in set {
        let name = name
            .to_str()
            .ok_or_else(|| S::Error::custom("a variable whose name is not Unicode"))?;
        let value = match value.to_str() {
            Some(text) => Raw::Text(text.to_owned()),
            None => Raw::Encoded(Encoded {
                unix_bytes: hex(value),
            }),
        };
        map.serialize_entry(name, &value)?;
    }
    map.end()
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<OsString, OsString>, D::Error> {
    BTreeMap::<String, Raw>::deserialize(deserializer)?
        .into_iter()
        .map(|(name, value)| match value {
            Raw::Text(text) => Ok((name.into(), text.into())),
            Raw::Encoded(Encoded { unix_bytes }) => decode(&unix_bytes)
                .map(|value| (name.into(), value))
                .ok_or_else(|| D::Error::custom("`unix_bytes` is not hexadecimal here")),
        })
        .collect()
}

fn hex(value: &OsStr) -> String {
    use std::fmt::Write as _;
    value
        .as_encoded_bytes()
        .iter()
        .fold(String::new(), |mut hex, byte| {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

#[cfg(unix)]
fn decode(hex: &str) -> Option<OsString> {
    use std::os::unix::ffi::OsStringExt as _;
    if !hex.is_ascii() || !hex.len().is_multiple_of(2) {
        return None;
    }
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok())
        .collect::<Option<Vec<u8>>>()
        .map(OsString::from_vec)
}

#[cfg(not(unix))]
fn decode(_: &str) -> Option<OsString> {
    None
}
