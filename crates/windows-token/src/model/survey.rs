//! What a survey of a modelled file system says: the facts that lowering needs, found as on a real host.

use palisade_policy::{AbsolutePath, Access, ResolvedPolicy};

use super::check::check;
use super::descriptor::Kind;
use super::files::FileSystem;
use super::switches::Switches;
use super::token::Token;
use crate::acl::{Dacl, Rights};
use crate::host::{Entry, Located, Matches, Residue, SecondNames, WindowsHost};
use crate::sid::Sid;

/// Looks at these files for a policy as a survey looks at a host. The capability of each place has a number.
pub fn survey(
    host: &mut WindowsHost,
    files: &FileSystem,
    policy: &ResolvedPolicy,
    capability: impl Fn(u32) -> Sid,
) {
    let case = policy.context().facts.case;
    let everybody = files.paths();
    let mut named: Vec<AbsolutePath> = vec![policy.context().cwd.path().clone()];
    named.extend(policy.roots().iter().map(|root| root.root.clone()));
    named.extend(policy.private().iter().cloned());
    let rules = policy.canonical().rules();
    let granted = rules.iter().flat_map(|(rules, _)| &rules.reopened);
    named.extend(granted.map(|grant| grant.path.clone()));
    let guards = policy.guards().iter().map(|guard| &guard.matcher);
    for matcher in guards.chain(policy.read_only()) {
        if let Some(path) = matcher.path() {
            named.push(path.clone());
            continue;
        }
        let found: Vec<AbsolutePath> = everybody
            .iter()
            .map(|(path, _)| path)
            .filter(|path| matcher.specificity(path, case) == Some(path.depth()))
            .cloned()
            .collect();
        named.extend(found.iter().cloned());
        host.matches
            .insert(matcher.to_string(), Matches::all(found));
    }
    let token = Token::of_user(host);
    for (number, path) in (1..).zip(&named) {
        host.capabilities
            .entry(path.clone())
            .or_insert_with(|| capability(number));
        for above in std::iter::successors(Some(path.clone()), AbsolutePath::parent) {
            let located = look(files, &token, &above);
            host.places.entry(above).or_insert(located);
        }
    }
    host.null_dacls = everybody
        .iter()
        .filter(|(_, id)| {
            files
                .object(*id)
                .is_some_and(|object| object.descriptor.dacl == Dacl::Null)
        })
        .map(|(path, _)| path.clone())
        .collect();
    host.second_names = SecondNames::None;
    let to: Vec<Sid> = host
        .capabilities
        .values()
        .chain([&host.logon])
        .cloned()
        .collect();
    let closed = |path: &AbsolutePath| policy.place(&Access::Write(path.clone())).is_none();
    let below_closed = |path: &AbsolutePath| {
        let inside = |above: &AbsolutePath| {
            let roots = policy.roots().iter().map(|root| &root.root);
            roots
                .chain(policy.private())
                .any(|place| place.covers(above, case))
        };
        std::iter::successors(path.parent(), AbsolutePath::parent)
            .any(|above| inside(&above) && closed(&above))
    };
    let left: Vec<&AbsolutePath> = everybody
        .iter()
        .filter(|(path, id)| {
            let opens = files
                .object(*id)
                .is_some_and(|object| match &object.descriptor.dacl {
                    Dacl::Null => true,
                    Dacl::List(list) => list.opens_by_itself(object.descriptor.protected, &to),
                });
            opens && closed(path) && below_closed(path)
        })
        .map(|(path, _)| path)
        .collect();
    host.residue = match left.as_slice() {
        [] => Residue::None,
        [example, ..] => Residue::Found {
            count: left.len() as u64,
            example: (*example).clone(),
        },
    };
}

fn look(files: &FileSystem, token: &Token, path: &AbsolutePath) -> Located {
    let Some(object) = files.at(path) else {
        return Located::new(path.clone(), Entry::Missing);
    };
    let entry = match object.kind() {
        Kind::Directory => Entry::Directory,
        Kind::File => Entry::File,
    };
    let located = Located::new(path.clone(), entry);
    let switches = Switches::PUBLISHED;
    match check(token, &object.descriptor, Rights::WRITE_DAC, switches) {
        Ok(()) => located,
        Err(_) => located.with_foreign_acl(),
    }
}
