//! Our plans, judged by the model and held against the oracle.

use std::collections::BTreeMap;

use palisade_policy::{AbsolutePath, Access, Guarantee, Level, Stance};
use palisade_windows_token::Sid;
use palisade_windows_token::acl::{AceKind, Dacl, Rights};
use palisade_windows_token::model::{
    Demand, FileSystem, Kind, ObjectId, Operation, Switches, Token, mapped,
};
use proptest::prelude::*;

use crate::attacks::{any_steps, everything};
use crate::world::{Started, World, any_world};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        max_global_rejects: 100_000,
        max_shrink_iters: 400,
        ..ProptestConfig::default()
    }
}

/// The first capability of a session, for whoever gives himself something.
pub(crate) fn first_capability(world: &World) -> Sid {
    world.plan.token.restricting.first().unwrap().clone()
}

/// Whether the report calls a guarantee kept.
fn claims(world: &World, guarantee: Guarantee) -> bool {
    world.report.level(guarantee) == Level::Enforced
}

/// What is wrong with something that happened, if the report does not admit it.
pub(crate) fn objection(
    world: &World,
    operation: &Operation,
    before: &FileSystem,
    token: &Token,
    switches: Switches,
) -> Option<String> {
    let breaches = world.breaches(operation, before);
    let breach = breaches.into_iter().find(|breach| match breach.guarantee {
        // Whatever the report says about removal: outside nothing is written, made or opened.
        Guarantee::WritesOutside if world.host.null_dacls.is_empty() => {
            claims(world, Guarantee::WritesOutside)
                || !world.is_admitted_removal(operation, before, token, switches)
        }
        guarantee => claims(world, guarantee),
    })?;
    Some(format!(
        "{} breaks {}: {}\n{switches:?}\n{operation:?}\n{}",
        breach.access, breach.guarantee, breach.why, world.plan
    ))
}

fn try_once(
    world: &World,
    started: &Started,
    switches: &[Switches],
    operation: &Operation,
) -> Result<(), TestCaseError> {
    let Ok(demands) = operation.demands(&started.files) else {
        return Ok(());
    };
    let harmless = world.breaches(operation, &started.files).is_empty();
    for switches in switches.iter().filter(|_| !harmless) {
        let granted = |demand: &Demand| {
            let said = demand.check(&started.files, &started.token, *switches);
            said.is_ok()
        };
        if demands.iter().all(granted) {
            let objection = objection(world, operation, &started.files, &started.token, *switches);
            prop_assert!(objection.is_none(), "{}", objection.unwrap());
        }
    }
    Ok(())
}

/// What was there when the session began and may not be changed by any of its names.
fn untouchable(world: &World, files: &FileSystem) -> Vec<(AbsolutePath, ObjectId)> {
    let mut names: BTreeMap<ObjectId, Vec<AbsolutePath>> = BTreeMap::new();
    for (path, id) in files.paths() {
        names.entry(id).or_default().push(path);
    }
    let denied = |path: &AbsolutePath| world.policy.place(&Access::Write(path.clone())).is_none();
    names
        .into_iter()
        .filter(|(_, paths)| paths.iter().all(denied))
        .map(|(id, paths)| (paths.first().unwrap().clone(), id))
        .collect()
}

/// Whether what may not be changed is what it was.
fn unchanged(world: &World, start: &FileSystem, end: &FileSystem) -> Result<(), TestCaseError> {
    for (path, id) in untouchable(world, start) {
        let inside = world.is_inside(&path);
        if inside && !claims(world, Guarantee::ProtectedPaths) {
            continue;
        }
        let (Some(old), Some(new)) = (start.object(id), end.object(id)) else {
            continue;
        };
        prop_assert_eq!(
            old.changes,
            new.changes,
            "{} was changed\n{}",
            path,
            &world.plan
        );
        prop_assert_eq!(
            &old.descriptor,
            &new.descriptor,
            "the list of {} was changed",
            path
        );
    }
    Ok(())
}

proptest! {
    // As many as it takes for one entry left out of a plan to be noticed by each of the first two.
    #![proptest_config(config(768))]

    /// Nothing that the oracle denies can be done at once, if the report says so.
    #[test]
    fn what_is_denied_cannot_be_done(world in any_world()) {
        let Some(started) = world.start(&world.plan) else { return Ok(()) };
        let switches = world.switches(&world.plan);
        for operation in everything(&started.files, &first_capability(&world)) {
            try_once(&world, &started, &switches, &operation)?;
        }
    }

    /// Nor in several steps: no sequence of creating, moving, linking, removing and changing lists gets there.
    #[test]
    fn no_sequence_reaches_what_is_denied(
        world in any_world(),
        steps in any_steps(24),
    ) {
        let Some(started) = world.start(&world.plan) else { return Ok(()) };
        for switches in world.switches(&world.plan) {
            let mut files = started.files.clone();
            for step in &steps {
                let operation = step.on(&files, &first_capability(&world));
                let before = files.clone();
                if operation.perform(&mut files, &started.token, switches).is_ok() {
                    let objection = objection(&world, &operation, &before, &started.token, switches);
                    prop_assert!(objection.is_none(), "{}", objection.unwrap());
                    // That a place itself is moved is admitted outside; what may be written there goes along with it.
                    if moves_an_opened_place(&world, &operation) {
                        break;
                    }
                }
            }
            if world.host.null_dacls.is_empty() {
                unchanged(&world, &started.files, &files)?;
            }
        }
    }

    /// What the oracle allows works, if the user could do it himself and nothing hides its list from what is above.
    #[test]
    fn what_is_allowed_works(world in any_world()) {
        let Some(started) = world.start(&world.plan) else { return Ok(()) };
        let mut himself = Token::of_user(&world.host);
        himself.privileges.clear();
        for operation in useful(&world, &started.files) {
            for switches in world.switches(&world.plan) {
                let may = |files: &FileSystem, token: &Token| {
                    operation.attempt(files, token, switches).is_ok()
                };
                if may(&world.files, &himself) {
                    prop_assert!(
                        may(&started.files, &started.token),
                        "{:?} does not work\n{:?}\n{}", operation, switches, world.plan
                    );
                }
            }
        }
    }

    /// Two walls where one would do: nothing that is granted removes children, changes a list or takes an object, and nobody
    /// restricts the token but capabilities and the logon session.
    #[test]
    fn plans_grant_and_name_no_more_than_they_must(world in any_world()) {
        let never = Rights::DELETE_CHILD | Rights::WRITE_DAC | Rights::WRITE_OWNER;
        let added = world.plan.acl_edits.iter().flat_map(|edit| &edit.add);
        for ace in added.filter(|ace| ace.kind == AceKind::Allow) {
            prop_assert!(!mapped(ace.rights).intersects(never), "{:?}", ace);
        }
        let capabilities: Vec<&Sid> = world.host.capabilities.values().collect();
        for sid in &world.plan.token.restricting {
            prop_assert!(*sid == world.host.logon || capabilities.contains(&sid), "{}", sid);
        }
    }

    /// What was added goes again: every list is what it was.
    #[test]
    fn removing_a_plan_restores_every_list(world in any_world(), steps in any_steps(8)) {
        let Some(started) = world.start(&world.plan) else { return Ok(()) };
        // What has no list gets one from above, and keeps an empty one when that goes: see `inheritance`.
        if world.host.null_dacls.iter().any(|path| world.is_inside(path)) {
            return Ok(());
        }
        let Started { files: start, token, applied } = started;
        let mut files = start;
        applied.clone().remove(&mut files);
        for (path, id) in world.files.paths() {
            let (before, after) = (world.files.object(id).unwrap(), files.object(id).unwrap());
            prop_assert_eq!(&before.descriptor, &after.descriptor, "{}", path);
        }

        // Also after the command did something, for all that is where it was.
        let mut files = world.start(&world.plan).unwrap().files;
        for step in &steps {
            let operation = step.on(&files, &first_capability(&world));
            let _ = operation.perform(&mut files, &token, Switches::PUBLISHED);
        }
        let touched = |path: &AbsolutePath| world.files.find(path) != files.find(path);
        let moved: Vec<AbsolutePath> = world.files.paths().into_iter().map(|(path, _)| path).filter(touched).collect();
        // What got a second name inherits from both directories, and keeps what the last one said.
        let names: Vec<ObjectId> = files.paths().into_iter().map(|(_, id)| id).collect();
        let linked = |id: ObjectId| names.iter().filter(|name| **name == id).count() > 1;
        applied.remove(&mut files);
        for (path, id) in world.files.paths() {
            if linked(id) || moved.iter().any(|moved| path.as_path().starts_with(moved.as_path())) {
                continue;
            }
            let (before, after) = (world.files.object(id).unwrap(), files.object(id).unwrap());
            if !mentions(&after.descriptor.dacl, &first_capability(&world)) {
                prop_assert_eq!(&before.descriptor, &after.descriptor, "{}", path);
            }
        }
    }
}

/// Whether a place that the policy opens goes elsewhere with what it holds.
fn moves_an_opened_place(world: &World, operation: &Operation) -> bool {
    let case = world.policy.context().facts.case;
    let Operation::Rename { from, .. } = operation else {
        return false;
    };
    let opened = world.opened();
    opened.iter().any(|place| from.covers(place, case)) && !world.is_inside(from)
}

/// Whether somebody gave himself something, as sequences do.
fn mentions(dacl: &Dacl, sid: &Sid) -> bool {
    matches!(dacl, Dacl::List(list) if list.mentions(sid))
}

/// What the oracle allows and lists should.
fn useful(world: &World, files: &FileSystem) -> Vec<Operation> {
    let allowed = |access: Access| world.policy.place(&access).is_some();
    // A pattern that opens something again does so for what matched when the session began, not for what is new.
    let case = world.policy.context().facts.case;
    let lifted = |path: &AbsolutePath| {
        world.policy.guards().iter().any(|guard| {
            guard.write == Some(Stance::Lifts)
                && guard.matcher.is_glob()
                && (guard.matcher.specificity(path, case).is_some()
                    || guard.matcher.may_match_below(path, case))
        })
    };
    let reached =
        |path: &AbsolutePath| inherits_up_to_an_opened_place(world, path) && !lifted(path);
    let mut useful = Vec::new();
    for (path, _) in files.paths() {
        let object = files.at(&path).unwrap();
        if !reached(&path) {
            continue;
        }
        if object.kind() == Kind::File && allowed(Access::Write(path.clone())) {
            useful.push(Operation::Write(path.clone()));
            useful.push(Operation::Truncate(path.clone()));
            useful.push(Operation::SetAttributes(path.clone()));
        }
        // What is open in a directory that is closed stays there, whatever the oracle says of its name.
        let holder_is_open = path
            .parent()
            .is_some_and(|parent| allowed(Access::Write(parent)));
        let aside = crate::attacks::below(&path.parent().unwrap_or_else(|| path.clone()), "aside");
        if holder_is_open && allowed(Access::Delete(path.clone())) && !object.holds_something() {
            useful.push(Operation::Delete(path.clone()));
        }
        let move_away = Access::Rename {
            from: path.clone(),
            to: aside.clone(),
        };
        if holder_is_open && allowed(move_away) {
            useful.push(Operation::Rename {
                from: path.clone(),
                to: aside,
            });
        }
        if object.kind() == Kind::Directory {
            let new = crate::attacks::below(&path, "new");
            if allowed(Access::Create(new.clone())) {
                useful.push(Operation::CreateFile(new.clone()));
                useful.push(Operation::CreateDirectory(new));
            }
        }
    }
    useful
}

/// Whether a list is what it inherited, up to a place that the policy opens.
fn inherits_up_to_an_opened_place(world: &World, path: &AbsolutePath) -> bool {
    let opened = world.opened();
    let places: Vec<AbsolutePath> = std::iter::successors(Some(path.clone()), AbsolutePath::parent)
        .take_while(|path| !opened.contains(&path))
        .collect();
    places.iter().all(|path| {
        let object = world.files.at(path).unwrap();
        !object.descriptor.protected && object.descriptor.dacl != Dacl::Null
    })
}
