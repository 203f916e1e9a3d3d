//! What a hostile command tries: everything once, and random sequences.

use palisade_policy::AbsolutePath;
use palisade_windows_token::Sid;
use palisade_windows_token::model::{FileSystem, Kind, Operation, everything_for};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::support::{allow, here};

const NAMES: [&str; 6] = ["a", "b", ".git", ".vscode", "pkg", "planted"];

/// A move of a command, before it is known what there is.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    what: usize,
    first: Index,
    second: Index,
    name: usize,
    loud: bool,
}

pub(crate) fn any_steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = (
        0..14_usize,
        any::<Index>(),
        any::<Index>(),
        0..NAMES.len() * 2,
        any::<bool>(),
    );
    let step = step.prop_map(|(what, first, second, name, loud)| Step {
        what,
        first,
        second,
        name,
        loud,
    });
    prop::collection::vec(step, 1..most)
}

impl Step {
    /// The operation on these files. Half of the second paths are there, half are new names in directories.
    pub(crate) fn on(&self, files: &FileSystem, capability: &Sid) -> Operation {
        let all = files.paths();
        let path = |index: &Index| index.get(&all).0.clone();
        let first = self.spelled(path(&self.first));
        let second = match NAMES.get(self.name) {
            Some(name) => below(&path(&self.second), name),
            None => path(&self.second),
        };
        let second = self.spelled(second);
        match self.what {
            0 => Operation::Write(first),
            1 => Operation::Append(first),
            2 => Operation::Truncate(first),
            3 => Operation::SetAttributes(first),
            4 => Operation::CreateFile(second),
            5 => Operation::CreateDirectory(second),
            6 => Operation::CreateWithList(second, own_list(capability)),
            7 => Operation::Copy {
                from: first,
                to: second,
            },
            8 => Operation::Delete(first),
            9 | 10 => Operation::Rename {
                from: first,
                to: second,
            },
            11 => Operation::Link {
                existing: first,
                new: second,
            },
            12 => Operation::SetDacl(first, everything_for(capability)),
            _ => Operation::TakeOwnership(first),
        }
    }

    /// The same path in capitals, now and then.
    fn spelled(&self, path: AbsolutePath) -> AbsolutePath {
        match self.loud {
            true => AbsolutePath::new(path.as_path().to_str().unwrap().to_uppercase()).unwrap(),
            false => path,
        }
    }
}

fn own_list(capability: &Sid) -> Vec<palisade_windows_token::acl::Ace> {
    vec![here(allow(crate::support::FULL, capability.clone()))]
}

pub(crate) fn below(directory: &AbsolutePath, name: &str) -> AbsolutePath {
    AbsolutePath::new(directory.as_path().join(name)).unwrap()
}

/// Everything that can be tried once on these files; of new names two in each directory, and what is moved or linked goes
/// over everything that is there and to one new name in each directory.
pub(crate) fn everything(files: &FileSystem, capability: &Sid) -> Vec<Operation> {
    let all = files.paths();
    let kind = |path: &AbsolutePath| files.at(path).unwrap().kind();
    let mut tried = Vec::new();
    let mut new = Vec::new();
    for (path, _) in &all {
        tried.push(Operation::SetAttributes(path.clone()));
        tried.push(Operation::SetDacl(path.clone(), everything_for(capability)));
        tried.push(Operation::TakeOwnership(path.clone()));
        tried.push(Operation::Delete(path.clone()));
        if kind(path) == Kind::File {
            tried.push(Operation::Write(path.clone()));
            tried.push(Operation::Append(path.clone()));
            tried.push(Operation::Truncate(path.clone()));
        } else {
            let free = [".git", "planted"].map(|name| below(path, name));
            new.extend(free.into_iter().filter(|path| files.find(path).is_none()));
        }
    }
    for path in &new {
        tried.push(Operation::CreateFile(path.clone()));
        tried.push(Operation::CreateDirectory(path.clone()));
        tried.push(Operation::CreateWithList(
            path.clone(),
            own_list(capability),
        ));
    }
    let planted = new
        .iter()
        .filter(|path| path.as_path().ends_with("planted"));
    let targets = || planted.clone().chain(all.iter().map(|(path, _)| path));
    for (from, _) in &all {
        for to in targets().filter(|to| *to != from) {
            tried.push(Operation::Rename {
                from: from.clone(),
                to: to.clone(),
            });
            if kind(from) == Kind::File {
                tried.push(Operation::Link {
                    existing: from.clone(),
                    new: to.clone(),
                });
            }
        }
    }
    tried
}
