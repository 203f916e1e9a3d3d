//! The history of a session in git's `commit` mode: noted before the session starts, brought back after a command.

use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use palisade_policy::{AbsolutePath, Access, Place, ResolvedPolicy};

use super::session::Session;
use crate::git_import::{
    Baseline, GitLayout, ImportError, ImportOptions, ImportReport, baseline, import,
};
use crate::plan::{GitOverlay, Plan};

/// What the repositories of a plan were before its session, and how their history comes back.
///
/// It can only be made from a plan, and a session only from a plan that was admitted: so whoever has both in hand, as
/// [`start`](crate::start) does, takes the old values before anything can have moved them.
#[derive(Debug)]
pub struct GitHistory {
    repositories: Vec<Repository>,
    options: ImportOptions,
}

#[derive(Debug)]
struct Repository {
    overlay: GitOverlay,
    layout: GitLayout,
    baseline: Baseline,
    /// Which directories these were: at their paths there may be others later.
    identity: [Identity; 2],
}

type Identity = (u64, u64);

/// What became of the history of one repository.
#[derive(Debug)]
#[non_exhaustive]
pub struct GitImport {
    /// The git directory of the work tree, on the host.
    pub git_dir: PathBuf,
    /// What came back and what did not; an error if the import as a whole failed. Each step of it is atomic, so the
    /// repository is sound then too, and another import continues.
    pub outcome: Result<ImportReport, ImportError>,
}

impl GitHistory {
    /// Notes what the repositories of a plan are. Call it before the session is started.
    ///
    /// # Errors
    /// A repository is kept in a way that cannot be imported to, or git is not one that can be trusted: the session
    /// could write it.
    pub fn before(
        plan: &Plan,
        policy: &ResolvedPolicy,
        options: &ImportOptions,
    ) -> Result<Self, ImportError> {
        let mut options = options.clone();
        options.git = trusted(&options.git, policy)?;
        let repositories = plan
            .git
            .iter()
            .map(|overlay| {
                let layout = GitLayout::from_overlay(overlay)?;
                Ok(Repository {
                    overlay: overlay.clone(),
                    identity: identities(&layout)?,
                    baseline: baseline(&layout, &options)?,
                    layout,
                })
            })
            .collect::<Result<_, ImportError>>()?;
        Ok(Self {
            repositories,
            options,
        })
    }

    /// Brings back what a session did since it began, or since the last import. Call it when a command has ended: what
    /// still runs may go on, and what it does meanwhile comes back with the next import, or not at all.
    ///
    /// One repository that fails keeps no other from its history.
    #[must_use = "what did not come back ends with the session"]
    pub fn import(&mut self, session: &Session) -> Vec<GitImport> {
        let views = session.git_views();
        let same = session
            .git_overlays()
            .iter()
            .eq(self.repositories.iter().map(|known| &known.overlay))
            && views.len() == self.repositories.len();
        let options = &self.options;
        self.repositories
            .iter_mut()
            .zip(views.iter().map(Some).chain(std::iter::repeat(None)))
            .map(|(repository, view)| GitImport {
                git_dir: repository.layout.git_dir().to_owned(),
                outcome: match view.filter(|_| same) {
                    Some(view) => repository
                        .check()
                        .and_then(|()| repository.import(view.as_fd(), options)),
                    None => Err(ImportError::Session("it is of another plan".to_owned())),
                },
            })
            .collect()
    }
}

impl Repository {
    /// History must not reach what has taken the place of the repository meanwhile.
    fn check(&self) -> Result<(), ImportError> {
        if identities(&self.layout)? == self.identity {
            Ok(())
        } else {
            Err(ImportError::Unsupported(
                "its directory is not the one that it was",
            ))
        }
    }

    fn import(
        &mut self,
        view: std::os::fd::BorrowedFd<'_>,
        options: &ImportOptions,
    ) -> Result<ImportReport, ImportError> {
        import(view, &self.layout, &mut self.baseline, options)
    }
}

fn identities(layout: &GitLayout) -> Result<[Identity; 2], ImportError> {
    Ok([identity(layout.common_dir())?, identity(layout.git_dir())?])
}

fn identity(directory: &Path) -> Result<Identity, ImportError> {
    use std::os::unix::fs::MetadataExt as _;

    let found = std::fs::symlink_metadata(directory).map_err(|source| ImportError::Host {
        path: directory.to_owned(),
        source,
    })?;
    Ok((found.dev(), found.ino()))
}

/// The program itself, the links on the way to it resolved once and for all, if nothing that the policy permits could
/// change it or put another in its place.
fn trusted(program: &Path, policy: &ResolvedPolicy) -> Result<PathBuf, ImportError> {
    let refused = |why: &'static str| ImportError::Program {
        program: program.to_owned(),
        why,
    };
    if !program.is_absolute() {
        return Err(refused("its path is not absolute"));
    }
    let real = std::fs::canonicalize(program).map_err(|source| ImportError::Start {
        program: program.to_owned(),
        source,
    })?;
    let path = AbsolutePath::new(&real).map_err(|_| refused("its path cannot be judged"))?;
    let on_host = |access: Access| policy.place(&access) == Some(Place::Host);
    let mut open = on_host(Access::Write(path.clone()));
    let mut above = Some(path);
    while let Some(path) = above {
        above = path.parent();
        // What is moved away can be replaced.
        open |= above.is_some() && on_host(Access::Delete(path));
    }
    if open {
        return Err(refused("the session could write it"));
    }
    Ok(real)
}
