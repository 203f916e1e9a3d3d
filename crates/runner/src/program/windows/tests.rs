//! Names and files. Whether a file is a program is not asked before it is started.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use palisade_policy::AbsolutePath;

use super::super::Seen;
use super::*;

struct Stage(tempfile::TempDir);

impl Stage {
    /// `one` with a program and batch files, `two` with a program of the same name.
    fn new() -> Self {
        let stage = Self(tempfile::tempdir().unwrap());
        for (directory, name) in [
            ("one", "both.exe"),
            ("two", "both.exe"),
            ("two", "second.exe"),
        ] {
            let at = stage.path().join(directory);
            fs::create_dir_all(&at).unwrap();
            fs::write(at.join(name), format!("MZ {directory}")).unwrap();
        }
        for name in ["one/second.cmd", "one/only.BAT"] {
            fs::write(stage.path().join(name), "@echo off\r\n").unwrap();
        }
        fs::create_dir(stage.path().join("one/directory.exe")).unwrap();
        stage
    }

    fn path(&self) -> PathBuf {
        crate::host::real_path(self.0.path()).unwrap()
    }

    fn search(&self) -> String {
        let at = self.path();
        format!("{0}\\none;relative;{0}\\one;{0}\\two", at.display())
    }
}

fn find(name: &str, path: &str, cwd: &Path) -> Result<PathBuf, ProgramError> {
    resolve(OsStr::new(name), Some(OsStr::new(path)), cwd).map(|judged| judged.path)
}

#[test]
fn the_first_program_of_the_search_path_is_the_one_whatever_its_case() {
    let stage = Stage::new();
    let (at, path) = (stage.path(), stage.search());
    for name in ["both", "both.exe", "BOTH", "both.EXE"] {
        let found = find(name, &path, &at).unwrap();
        assert_eq!(found.parent().unwrap(), at.join("one"), "{name}");
    }
    assert_eq!(
        find("second", &path, &at).unwrap(),
        at.join(r"two\second.exe")
    );
    let missing = find("nothing", &path, &at).unwrap_err();
    assert!(
        matches!(missing, ProgramError::NotFound { .. }),
        "{missing}"
    );
    assert_eq!(missing.errno(), Some(2));
}

#[test]
fn a_batch_file_is_never_the_answer() {
    let stage = Stage::new();
    let (at, path) = (stage.path(), stage.search());
    for name in [
        "only",
        "only.bat",
        "only.BAT",
        "only.bat.",
        "only.bat .",
        "second.cmd",
    ] {
        let refused = find(name, &path, &at).unwrap_err();
        assert!(
            matches!(refused, ProgramError::BatchFile { .. }),
            "{name}: {refused}"
        );
    }
    let named = at.join(r"one\only.bat");
    let refused = resolve(named.as_os_str(), None, &at).unwrap_err();
    assert!(
        matches!(refused, ProgramError::BatchFile { .. }),
        "{refused}"
    );
}

#[test]
fn paths_start_in_the_commands_directory_and_names_never_do() {
    let stage = Stage::new();
    let at = stage.path();
    for (name, cwd) in [
        (r".\both.exe", "one"),
        ("./both", "one"),
        (r"one\both", ""),
        (r"..\one\both.exe", "two"),
    ] {
        let cwd = at.join(cwd);
        let judged = resolve(OsStr::new(name), None, &cwd).unwrap();
        assert_eq!(judged.real, at.join(r"one\both.exe"), "{name}");
    }
    assert!(
        find("both", "", &at.join("one")).is_err(),
        "not from the directory"
    );
    assert!(
        find("both", ".", &at.join("one")).is_err(),
        "nor by a relative element"
    );
    for name in [r"\both.exe", "C:both.exe"] {
        let refused = find(name, "", &at).unwrap_err();
        assert!(
            matches!(refused, ProgramError::RelativeDirectory { .. }),
            "{name}: {refused}"
        );
    }
    assert!(matches!(find("", "", &at), Err(ProgramError::Empty)));
    assert!(matches!(
        find("a\0b", "", &at),
        Err(ProgramError::Nul { .. })
    ));
    assert!(find(r"one\directory", "", &at).is_err());
}

#[test]
fn a_file_that_is_replaced_is_not_the_same() {
    let stage = Stage::new();
    let at = stage.path();
    let file = at.join(r"two\second.exe");
    let judged = resolve(file.as_os_str(), None, &at).unwrap();
    judged.still_same().unwrap();
    fs::rename(at.join(r"two\both.exe"), &file).unwrap();
    let copied = at.join("copied.exe");
    fs::copy(&file, &copied).unwrap();
    fs::remove_file(&file).unwrap();
    assert!(judged.still_same().is_err());
    fs::rename(&copied, &file).unwrap();
    let changed = judged.still_same().unwrap_err();
    assert!(matches!(changed, ProgramError::Changed { .. }), "{changed}");
}

#[test]
fn while_a_program_is_held_nobody_writes_or_moves_it() {
    let stage = Stage::new();
    let file = stage.path().join("own.exe");
    fs::write(&file, "MZ").unwrap();
    let held = HeldProgram::open(&file).unwrap();
    assert!(fs::OpenOptions::new().write(true).open(&file).is_err());
    assert!(fs::rename(&file, stage.path().join("moved.exe")).is_err());
    drop(held);
    let writer = fs::OpenOptions::new().append(true).open(&file).unwrap();
    let refused = HeldProgram::open(&file).unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(32), "{refused}");
    drop(writer);
    HeldProgram::open(&file).unwrap();
}

#[test]
fn a_directory_that_is_replaced_is_seen() {
    let stage = Stage::new();
    let at = stage.path().join("here");
    fs::create_dir(&at).unwrap();
    let seen = Seen::look_at(OsStr::new("nothing"), &Default::default(), &at);
    assert!(seen.directory.is_some());
    seen.still_holds().unwrap();
    // Kept, so that its number is not given again.
    fs::rename(&at, stage.path().join("away")).unwrap();
    fs::create_dir(&at).unwrap();
    assert!(seen.still_holds().is_err());
    assert!(HeldDirectory::open(Path::new("relative")).is_err());
}

#[test]
fn a_program_lies_where_its_file_is_whatever_its_case() {
    let stage = Stage::new();
    let at = stage.path();
    let judged = resolve(at.join(r"one\both.exe").as_os_str(), None, &at).unwrap();
    let upper = at.to_string_lossy().to_uppercase();
    for (root, lies) in [
        (at.join("one"), true),
        (PathBuf::from(upper), true),
        (at.join("two"), false),
    ] {
        let root = AbsolutePath::new(&root).unwrap();
        assert_eq!(
            judged.lies_in([&root], PathCase::Insensitive),
            lies,
            "{root:?}"
        );
    }
}
