//! What a run is started with: data, made by the lowering and printable.

use std::fmt;

use palisade_policy::AbsolutePath;

use crate::profile::Profile;

/// Everything that applying a policy on macOS needs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SeatbeltPlan {
    /// What `sandbox-exec` is told.
    pub profile: Profile,
    /// The directory for temporary files that only this session has. It must exist.
    pub session_tmp: Option<AbsolutePath>,
    /// Variables that the command must see, and what they are: the places of temporary files.
    pub environment: Vec<(&'static str, AbsolutePath)>,
}

impl SeatbeltPlan {
    /// The variables that point to temporary files.
    pub const TEMPORARY: [&'static str; 3] = ["TMPDIR", "TEMP", "TMP"];

    pub(crate) fn new(profile: Profile, session_tmp: Option<AbsolutePath>) -> Self {
        let environment = session_tmp
            .iter()
            .flat_map(|tmp| Self::TEMPORARY.map(|name| (name, tmp.clone())))
            .collect();
        Self {
            profile,
            session_tmp,
            environment,
        }
    }
}

impl fmt::Display for SeatbeltPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.profile.fmt(f)?;
        for (name, value) in &self.environment {
            writeln!(f, "; {name}={}", value.to_string().escape_debug())?;
        }
        Ok(())
    }
}
