//! What tells the denials of one session from those of all others.

use std::fmt;
use std::fs;
use std::io::{self, Read as _};

/// How every message of a profile begins.
const MESSAGE: &str = "(with message \"palisade:";

/// A text that no other session has, put before the messages of a profile, which the kernel writes below a denial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTag(String);

impl RunTag {
    /// A new one.
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 16];
        fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(format!(
            "palisade-{:032x}",
            u128::from_le_bytes(bytes)
        )))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text of a profile, with every message of it beginning with this tag. No path of the host is in it, so nothing
    /// else looks like one.
    #[must_use]
    pub fn put_into(&self, profile: &str) -> String {
        profile.replace(MESSAGE, &format!("(with message \"{}:", self.0))
    }
}

impl fmt::Display for RunTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::Profile;

    #[test]
    fn every_message_of_a_profile_has_the_tag_of_its_session() {
        let tag = RunTag::random().unwrap();
        assert_ne!(tag, RunTag::random().unwrap());
        let plain = Profile::default().text();
        let text = tag.put_into(&plain);
        assert!(text.contains("(deny default"));
        let count = |text: &str, what: &str| text.matches(what).count();
        let messages = count(&plain, "(with message ");
        assert!(messages > 0);
        assert_eq!(count(&text, "(with message "), messages);
        assert_eq!(count(&text, &format!("(with message \"{tag}:")), messages);
        assert_eq!(text.replace(tag.as_str(), "palisade"), plain);
    }
}
