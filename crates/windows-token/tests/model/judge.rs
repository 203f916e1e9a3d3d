//! Whether something that happened should have, by the oracle, and which guarantee is broken if not.

use palisade_policy::{AbsolutePath, Access, Guarantee, Level};
use palisade_windows_token::acl::Rights;
use palisade_windows_token::model::{
    FileSystem, Operation, Switches, Token, WriteType, broken_inside, check, is_inside,
};

use crate::world::World;

/// Something that happened and should not have.
#[derive(Clone, Debug)]
pub(crate) struct Breach {
    pub(crate) access: Access,
    pub(crate) guarantee: Guarantee,
    pub(crate) why: String,
}

/// What an operation does, in the words of the oracle.
pub(crate) fn accesses(operation: &Operation) -> Vec<Access> {
    match operation {
        Operation::Read(path) => vec![Access::Read(path.clone())],
        Operation::Write(path)
        | Operation::Append(path)
        | Operation::Truncate(path)
        | Operation::SetAttributes(path)
        | Operation::SetDacl(path, _)
        | Operation::TakeOwnership(path) => vec![Access::Write(path.clone())],
        Operation::CreateFile(path)
        | Operation::CreateWithList(path, _)
        | Operation::CreateDirectory(path)
        | Operation::Copy { to: path, .. } => vec![Access::Create(path.clone())],
        Operation::Delete(path) => vec![Access::Delete(path.clone())],
        Operation::Rename { from, to } => vec![Access::Rename {
            from: from.clone(),
            to: to.clone(),
        }],
        Operation::Link { existing, new } => {
            vec![Access::Write(existing.clone()), Access::Create(new.clone())]
        }
        _ => Vec::new(),
    }
}

impl World {
    /// What the oracle has against an operation that happened on these files.
    pub(crate) fn breaches(&self, operation: &Operation, before: &FileSystem) -> Vec<Breach> {
        accesses(operation)
            .into_iter()
            .filter(|access| self.policy.place(access).is_none())
            .map(|access| self.breach(access, before))
            .collect()
    }

    /// Which guarantee a denied access breaks.
    fn breach(&self, access: Access, before: &FileSystem) -> Breach {
        // Why costs more to find out than that: for what is outside it does not matter, nor where nothing is claimed.
        if !paths_of(&access).iter().all(|path| self.is_inside(path)) {
            return Breach {
                why: "it is outside".to_owned(),
                access,
                guarantee: Guarantee::WritesOutside,
            };
        }
        if self.report.level(Guarantee::ProtectedPaths) < Level::Enforced {
            return Breach {
                why: "nothing is claimed".to_owned(),
                access,
                guarantee: Guarantee::ProtectedPaths,
            };
        }
        let was_there = self.was_there(&access, before);
        let (guarantee, clause) = broken_inside(&self.policy, &access, was_there);
        Breach {
            why: clause.to_string(),
            access,
            guarantee,
        }
    }

    /// Whether the entry is in a place that the policy opens.
    pub(crate) fn is_inside(&self, path: &AbsolutePath) -> bool {
        is_inside(&self.policy, path)
    }

    /// Whether what an access is about was there when the session began, by the same name.
    fn was_there(&self, access: &Access, now: &FileSystem) -> bool {
        !matches!(access, Access::Rename { .. })
            && paths_of(access)
                .iter()
                .all(|path| now.find(path).is_some() && now.find(path) == self.files.find(path))
    }

    /// Whether a removal outside is one that the report admits: the directory gives it to the user.
    pub(crate) fn is_admitted_removal(
        &self,
        operation: &Operation,
        before: &FileSystem,
        token: &Token,
        switches: Switches,
    ) -> bool {
        let (Operation::Delete(path) | Operation::Rename { from: path, .. }) = operation else {
            return false;
        };
        let parent = path.parent().and_then(|parent| before.at(&parent));
        switches.write_type != WriteType::Widest
            && parent.is_some_and(|parent| {
                let given = check(token, &parent.descriptor, Rights::DELETE_CHILD, switches);
                given.is_ok()
            })
    }
}

fn paths_of(access: &Access) -> Vec<&AbsolutePath> {
    match access {
        Access::Read(path)
        | Access::Write(path)
        | Access::Create(path)
        | Access::Delete(path)
        | Access::Execute(path) => vec![path],
        Access::Rename { from, to } => vec![from, to],
        _ => Vec::new(),
    }
}
