//! The file that a command would execute.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use palisade_policy::{AbsolutePath, PathCase};
use rustix::fs::{Access, FileType, Stat, access, stat};
use rustix::io::Errno;

use super::ProgramError;
use super::search::{candidates, is_path};

/// The file that a program's name meant when it was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judged {
    /// Its path, absolute: what execve is given. Links are not resolved, because programs such as busybox go by the
    /// name that they were started with.
    pub path: PathBuf,
    /// The same with all links resolved.
    pub real: PathBuf,
    /// The device that holds the file.
    pub dev: u64,
    /// The file's number on that device.
    pub ino: u64,
    /// When the file was last changed, in seconds and nanoseconds: another content under the same number shows here.
    pub changed: (i64, i64),
}

impl Judged {
    fn new(path: PathBuf, found: &Stat) -> Result<Self, ProgramError> {
        let real = match path.canonicalize() {
            Ok(real) => real,
            Err(source) => return Err(ProgramError::Unknown { path, source }),
        };
        let (dev, ino, changed) = identity(found);
        Ok(Self {
            path,
            real,
            dev,
            ino,
            changed,
        })
    }

    /// Whether the path still leads to the same file with the same content.
    ///
    /// # Errors
    /// It does not, or nobody can tell.
    pub fn still_same(&self) -> Result<(), ProgramError> {
        let same = stat(&self.path)
            .is_ok_and(|found| identity(&found) == (self.dev, self.ino, self.changed));
        match same {
            true => Ok(()),
            false => Err(ProgramError::Changed {
                path: self.path.clone(),
            }),
        }
    }

    /// Whether the file, or the name that leads to it, lies in one of these directories: a program in a writable root
    /// is whatever the last command made of it.
    #[must_use]
    pub fn lies_in<'r>(
        &self,
        directories: impl IntoIterator<Item = &'r AbsolutePath>,
        case: PathCase,
    ) -> bool {
        let paths = [AbsolutePath::new(&self.path), AbsolutePath::new(&self.real)];
        directories.into_iter().any(|directory| {
            paths.iter().any(|path| match path {
                Ok(path) => directory.covers(path, case),
                // It goes through `..`; where the real file is decides, and that is asked too.
                Err(_) => false,
            })
        })
    }
}

#[expect(
    clippy::unnecessary_cast,
    reason = "the types of these fields differ between systems"
)]
#[cfg_attr(
    target_os = "macos",
    expect(
        clippy::cast_sign_loss,
        reason = "the number of a device, kept as it is"
    )
)]
pub(super) fn identity(found: &Stat) -> (u64, u64, (i64, i64)) {
    (
        found.st_dev as u64,
        found.st_ino as u64,
        (found.st_ctime as i64, found.st_ctime_nsec as i64),
    )
}

/// The file that a command with this program, this `PATH` and this directory would execute.
///
/// A name with a slash is a path, from the command's directory. Any other is looked for in `PATH`, or in
/// [`DEFAULT_PATH`](super::DEFAULT_PATH) if the command has none; an empty element is the command's directory. What is
/// no file, or cannot be executed, is passed over; if nothing else is found, that is the answer.
///
/// # Errors
/// There is no such file, or none that can be executed; or the system does not say.
pub fn resolve(program: &OsStr, path: Option<&OsStr>, cwd: &Path) -> Result<Judged, ProgramError> {
    if program.is_empty() {
        return Err(ProgramError::Empty);
    }
    if program.as_bytes().contains(&0) {
        return Err(ProgramError::Nul {
            program: program.to_owned(),
        });
    }
    if is_path(program) {
        let path = below(cwd, Path::new(program))?;
        return match look(&path) {
            Ok(found) => Judged::new(path, &found),
            Err(Errno::NOENT | Errno::NOTDIR) => Err(ProgramError::NotFound {
                program: program.to_owned(),
                in_path: false,
            }),
            Err(Errno::ACCESS) => Err(ProgramError::NotExecutable { path }),
            Err(errno) => Err(ProgramError::Unknown {
                path,
                source: errno.into(),
            }),
        };
    }
    let mut refused = None;
    for candidate in candidates(program, path) {
        let path = below(cwd, &candidate.path)?;
        match look(&path) {
            Ok(found) => return Judged::new(path, &found),
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            // Another directory may have one that can be run; if none has, this is the better answer.
            Err(Errno::ACCESS) => refused = refused.or(Some(path)),
            Err(errno) => {
                return Err(ProgramError::Unknown {
                    path,
                    source: errno.into(),
                });
            }
        }
    }
    Err(match refused {
        Some(path) => ProgramError::NotExecutable { path },
        None => ProgramError::NotFound {
            program: program.to_owned(),
            in_path: true,
        },
    })
}

/// Whether execve would take a file, with the errors that it would give.
fn look(path: &Path) -> Result<Stat, Errno> {
    if path.as_os_str().as_bytes().contains(&0) {
        return Err(Errno::NOENT);
    }
    let found = stat(path)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(Errno::ACCESS);
    }
    access(path, Access::EXEC_OK)?;
    Ok(found)
}

/// A path from a directory, byte for byte: the meaning of a trailing slash must not get lost.
fn below(cwd: &Path, path: &Path) -> Result<PathBuf, ProgramError> {
    if path.has_root() {
        return Ok(path.to_owned());
    }
    if !cwd.has_root() {
        return Err(ProgramError::RelativeDirectory {
            cwd: cwd.to_owned(),
        });
    }
    let path = path.as_os_str().as_bytes();
    let path = path.strip_prefix(b"./").unwrap_or(path);
    let mut whole = OsString::from(cwd);
    if !cwd.as_os_str().as_bytes().ends_with(b"/") {
        whole.push("/");
    }
    whole.push(OsStr::from_bytes(path));
    Ok(whole.into())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::os::unix::process::CommandExt as _;
    use std::process::Command;

    use super::*;

    fn program(path: &Path, text: &str, mode: u32) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    fn find(name: &str, path: &str, cwd: &Path) -> Result<PathBuf, ProgramError> {
        resolve(OsStr::new(name), Some(OsStr::new(path)), cwd).map(|judged| judged.path)
    }

    struct Stage(tempfile::TempDir);

    impl Stage {
        /// `one` and `two` with programs that say where they are, and things that are none.
        fn new() -> Self {
            let stage = tempfile::tempdir().unwrap();
            for name in ["one", "two"] {
                let directory = stage.path().join(name);
                fs::create_dir(&directory).unwrap();
                program(
                    &directory.join("both"),
                    &format!("#!/bin/sh\necho {name}\n"),
                    0o755,
                );
                program(&directory.join("plain"), "", 0o644);
            }
            program(
                &stage.path().join("two/second"),
                "#!/bin/sh\necho two\n",
                0o755,
            );
            program(&stage.path().join("one/second"), "", 0o644);
            fs::create_dir(stage.path().join("one/directory")).unwrap();
            Self(stage)
        }

        fn path(&self) -> PathBuf {
            self.0.path().canonicalize().unwrap()
        }
    }

    #[test]
    fn the_first_that_can_be_run_is_the_one() {
        let stage = Stage::new();
        let at = stage.path();
        let path = format!("{0}/none:{0}/one:{0}/two", at.display());
        assert_eq!(find("both", &path, &at).unwrap(), at.join("one/both"));
        assert_eq!(find("second", &path, &at).unwrap(), at.join("two/second"));
        let missing = find("nothing", &path, &at).unwrap_err();
        assert_eq!(missing.errno(), Some(libc::ENOENT), "{missing}");
        for name in ["plain", "directory"] {
            let error = find(name, &path, &at).unwrap_err();
            assert!(
                matches!(&error, ProgramError::NotExecutable { path } if *path == at.join("one").join(name)),
                "{error}"
            );
            assert_eq!(error.errno(), Some(libc::EACCES));
        }
    }

    #[test]
    fn relative_names_and_empty_elements_start_in_the_commands_directory() {
        let stage = Stage::new();
        let at = stage.path();
        for (name, path, cwd) in [
            ("both", "", "one"),
            ("both", ":/nowhere", "one"),
            ("both", "/nowhere::/bin", "one"),
            ("both", ".", "one"),
            ("both", "one", ""),
            ("./both", "/bin", "one"),
            ("one/both", "", ""),
            ("../one/both", "", "two"),
        ] {
            let cwd = at.join(cwd);
            let judged = resolve(OsStr::new(name), Some(OsStr::new(path)), &cwd).unwrap();
            assert_eq!(judged.real, at.join("one/both"), "{name} {path}");
            assert!(judged.path.is_absolute());
        }
        assert!(matches!(
            find("both", "", Path::new("one")),
            Err(ProgramError::RelativeDirectory { .. })
        ));
        assert!(
            find("one/both/", "", &at).is_err(),
            "a file is no directory"
        );
        assert!(matches!(find("", "", &at), Err(ProgramError::Empty)));
        assert!(matches!(
            find("a\0b", "/bin", &at),
            Err(ProgramError::Nul { .. })
        ));
    }

    #[test]
    fn without_a_search_path_the_helpers_default_is_used() {
        let sh = resolve(OsStr::new("sh"), None, Path::new("/")).unwrap();
        assert!(
            DEFAULTS
                .iter()
                .any(|directory| sh.path == Path::new(directory).join("sh"))
        );
        let text = include_str!("../../../linux-landlock/src/init/command.rs");
        let line = format!(
            "const DEFAULT_PATH: &str = {:?};",
            super::super::DEFAULT_PATH
        );
        assert!(text.contains(&line), "both must look in the same places");
    }
    const DEFAULTS: [&str; 3] = ["/usr/local/bin", "/usr/bin", "/bin"];

    /// The kernel's own opinion: `exec` of the same name with the same search path.
    #[test]
    fn what_is_found_is_what_the_system_starts() {
        let stage = Stage::new();
        let at = stage.path();
        let elements = ["one", "two", "none", "", "one/plain"];
        for first in elements {
            for second in elements {
                let path = [first, second].map(|element| match element {
                    "" => String::new(),
                    element => at.join(element).display().to_string(),
                });
                let path = path.join(":");
                for name in ["both", "second", "plain", "nothing", "directory"] {
                    let found = find(name, &path, &at);
                    let started = Command::new("/usr/bin/env")
                        .arg0("env")
                        .arg(name)
                        .env_clear()
                        .env("PATH", &path)
                        .current_dir(&at)
                        .output()
                        .unwrap();
                    let said = String::from_utf8(started.stdout).unwrap();
                    match found {
                        Ok(found) => {
                            let ours = Command::new(found).output().unwrap();
                            assert_eq!(said.as_bytes(), ours.stdout, "{name} {path}");
                            assert!(!said.is_empty());
                        }
                        Err(error) => {
                            // The library says "not a directory" where the helper says "not found".
                            let codes = match (error, path.contains("plain")) {
                                (ProgramError::NotExecutable { .. }, _) => 126..=126,
                                (_, false) => 127..=127,
                                (_, true) => 126..=127,
                            };
                            let code = started.status.code().unwrap();
                            assert!(codes.contains(&code), "{name} {path}: {code}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_file_that_is_replaced_or_rewritten_is_not_the_same() {
        let stage = Stage::new();
        let at = stage.path();
        let file = at.join("one/both");
        let judge = || resolve(file.as_os_str(), None, &at).unwrap();
        let judged = judge();
        judged.still_same().unwrap();
        Command::new(&file).output().unwrap();
        judged.still_same().unwrap();

        let other = at.join("one/new");
        program(&other, "#!/bin/sh\n", 0o755);
        fs::rename(&other, &file).unwrap();
        assert!(matches!(
            judged.still_same(),
            Err(ProgramError::Changed { .. })
        ));

        let judged = judge();
        fs::remove_file(&file).unwrap();
        assert!(judged.still_same().is_err());

        program(&file, "#!/bin/sh\n", 0o755);
        let judged = judge();
        // In place: the same number. The clock of the file system is coarse, so wait until it ticks.
        let before = judged.changed;
        while judge().changed == before {
            program(&file, "#!/bin/sh\necho other\n", 0o755);
        }
        assert_eq!(judge().ino, judged.ino);
        assert!(judged.still_same().is_err());
    }

    #[test]
    fn a_link_is_run_by_its_name_and_known_by_its_target() {
        let stage = Stage::new();
        let at = stage.path();
        let link = at.join("two/link");
        symlink(at.join("one/both"), &link).unwrap();
        let judged = resolve(link.as_os_str(), None, &at).unwrap();
        assert_eq!(
            (judged.path.clone(), judged.real.clone()),
            (link.clone(), at.join("one/both"))
        );
        let root = |name: &str| AbsolutePath::new(at.join(name)).unwrap();
        for (name, lies) in [("one", true), ("two", true), ("three", false)] {
            assert_eq!(
                judged.lies_in([&root(name)], PathCase::Sensitive),
                lies,
                "{name}"
            );
        }
        fs::remove_file(&link).unwrap();
        symlink(at.join("two/both"), &link).unwrap();
        assert!(judged.still_same().is_err(), "the link leads elsewhere");
    }
}
