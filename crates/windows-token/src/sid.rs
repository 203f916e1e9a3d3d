//! Security identifiers: who a token is, and whom an entry of an access list speaks of.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A security identifier, such as `S-1-5-18`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Sid {
    authority: u64,
    sub_authorities: Vec<u32>,
}

/// A text or bytes that are no security identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a security identifier; one looks like S-1-5-18", .0.escape_debug())]
pub struct SidError(String);

impl Sid {
    /// Windows allows no more.
    pub const MAX_SUB_AUTHORITIES: usize = 15;

    /// From its parts: an authority below 2^48, and one to fifteen further numbers.
    ///
    /// # Errors
    /// There are too many numbers or none, or the authority is too large.
    pub fn new(authority: u64, sub_authorities: impl Into<Vec<u32>>) -> Result<Self, SidError> {
        let sid = Self {
            authority,
            sub_authorities: sub_authorities.into(),
        };
        let count = sid.sub_authorities.len();
        if authority >> 48 != 0 || count == 0 || count > Self::MAX_SUB_AUTHORITIES {
            return Err(SidError(sid.to_string()));
        }
        Ok(sid)
    }

    /// A capability: an identifier that nobody has, made of random numbers, for the token of one root.
    #[must_use]
    pub fn capability(random: [u32; 4]) -> Self {
        let [a, b, c, d] = random;
        Self {
            authority: 5,
            sub_authorities: vec![21, a, b, c, d],
        }
    }

    /// `S-1-1-0`: everybody.
    #[must_use]
    pub fn everyone() -> Self {
        Self {
            authority: 1,
            sub_authorities: vec![0],
        }
    }

    /// `S-1-5-18`: the system itself.
    #[must_use]
    pub fn local_system() -> Self {
        Self {
            authority: 5,
            sub_authorities: vec![18],
        }
    }

    /// `S-1-5-32-544`: administrators.
    #[must_use]
    pub fn administrators() -> Self {
        Self {
            authority: 5,
            sub_authorities: vec![32, 544],
        }
    }

    /// `S-1-3-4`: whoever owns the object, in the access list of that object.
    #[must_use]
    pub fn owner_rights() -> Self {
        Self {
            authority: 3,
            sub_authorities: vec![4],
        }
    }

    /// `S-1-5-12`: every restricted token, in both checks. Nobody is granted anything by this name here.
    #[must_use]
    pub fn restricted_code() -> Self {
        Self {
            authority: 5,
            sub_authorities: vec![12],
        }
    }

    /// `S-1-5-33`: every write-restricted token, as above.
    #[must_use]
    pub fn write_restricted() -> Self {
        Self {
            authority: 5,
            sub_authorities: vec![33],
        }
    }

    /// Whether it has the form of a capability. Accounts have it too: what says that it is one is the file that keeps
    /// them.
    #[must_use]
    pub fn looks_like_capability(&self) -> bool {
        self.authority == 5 && matches!(self.sub_authorities.as_slice(), [21, _, _, _, _])
    }

    /// The bytes that it takes.
    #[must_use]
    pub const fn size(&self) -> usize {
        8 + self.sub_authorities.len() * 4
    }

    /// As Windows keeps it in memory: revision, count, authority (high byte first), numbers (low byte first).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let count = u8::try_from(self.sub_authorities.len()).unwrap_or(u8::MAX);
        let mut bytes = vec![1, count];
        bytes.extend(self.authority.to_be_bytes().into_iter().skip(2));
        for number in &self.sub_authorities {
            bytes.extend(number.to_le_bytes());
        }
        bytes
    }

    /// From the bytes that Windows keeps, and how many of them it takes.
    ///
    /// # Errors
    /// They are too few, or no identifier.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, usize), SidError> {
        let bad = || SidError(format!("{bytes:02x?}"));
        let (Some([1, count]), Some(authority)) = (bytes.get(..2), bytes.get(2..8)) else {
            return Err(bad());
        };
        let length = 8 + usize::from(*count) * 4;
        let numbers = bytes.get(8..length).ok_or_else(bad)?;
        let authority = authority
            .iter()
            .fold(0, |value, byte| value << 8 | u64::from(*byte));
        let numbers: Vec<u32> = numbers
            .chunks_exact(4)
            .map(|chunk| {
                chunk
                    .iter()
                    .rev()
                    .fold(0, |value, byte| value << 8 | u32::from(*byte))
            })
            .collect();
        Ok((Self::new(authority, numbers)?, length))
    }
}

impl fmt::Display for Sid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "S-1-{}", self.authority)?;
        for number in &self.sub_authorities {
            write!(f, "-{number}")?;
        }
        Ok(())
    }
}

impl FromStr for Sid {
    type Err = SidError;

    fn from_str(text: &str) -> Result<Self, SidError> {
        let bad = || SidError(text.to_owned());
        let mut parts = text.strip_prefix("S-1-").ok_or_else(bad)?.split('-');
        let number = |part: &str| match part.bytes().all(|byte| byte.is_ascii_digit()) {
            true => part.parse::<u64>().map_err(|_| bad()),
            false => Err(bad()),
        };
        let authority = number(parts.next().ok_or_else(bad)?)?;
        let numbers: Result<Vec<u32>, SidError> = parts
            .map(|part| number(part).and_then(|value| u32::try_from(value).map_err(|_| bad())))
            .collect();
        Self::new(authority, numbers?)
    }
}

impl TryFrom<String> for Sid {
    type Error = SidError;

    fn try_from(text: String) -> Result<Self, SidError> {
        text.parse()
    }
}

impl From<Sid> for String {
    fn from(sid: Sid) -> Self {
        sid.to_string()
    }
}
