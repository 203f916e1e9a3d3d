//! Bytes in JSON: text where they are UTF-8, base64 where they are not.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Serialize, Serializer};

/// A word or a path, of which no byte is lost: a string, or `{"base64": ...}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bytes(OsString);

impl Bytes {
    pub(crate) fn of(text: impl AsRef<OsStr>) -> Self {
        Self(text.as_ref().to_owned())
    }

    pub(crate) fn path(path: &Path) -> Self {
        Self::of(path.as_os_str())
    }

    pub(crate) fn words(words: &[OsString]) -> Vec<Self> {
        words.iter().map(Self::of).collect()
    }
}

#[derive(Serialize)]
struct Encoded {
    base64: String,
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => Encoded {
                base64: STANDARD.encode(self.0.as_encoded_bytes()),
            }
            .serialize(serializer),
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt as _;

    #[test]
    fn no_byte_is_lost() {
        let json = |bytes: &[u8]| {
            let bytes = Bytes(OsString::from_vec(bytes.to_vec()));
            serde_json::to_string(&bytes).unwrap()
        };
        assert_eq!(json("é\n".as_bytes()), r#""é\n""#);
        assert_eq!(json(b"\xff\xfe"), r#"{"base64":"//4="}"#);
    }
}
