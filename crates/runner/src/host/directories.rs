//! The directories that the user's programs share.

use std::path::Path;

/// The variables that say where the directories of a user are.
pub(super) struct Variables {
    /// The home directory.
    pub(super) home: &'static str,
    /// What some programs take for the home directory instead.
    pub(super) other_home: Option<&'static str>,
    /// Temporary files, the first one that is there.
    pub(super) tmpdir: &'static [&'static str],
    /// State, and where it is below home if the variable does not say.
    pub(super) state: (&'static str, &'static str),
    /// Configuration, likewise.
    pub(super) config: (&'static str, &'static str),
}

/// Those of this system.
#[cfg(not(windows))]
pub(super) const VARIABLES: Variables = Variables {
    home: "HOME",
    other_home: None,
    tmpdir: &["TMPDIR"],
    state: ("XDG_STATE_HOME", ".local/state"),
    config: ("XDG_CONFIG_HOME", ".config"),
};

/// Those of this system. Programs that come from Unix ask `HOME` here, too.
#[cfg(windows)]
pub(super) const VARIABLES: Variables = Variables {
    home: "USERPROFILE",
    other_home: Some("HOME"),
    tmpdir: &["TMP", "TEMP"],
    state: ("LOCALAPPDATA", r"AppData\Local"),
    config: ("APPDATA", r"AppData\Roaming"),
};

/// What our directory is called below the user's.
pub(super) const NAME: &str = "palisade";

/// Whether a directory is the user's own and nobody else's, as the specification of `XDG_RUNTIME_DIR` demands. Under
/// `sudo` the variable often names that of somebody else.
#[cfg(unix)]
pub(super) fn is_private_to(path: &Path, uid: Option<u32>) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path)
        .is_ok_and(|found| found.is_dir() && Some(found.uid()) == uid && found.mode() & 0o077 == 0)
}

#[cfg(not(unix))]
pub(super) fn is_private_to(_: &Path, _: Option<u32>) -> bool {
    false
}
