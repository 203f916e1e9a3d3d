//! Where a command was typed: the host, the project and the places of files, before any file is read.

use std::path::PathBuf;

use palisade::runner::config::ConfigPaths;
use palisade::runner::host::Host;

use super::flags::PolicyFlags;
use super::{inside, workspace};
use crate::complaint::Complaint;
use crate::say::shown;

/// Where a command was typed.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) host: Host,
    /// Where the layers and the state are.
    pub(crate) paths: ConfigPaths,
    /// The project.
    pub(crate) root: PathBuf,
    /// Where this program was called.
    pub(crate) cwd: PathBuf,
}

impl Site {
    /// Looks at the host, and for the project.
    ///
    /// # Errors
    /// There is no directory here, or no workspace.
    pub(crate) fn find(flags: &PolicyFlags) -> Result<Self, Complaint> {
        let host = Host::look();
        let cwd = current_dir()?;
        let root = workspace::choose(flags, &host, &cwd)?;
        let mut paths = ConfigPaths::of(&host);
        inside::without_state(&mut paths);
        if let Some(file) = &flags.policy {
            let file = cwd.join(file);
            // Files that are not there are none; one that was named is a mistake.
            if let Err(error) = file.metadata() {
                return Err(Complaint::usage(format!(
                    "--policy {}: {error}",
                    shown(&file)
                )));
            }
            paths = paths.with_user(file);
        }
        Ok(Self {
            host,
            paths,
            root,
            cwd,
        })
    }

    /// The same where no project is needed: this directory, whatever it is.
    ///
    /// # Errors
    /// There is no directory here.
    pub(crate) fn here() -> Result<Self, Complaint> {
        let host = Host::look();
        let cwd = current_dir()?;
        let paths = ConfigPaths::of(&host);
        Ok(Self {
            host,
            paths,
            root: cwd.clone(),
            cwd,
        })
    }
}

pub(super) fn current_dir() -> Result<PathBuf, Complaint> {
    std::env::current_dir().map_err(|error| {
        Complaint::failed(format!("the current directory cannot be used: {error}"))
            .help("change to a directory that exists, and try again")
    })
}
