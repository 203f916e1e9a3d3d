//! What a plan does to a file system, and how it goes away again.

use palisade_policy::AbsolutePath;

use super::descriptor::{Dacl, was_inherited};
use super::files::FileSystem;
use crate::acl::{Ace, AceKind, Acl};
use crate::plan::Plan;

/// A plan that cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// It edits the list of something that is not there.
    #[error("{0} does not exist, so it has no access list")]
    Missing(AbsolutePath),
    /// It edits a list that is not there: one entry would close the object to everybody else.
    #[error("{0} has no access list; one entry would close it to everybody else")]
    NoList(AbsolutePath),
}

/// Adds the entries of a plan, in its order, and hands each change down.
///
/// # Errors
/// An object or its list is missing; what was added before stays.
pub fn apply(plan: &Plan, files: &mut FileSystem) -> Result<(), ApplyError> {
    for edit in &plan.acl_edits {
        let missing = || ApplyError::Missing(edit.path.clone());
        let id = files.find(&edit.path).ok_or_else(missing)?;
        let mut descriptor = files.object(id).ok_or_else(missing)?.descriptor.clone();
        let Dacl::List(list) = &mut descriptor.dacl else {
            return Err(ApplyError::NoList(edit.path.clone()));
        };
        for ace in &edit.add {
            add(list, ace);
        }
        files.set_descriptor(id, descriptor);
        files.propagate(id);
    }
    Ok(())
}

/// Removes the entries of a plan, in the other order, each once and only if it is exactly the same, and hands each change
/// down. What is gone is passed over.
pub fn remove(plan: &Plan, files: &mut FileSystem) {
    for edit in plan.acl_edits.iter().rev() {
        let Some(id) = files.find(&edit.path) else {
            continue;
        };
        let Some(object) = files.object(id) else {
            continue;
        };
        let mut descriptor = object.descriptor.clone();
        let Dacl::List(list) = &mut descriptor.dacl else {
            continue;
        };
        for ace in edit.add.iter().rev() {
            if let Some(place) = list.0.iter().position(|known| known == ace) {
                list.0.remove(place);
            }
        }
        files.set_descriptor(id, descriptor);
        files.propagate(id);
    }
}

/// Adds an entry of the object's own where Windows wants it: denials first, and all before what is inherited.
fn add(list: &mut Acl, ace: &Ace) {
    let behind = |known: &Ace| {
        was_inherited(known) || (ace.kind == AceKind::Deny && known.kind == AceKind::Allow)
    };
    let place = list.0.iter().position(behind).unwrap_or(list.0.len());
    list.0.insert(place, ace.clone());
}
