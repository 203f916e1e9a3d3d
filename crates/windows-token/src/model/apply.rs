//! What a plan does to a file system, and how it goes away again.

use palisade_policy::AbsolutePath;

use super::files::FileSystem;
use crate::acl::{Ace, AclError, Inserted};
use crate::plan::Plan;

/// A plan that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// It edits the list of something that is not there.
    #[error("{0} does not exist, so it has no access list")]
    Missing(AbsolutePath),
    /// It edits a list that cannot be edited.
    #[error("{path}: {problem}")]
    List {
        /// Of what.
        path: AbsolutePath,
        /// Why not.
        problem: AclError,
    },
}

/// What was added to which list, and was not there before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "what was added must be removed again"]
pub struct Applied(Vec<(AbsolutePath, Vec<Ace>)>);

/// Adds the entries of a plan, in its order, and hands each change down.
///
/// # Errors
/// An object or its list is missing; what was added before stays.
pub fn apply(plan: &Plan, files: &mut FileSystem) -> Result<Applied, ApplyError> {
    let mut applied = Applied::default();
    for edit in &plan.acl_edits {
        let missing = || ApplyError::Missing(edit.path.clone());
        let problem = |problem| ApplyError::List {
            path: edit.path.clone(),
            problem,
        };
        let id = files.find(&edit.path).ok_or_else(missing)?;
        let mut descriptor = files.object(id).ok_or_else(missing)?.descriptor.clone();
        let mut added = Vec::new();
        for ace in &edit.add {
            let inserted = descriptor.dacl.insert(ace.clone()).map_err(problem)?;
            if inserted == Inserted::Added {
                added.push(ace.clone());
            }
        }
        files.set_descriptor(id, descriptor);
        files.propagate(id);
        applied.0.push((edit.path.clone(), added));
    }
    for path in &plan.hold {
        let missing = || ApplyError::Missing(path.clone());
        let id = files.find(path).ok_or_else(missing)?;
        files.hold(id);
    }
    Ok(applied)
}

impl Applied {
    /// Removes it all, last first, and hands each change down. What is gone is passed over.
    pub fn remove(self, files: &mut FileSystem) {
        files.release();
        for (path, added) in self.0.into_iter().rev() {
            let Some(id) = files.find(&path) else {
                continue;
            };
            let Some(object) = files.object(id) else {
                continue;
            };
            let mut descriptor = object.descriptor.clone();
            for ace in added.iter().rev() {
                descriptor.dacl.remove(ace);
            }
            files.set_descriptor(id, descriptor);
            files.propagate(id);
        }
    }
}
