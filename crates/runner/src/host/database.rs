//! The home directory of a user, as the user database names it.

use std::path::PathBuf;

/// The home directory of a user, if the database knows the user and one is written there.
#[cfg(not(all(target_env = "gnu", target_feature = "crt-static")))]
pub(super) fn home_of(uid: u32) -> Option<PathBuf> {
    super::sys::home_of(uid)
}

/// The same for a program with a C library of its own, which cannot load the system's modules for users: they belong to
/// another C library. Whoever is not in the file is asked for with the system's own program.
#[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
pub(super) fn home_of(uid: u32) -> Option<PathBuf> {
    entries::in_file(uid).or_else(|| entries::asked_for(uid))
}

#[cfg(any(
    all(test, target_os = "linux"),
    all(target_env = "gnu", target_feature = "crt-static")
))]
mod entries {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::PathBuf;
    use std::process::{Command, Stdio};

    pub(super) fn in_file(uid: u32) -> Option<PathBuf> {
        home_in(&std::fs::read("/etc/passwd").ok()?, uid)
    }

    pub(super) fn asked_for(uid: u32) -> Option<PathBuf> {
        let answer = Command::new("/usr/bin/getent")
            .args(["passwd", &uid.to_string()])
            .env_clear()
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        home_in(&answer.ok()?.stdout, uid)
    }

    /// The home in the first entry of a user.
    pub(super) fn home_in(entries: &[u8], uid: u32) -> Option<PathBuf> {
        let mut lines = entries.split(|byte| *byte == b'\n');
        let home = lines.find_map(|line| {
            let mut fields = line.split(|byte| *byte == b':');
            let number = std::str::from_utf8(fields.nth(2)?).ok()?;
            let home = fields.nth(2)?;
            (number.parse() == Ok(uid)).then_some(home)
        })?;
        let home = PathBuf::from(OsStr::from_bytes(home));
        home.is_absolute().then_some(home)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{entries, home_of};

    #[test]
    fn the_first_entry_of_a_user_counts() {
        let file = b"root:x:0:0:root:/root:/bin/sh\nshort:x\na:x:7:7:A, B:/home/a:/bin/sh\nb:x:7:7::/b:\nn:x:8:8:::\n";
        let home = |uid| entries::home_in(file, uid);
        assert_eq!(home(0), Some("/root".into()));
        assert_eq!(home(7), Some("/home/a".into()));
        assert_eq!(home(8), None);
        assert_eq!(home(9), None);
    }

    #[test]
    fn every_way_says_the_same() {
        for uid in [0, 1, 65534] {
            if let Some(home) = entries::in_file(uid) {
                assert_eq!(home_of(uid).as_ref(), Some(&home), "{uid}");
                assert_eq!(entries::asked_for(uid), Some(home), "{uid}");
            }
        }
        assert_eq!(entries::asked_for(4_000_000_001), None);
    }
}
