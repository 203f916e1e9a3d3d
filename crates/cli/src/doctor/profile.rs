//! The AppArmor profile that lets this program make user namespaces: what is in it, and how it is installed.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::directories::writable_by_others;
use crate::complaint::Complaint;
use crate::say::shown;

/// The first line of every profile of ours: nothing else is ever replaced.
const MARK: &str = "# Written by `palisade setup`.";
/// Where the kernel says whether user namespaces are restricted.
const RESTRICTED: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/// Where profiles are, and what loads them.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) file: PathBuf,
    pub(super) parser: Option<PathBuf>,
    /// Who must own the program and everything above it.
    pub(super) owner: u32,
}

impl Places {
    pub(super) fn of_this_machine() -> Self {
        let parsers = ["/usr/sbin/apparmor_parser", "/sbin/apparmor_parser"];
        Self {
            file: PathBuf::from("/etc/apparmor.d/palisade"),
            parser: parsers
                .iter()
                .map(PathBuf::from)
                .find(|parser| parser.exists()),
            owner: 0,
        }
    }
}

/// Whether AppArmor restricts user namespaces to programs with a profile.
pub(super) fn is_restricted() -> bool {
    std::fs::read_to_string(RESTRICTED).is_ok_and(|text| text.trim() == "1")
}

/// The profile for a program. It confines nothing: it only gives a name to what may make user namespaces.
///
/// # Errors
/// The path cannot be written in a profile, or somebody else could put another program there.
pub(super) fn text(program: &Path, places: &Places) -> Result<String, Complaint> {
    let place = shown(program);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._+-".contains(&byte);
    let name = program.to_str().filter(|path| path.bytes().all(plain));
    let Some(name) = name.filter(|name| name.starts_with('/')) else {
        return Err(Complaint::refused(format!(
            "{place}: a profile cannot name this path: only letters, digits and `/ . _ + -` are safe there"
        ))
        .help(install_line(program)));
    };
    if let Some(open) = writable_by_others(program, &[places.owner]) {
        return Err(Complaint::refused(format!(
            "{place}: somebody else than root can write {}, and so put any program where the profile lets one make user namespaces",
            shown(&open)
        ))
        .help(install_line(program)));
    }
    Ok(format!(
        "{MARK}\n\
         # Lets this program, and no other, make user namespaces; it confines nothing.\n\
         abi <abi/4.0>,\n\
         include <tunables/global>\n\
         \n\
         profile palisade {name} flags=(unconfined) {{\n\
         \x20 userns,\n\
         \n\
         \x20 include if exists <local/palisade>\n\
         }}\n"
    ))
}

fn install_line(program: &Path) -> String {
    format!(
        "sudo install -o root -g root -m 755 {} /usr/local/bin/palisade && sudo /usr/local/bin/palisade setup --apply",
        shown(program)
    )
}

/// What installing came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Installed {
    /// The file was written.
    New,
    /// The file was there already, exactly so.
    Already,
}

/// Writes the profile and loads it.
///
/// # Errors
/// Something else is there, or it cannot be written or loaded.
pub(super) fn install(text: &str, places: &Places) -> Result<Installed, Complaint> {
    let place = shown(&places.file);
    let parser = places.parser.as_ref().ok_or_else(|| {
        Complaint::failed("there is no apparmor_parser that could load the profile")
            .help("sudo apt install apparmor")
    })?;
    let installed = match std::fs::read_to_string(&places.file) {
        Ok(there) if there == text => Installed::Already,
        Ok(there) if !there.starts_with(MARK) => {
            return Err(Complaint::refused(format!(
                "{place} was not written by `palisade setup`, so it is not replaced"
            ))
            .help(format!(
                "look at it, and move it away: sudo mv {place} {place}.old"
            )));
        }
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Complaint::failed(format!(
                "{place} cannot be read: {error}"
            )));
        }
        _ => {
            replace(&places.file, text).map_err(|error| {
                Complaint::failed(format!("{place} cannot be written: {error}"))
            })?;
            Installed::New
        }
    };
    let loaded = Command::new(parser)
        .args(["--replace", "--write-cache"])
        .arg(&places.file)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Complaint::failed(format!("{} cannot be run: {error}", shown(parser))))?;
    match loaded.status.success() {
        true => Ok(installed),
        false => Err(Complaint::failed(format!(
            "{place} is written, but AppArmor does not take it: {}",
            String::from_utf8_lossy(&loaded.stderr).trim()
        ))),
    }
}

/// The whole file or nothing of it.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    // AppArmor skips names that begin with a dot.
    let new = file.with_file_name(".palisade.new");
    match std::fs::remove_file(&new) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut made = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o644)
        .open(&new)?;
    made.write_all(text.as_bytes())?;
    made.sync_all()?;
    std::fs::rename(&new, file)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// A place of its own, with a parser that writes down what it was called with.
    fn house(parser: &str) -> (tempfile::TempDir, Places, PathBuf) {
        let house = tempfile::tempdir_in("/var/tmp").unwrap();
        let at = fs::canonicalize(house.path()).unwrap();
        let program = at.join("palisade");
        fs::write(&program, "").unwrap();
        let script = at.join("parser");
        fs::write(&script, format!("#!/bin/sh\n{parser}\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let places = Places {
            file: at.join("profile"),
            parser: Some(script),
            owner: rustix::process::geteuid().as_raw(),
        };
        (house, places, program)
    }

    #[test]
    fn installing_twice_is_installing_once() {
        let (house, places, program) = house(r#"echo "$@" >> "$(dirname "$0")/called""#);
        // Everything above a throw-away directory is root's, who is not always the one who tests.
        let text = match writable_by_others(&program, &[0, places.owner]) {
            None if places.owner == 0 => text(&program, &places).unwrap(),
            _ => format!("{MARK}\n"),
        };
        assert_eq!(install(&text, &places).unwrap(), Installed::New);
        assert_eq!(install(&text, &places).unwrap(), Installed::Already);
        assert_eq!(fs::read_to_string(&places.file).unwrap(), text);
        let changed = format!("{text}# more\n");
        assert_eq!(install(&changed, &places).unwrap(), Installed::New);
        let called = fs::read_to_string(house.path().join("called")).unwrap();
        assert_eq!(called.lines().count(), 3, "{called}");
        assert!(called.contains("--replace"), "{called}");
    }

    #[test]
    fn what_somebody_else_wrote_stays() {
        let (_house, places, _) = house("exit 0");
        fs::write(&places.file, "profile mine {}\n").unwrap();
        let refused = install(&format!("{MARK}\n"), &places).unwrap_err();
        assert!(refused.what.contains("not replaced"), "{refused:?}");
        assert_eq!(
            fs::read_to_string(&places.file).unwrap(),
            "profile mine {}\n"
        );
    }

    #[test]
    fn a_parser_that_says_no_is_heard() {
        let (_house, places, _) = house("echo bad profile >&2; exit 1");
        let failed = install(&format!("{MARK}\n"), &places).unwrap_err();
        assert!(failed.what.contains("bad profile"), "{failed:?}");
    }

    #[test]
    fn a_program_that_others_can_replace_gets_no_profile() {
        let (_house, places, program) = house("exit 0");
        fs::set_permissions(&program, fs::Permissions::from_mode(0o777)).unwrap();
        let refused = text(&program, &places).unwrap_err();
        assert!(refused.what.contains("can write"), "{refused:?}");
        assert!(refused.help[0].contains("sudo install"), "{refused:?}");
    }

    #[test]
    fn a_path_that_means_more_in_a_profile_gets_none() {
        let places = Places::of_this_machine();
        for path in [
            "/srv/a b",
            "/srv/*",
            "/srv/{a,b}",
            "/srv/\"",
            "/srv/a\nb",
            "relative",
        ] {
            assert!(text(Path::new(path), &places).is_err(), "{path:?}");
        }
    }
}
