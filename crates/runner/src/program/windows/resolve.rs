//! From a name to a file.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use palisade_policy::Environment;

use super::super::search::{candidates, is_path, search_path};
use super::{Judged, ProgramError};

/// What is put after a name that does not say what it is, in this order.
const ENDINGS: [&str; 2] = [".exe", ".com"];

/// What Windows would start the command interpreter for.
const BATCH: [&str; 2] = [".bat", ".cmd"];

/// The file that a command with this program, this `PATH` and this directory would execute.
///
/// A name with a slash, a backslash or a drive is a path, from the command's directory. Any other is looked for in `PATH`,
/// or in [`DEFAULT_PATH`](super::super::DEFAULT_PATH) if the command has none; never in the command's directory, nor where
/// this program is. A name without `.exe` or `.com` gets these. Batch files are passed over, and are the answer if nothing
/// else is found.
///
/// # Errors
/// There is no such file, or none that can be executed; or the system does not say.
pub fn resolve(program: &OsStr, path: Option<&OsStr>, cwd: &Path) -> Result<Judged, ProgramError> {
    if program.is_empty() {
        return Err(ProgramError::Empty);
    }
    if program.as_encoded_bytes().contains(&0) {
        return Err(ProgramError::Nul {
            program: program.to_owned(),
        });
    }
    let in_path = !is_path(program);
    let places: Vec<PathBuf> = match in_path {
        true => candidates(program, path)
            .filter(|candidate| !candidate.relative)
            .map(|candidate| candidate.path)
            .collect(),
        false => vec![below(cwd, Path::new(program))?],
    };
    let mut refused = None;
    for place in places {
        for path in spellings(&place) {
            match Judged::look(path.clone()) {
                Ok(judged) => return Ok(judged),
                Err(error) if is_missing(&error) => {}
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    refused = refused.or(Some(ProgramError::NotExecutable { path }));
                }
                Err(source) => return Err(ProgramError::Unknown { path, source }),
            }
        }
        let batch = batch_files(&place).into_iter().find(|path| path.is_file());
        refused = refused.or(batch.map(|path| ProgramError::BatchFile { path }));
    }
    Err(refused.unwrap_or_else(|| ProgramError::NotFound {
        program: program.to_owned(),
        in_path,
    }))
}

/// The same for a command as a whole.
pub(crate) fn resolve_for(
    argv: &[OsString],
    env: &Environment,
    cwd: &Path,
) -> Result<Judged, ProgramError> {
    let program = argv.first().ok_or(ProgramError::Empty)?;
    resolve(program, search_path(env), cwd)
}

/// The files that a path may mean: itself if it says what it is, else with each ending.
fn spellings(path: &Path) -> Vec<PathBuf> {
    let ends = |endings: &[&str]| endings.iter().any(|end| has_ending(path, end));
    if ends(&ENDINGS) {
        return vec![path.to_owned()];
    }
    if ends(&BATCH) {
        return Vec::new();
    }
    ENDINGS.iter().map(|ending| with(path, ending)).collect()
}

/// The batch files that a path may mean.
fn batch_files(path: &Path) -> Vec<PathBuf> {
    match BATCH.iter().any(|end| has_ending(path, end)) {
        true => vec![path.to_owned()],
        false => BATCH.iter().map(|ending| with(path, ending)).collect(),
    }
}

fn has_ending(path: &Path, ending: &str) -> bool {
    let name = path.as_os_str().to_string_lossy().to_ascii_lowercase();
    // Dots and blanks at the end are not there for Windows.
    name.trim_end_matches(['.', ' ']).ends_with(ending)
}

fn with(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Whether there is nothing at a path, or nothing that could be at it.
fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
    )
}

/// A path from a directory. One with a drive and no root, or a root and no drive, depends on more than that.
fn below(cwd: &Path, path: &Path) -> Result<PathBuf, ProgramError> {
    if path.is_absolute() {
        return Ok(path.to_owned());
    }
    let starts_anew = path.has_root()
        || matches!(
            path.components().next(),
            Some(std::path::Component::Prefix(_))
        );
    if starts_anew || !cwd.is_absolute() {
        return Err(ProgramError::RelativeDirectory {
            cwd: match starts_anew {
                true => path.to_owned(),
                false => cwd.to_owned(),
            },
        });
    }
    Ok(cwd.join(path))
}
