//! Which capability belongs to which place: made once for each and kept, so that what a crash leaves in a list can be
//! named, and never widens another place.

use std::collections::BTreeMap;

use palisade_policy::AbsolutePath;
use serde::{Deserialize, Serialize};

use crate::sid::Sid;

const VERSION: u32 = 1;

/// The capabilities of this user, by the place that each is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities(BTreeMap<AbsolutePath, Sid>);

/// Why a file of capabilities cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CapabilitiesError {
    /// It is not such a file.
    #[error(
        "the file of capabilities cannot be read: {why}; remove it when no session runs, and new ones are made"
    )]
    Unreadable {
        /// What is wrong.
        why: String,
    },
    /// It was written by another version.
    #[error("the file of capabilities has version {0}, and {VERSION} is known")]
    OtherVersion(u32),
    /// An identifier that cannot be a capability: somebody may have it.
    #[error("{sid} for {place} is not a capability")]
    NotACapability {
        /// Which.
        sid: Sid,
        /// For which place.
        place: AbsolutePath,
    },
    /// Two places with one capability, or one place with two: each would open the other.
    #[error("{place} and {other} would share a capability")]
    Shared {
        /// One place.
        place: AbsolutePath,
        /// The other.
        other: AbsolutePath,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    capabilities: Vec<Line>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    place: AbsolutePath,
    sid: Sid,
}

impl Capabilities {
    /// The capability of a place.
    #[must_use]
    pub fn get(&self, place: &AbsolutePath) -> Option<&Sid> {
        self.0.get(place)
    }

    /// Every place and its capability.
    pub fn iter(&self) -> impl Iterator<Item = (&AbsolutePath, &Sid)> {
        self.0.iter()
    }

    /// Gives a place a capability. The place is as the file system spells it, without links.
    ///
    /// # Errors
    /// The place has another one, or the capability belongs to another place, or is none.
    pub fn insert(&mut self, place: AbsolutePath, sid: Sid) -> Result<(), CapabilitiesError> {
        if !sid.looks_like_capability() {
            return Err(CapabilitiesError::NotACapability { sid, place });
        }
        let taken = self
            .0
            .iter()
            .find(|(known, theirs)| (**known == place) != (**theirs == sid));
        if let Some((other, _)) = taken {
            let other = other.clone();
            return Err(CapabilitiesError::Shared { place, other });
        }
        self.0.insert(place, sid);
        Ok(())
    }

    /// Forgets a place that is gone for good, such as the temporary directory of a session.
    pub fn remove(&mut self, place: &AbsolutePath) -> Option<Sid> {
        self.0.remove(place)
    }

    /// From the bytes of the file.
    ///
    /// # Errors
    /// They are no such file, or say something that cannot be.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, CapabilitiesError> {
        let unreadable = |error: serde_json::Error| CapabilitiesError::Unreadable {
            why: error.to_string(),
        };
        let file: File = serde_json::from_slice(bytes).map_err(unreadable)?;
        if file.version != VERSION {
            return Err(CapabilitiesError::OtherVersion(file.version));
        }
        let mut capabilities = Self::default();
        for Line { place, sid } in file.capabilities {
            capabilities.insert(place, sid)?;
        }
        Ok(capabilities)
    }

    /// The bytes of the file. It is written anew and moved into place, never appended to.
    ///
    /// # Errors
    /// A path cannot be written down.
    pub fn to_bytes(&self) -> Result<Vec<u8>, CapabilitiesError> {
        let capabilities = self.iter().map(|(place, sid)| Line {
            place: place.clone(),
            sid: sid.clone(),
        });
        let file = File {
            version: VERSION,
            capabilities: capabilities.collect(),
        };
        let mut bytes =
            serde_json::to_vec_pretty(&file).map_err(|error| CapabilitiesError::Unreadable {
                why: error.to_string(),
            })?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}
