//! Where a path really leads.

use std::io;
use std::path::{Path, PathBuf};

/// A path with its links resolved, spelled as paths usually are: without the prefix `\\?\` that Windows puts before it,
/// wherever it means the same without.
///
/// # Errors
/// Nothing is there, or the system does not say.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    #[cfg(windows)]
    let real = plain(real);
    Ok(real)
}

/// The longest path that every call takes without that prefix.
#[cfg(windows)]
const LONGEST: usize = 259;

/// Without the prefix, where every name means the same without it: no blank or dot at the end, and no device.
#[cfg(windows)]
fn plain(path: PathBuf) -> PathBuf {
    use std::path::{Component, Prefix};

    let mut components = path.components();
    let Some(Component::Prefix(prefix)) = components.next() else {
        return path;
    };
    let start = match prefix.kind() {
        Prefix::VerbatimDisk(letter) => format!("{}:\\", char::from(letter)).into(),
        Prefix::VerbatimUNC(server, share) => {
            let mut start = std::ffi::OsString::from(r"\\");
            start.push(server);
            start.push("\\");
            start.push(share);
            start.push("\\");
            start
        }
        _ => return path,
    };
    let mut plain = PathBuf::from(start);
    for component in components {
        match component {
            Component::RootDir => {}
            Component::Normal(name) if is_usual(name) => plain.push(name),
            _ => return path,
        }
    }
    use std::os::windows::ffi::OsStrExt as _;
    match plain.as_os_str().encode_wide().count() <= LONGEST {
        true => plain,
        false => path,
    }
}

#[cfg(windows)]
fn is_usual(name: &std::ffi::OsStr) -> bool {
    let Some(name) = name.to_str() else {
        // Nothing in it can be a device, and the end is looked at by its characters.
        return !name.to_string_lossy().ends_with(['.', ' ']);
    };
    let stem = name.split(['.', ':']).next().unwrap_or(name);
    let stem = stem.trim_end_matches(' ').to_ascii_uppercase();
    let numbered = |device: &str| {
        stem.strip_prefix(device).is_some_and(|number| {
            let mut characters = number.chars();
            // Superscripts count as digits here.
            matches!(characters.next(), Some('0'..='9' | '¹' | '²' | '³'))
                && characters.next().is_none()
        })
    };
    let device = matches!(
        stem.as_str(),
        "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$"
    ) || numbered("COM")
        || numbered("LPT");
    !device
        && !name.ends_with(['.', ' '])
        && !name.contains(['/', ':', '*', '?', '"', '<', '>', '|'])
}

#[cfg(test)]
#[cfg(windows)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_goes_where_it_means_nothing() {
        for (path, expected) in [
            (r"\\?\C:\Users\dev", r"C:\Users\dev"),
            (r"\\?\C:\", r"C:\"),
            (r"\\?\UNC\server\share\a", r"\\server\share\a"),
            (r"C:\srv", r"C:\srv"),
            (r"\\?\C:\a.", r"\\?\C:\a."),
            (r"\\?\C:\a \b", r"\\?\C:\a \b"),
            (r"\\?\C:\nul.txt", r"\\?\C:\nul.txt"),
            (r"\\?\C:\com1", r"\\?\C:\com1"),
            (r"\\?\C:\common", r"C:\common"),
            (
                r"\\?\Volume{00000000-0000-0000-0000-000000000000}\a",
                r"\\?\Volume{00000000-0000-0000-0000-000000000000}\a",
            ),
        ] {
            assert_eq!(plain(path.into()), PathBuf::from(expected));
        }
        let long = format!(r"\\?\C:\{}", "a".repeat(300));
        assert_eq!(plain(long.clone().into()), PathBuf::from(long));
    }
}
