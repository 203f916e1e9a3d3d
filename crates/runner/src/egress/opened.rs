//! TLS that the proxy of a session opens to add secrets: who is trusted outside, and the files that say whom to trust inside.
//!
//! The authority of a session is made before its sandbox is, because commands find its certificate in a file. Its key is in
//! this process and nowhere else.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_egress_proxy::{Interception, Opener, Settings};
use palisade_linux_landlock::host::TrustFiles;
use palisade_policy::{AbsolutePath, NetworkAllowlistEntry};
use rustix::rand::{GetRandomFlags, getrandom};

use super::InjectProblem;

/// Where a directory for the files of a session is made. Most sandboxes have another `/tmp`, and get this one directory of it.
const PLACE: &str = "/tmp";

/// The hosts whose TLS is opened, and who vouches for their servers.
#[derive(Clone, Debug)]
pub(super) struct TlsToOpen(Interception);

impl TlsToOpen {
    pub(super) fn new(
        hosts: Vec<NetworkAllowlistEntry>,
        roots: Option<&[u8]>,
    ) -> Result<Self, InjectProblem> {
        let interception = match roots {
            Some(pem) => Interception::with_roots(hosts, pem),
            None => Interception::new(hosts),
        };
        let interception = interception.map_err(|error| InjectProblem::Tls(error.to_string()))?;
        Ok(Self(interception))
    }

    /// Makes the authority of a session, and the files that its commands trust.
    pub(super) fn begin(&self) -> io::Result<SessionTls> {
        let opener = Opener::new(&self.0).map_err(io::Error::other)?;
        let files = Files::make(Path::new(PLACE), &opener)?;
        Ok(SessionTls {
            opener: Arc::new(opener),
            files,
        })
    }
}

/// What one session opens TLS with. Its files are there until it is dropped.
#[derive(Debug)]
pub(crate) struct SessionTls {
    opener: Arc<Opener>,
    files: Files,
}

impl SessionTls {
    /// What commands have to trust.
    pub(crate) fn trust(&self) -> io::Result<TrustFiles> {
        let absolute = |path: PathBuf| AbsolutePath::new(path).map_err(io::Error::other);
        let Files(directory) = &self.files;
        TrustFiles::new(
            absolute(directory.clone())?,
            absolute(self.files.bundle())?,
            absolute(self.files.session())?,
        )
        .ok_or_else(|| io::Error::other("the files are not in their directory"))
    }

    pub(super) fn put_into(&self, settings: Settings) -> Settings {
        settings.with_opener(Arc::clone(&self.opener))
    }
}

/// A directory with what commands are to trust, removed in the end.
#[derive(Debug)]
struct Files(PathBuf);

impl Files {
    fn make(place: &Path, opener: &Opener) -> io::Result<Self> {
        let mut chance = [0; 16];
        getrandom(&mut chance, GetRandomFlags::empty())?;
        let name = format!("palisade-trust-{:032x}", u128::from_ne_bytes(chance));
        let directory = place.join(name);
        // Fails if somebody was there before.
        fs::DirBuilder::new().mode(0o700).create(&directory)?;
        let files = Self(directory);
        write(&files.bundle(), &opener.bundle())?;
        write(&files.session(), opener.certificate().as_bytes())?;
        Ok(files)
    }

    /// For programs that trust one file and nothing else.
    fn bundle(&self) -> PathBuf {
        self.0.join("bundle.pem")
    }

    /// For programs that trust it besides.
    fn session(&self) -> PathBuf {
        self.0.join("session.pem")
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // Only what was made here: in a shared place, what else is there by now is not ours.
        for file in [self.bundle(), self.session()] {
            drop(fs::remove_file(file));
        }
        drop(fs::remove_dir(&self.0));
    }
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o444)
        .open(path)?;
    file.write_all(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any certificate at all.
    fn opener() -> Opener {
        let hosts = || vec![NetworkAllowlistEntry::https("api.test").unwrap()];
        let pem = fs::read("/etc/ssl/certs/ca-certificates.crt").unwrap();
        Opener::new(&Interception::with_roots(hosts(), &pem).unwrap()).unwrap()
    }

    #[test]
    fn files_are_there_for_as_long_as_they_are_needed_and_hold_no_key() {
        use std::os::unix::fs::PermissionsExt as _;

        let place = tempfile::tempdir().unwrap();
        let opener = opener();
        let files = Files::make(place.path(), &opener).unwrap();
        let directory = files.0.clone();
        assert_eq!(
            fs::metadata(&directory).unwrap().permissions().mode() & 0o777,
            0o700
        );
        let session = fs::read_to_string(files.session()).unwrap();
        assert_eq!(session, opener.certificate());
        let bundle = fs::read_to_string(files.bundle()).unwrap();
        assert!(bundle.ends_with(&session) && bundle.len() > session.len());
        assert!(!bundle.contains("PRIVATE"));
        // Two sessions do not share them.
        let others = Files::make(place.path(), &opener).unwrap();
        assert_ne!(others.0, directory);
        drop(files);
        assert!(!directory.exists() && others.0.exists());
    }
}
