//! Which guarantee a denied access would break, by what the report of a plan speaks about.

use palisade_policy::{AbsolutePath, Access, Clause, Guarantee, PathMatcher, ResolvedPolicy};

/// Places that the policy opens: a root that a guard closes is none.
#[must_use]
pub fn opened(policy: &ResolvedPolicy) -> Vec<&AbsolutePath> {
    let roots = policy.roots().iter().map(|root| &root.root);
    // A grant in a root is part of it, unless a guard closes the root.
    let rules = policy.canonical().rules();
    let granted = rules.into_iter().flat_map(|(rules, _)| &rules.reopened);
    let granted = granted.filter(|grant| grant.write);
    roots
        .chain(policy.private())
        .chain(granted.map(|grant| &grant.path))
        .filter(|path| permits(policy, Access::Write((*path).clone())))
        .collect()
}

/// Whether the entry is in a place that the policy opens.
#[must_use]
pub fn is_inside(policy: &ResolvedPolicy, path: &AbsolutePath) -> bool {
    let case = policy.context().facts.case;
    opened(policy)
        .iter()
        .any(|place| place.covers(path, case) && place.depth() < path.depth())
}

/// Which guarantee an access breaks that is denied in a place that the policy opens, and why it is denied. `was_there`
/// says whether what it is about had the same name when the session began.
#[must_use]
pub fn broken_inside(
    policy: &ResolvedPolicy,
    access: &Access,
    was_there: bool,
) -> (Guarantee, Clause) {
    let clause = policy.permits(access).clause;
    let permits = |access: Access| permits(policy, access);
    let guarantee = match (access, matcher_of(&clause)) {
        // What is moved although it must not be read is a matter of reading.
        (Access::Rename { from, to }, _)
            if permits(Access::Delete(from.clone()))
                && permits(Access::Create(to.clone()))
                && !permits(Access::Read(from.clone())) =>
        {
            Guarantee::DeniedReads
        }
        // So is what holds something that must not be read but could be written.
        _ if matches!(&clause, Clause::HoldsGuarded(held)
            if permits(Access::Write(held.clone()))
                && !permits(Access::Read(held.clone()))) =>
        {
            Guarantee::DeniedReads
        }
        // A pattern guards what was there; what comes later is said to be open.
        (_, Some(glob)) if glob.is_glob() && !was_there => {
            match policy.read_only().contains(glob) {
                true => Guarantee::ProtectedPaths,
                false => Guarantee::DeniedReads,
            }
        }
        _ => Guarantee::ProtectedPaths,
    };
    (guarantee, clause)
}

fn permits(policy: &ResolvedPolicy, access: Access) -> bool {
    policy.place(&access).is_some()
}

fn matcher_of(clause: &Clause) -> Option<&PathMatcher> {
    match clause {
        Clause::Sensitive(matcher)
        | Clause::DenyRead(matcher)
        | Clause::ReadOnlyPath(matcher)
        | Clause::MovesGuarded(matcher) => Some(matcher),
        _ => None,
    }
}
