//! The rules about files: what may be read and executed, and what may be written.
//!
//! A region is a place without the deeper places that say otherwise. Every allow is carved around what is denied inside
//! it, and the denies are repeated after all allows, carved around what is allowed inside them: either half alone gives the
//! right answers, whichever rule a kernel prefers.

use palisade_policy::AbsolutePath;

use super::globs::{self, Instance};
use super::places::{Place, Places, Verdict};
use super::spell;
use super::spot::{Filters, Reach, Spot};
use super::terminals;
use crate::profile::{Filter, Modifier, Operation, PathValue, Rule, UnspeakablePath};

/// Reading, and executing, which the oracle judges alike.
const READING: [Operation; 4] = [
    Operation::FILE_READ,
    Operation::FILE_TEST_EXISTENCE,
    Operation::FILE_MAP_EXECUTABLE,
    Operation::PROCESS_EXEC,
];

/// What must stay open above something that may be read: a path is looked up name by name.
const PASSING: [Operation; 2] = [
    Operation::FILE_READ_METADATA,
    Operation::FILE_TEST_EXISTENCE,
];

/// What of reading must not be open there.
const LOOKING_IN: [Operation; 4] = [
    Operation::FILE_READ_DATA,
    Operation::FILE_READ_XATTR,
    Operation::FILE_MAP_EXECUTABLE,
    Operation::PROCESS_EXEC,
];

/// Changing what an entry holds, and nothing about the entry itself.
const CONTENT: [Operation; 6] = [
    Operation::FILE_WRITE_DATA,
    Operation::FILE_WRITE_FLAGS,
    Operation::FILE_WRITE_MODE,
    Operation::FILE_WRITE_OWNER,
    Operation::FILE_WRITE_TIMES,
    Operation::FILE_WRITE_XATTR,
];

/// Making, removing and moving an entry.
const ENTRY: [Operation; 2] = [Operation::FILE_WRITE_CREATE, Operation::FILE_WRITE_UNLINK];

/// Devices that the oracle calls standard and that a Mac has.
const DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
];

/// The allows and the denies, which come after all allows.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) allows: Vec<Rule>,
    pub(super) denies: Vec<Rule>,
}

impl Rules {
    pub(super) fn deny(
        &mut self,
        operations: impl IntoIterator<Item = Operation>,
        filters: Vec<Filter>,
        tag: &str,
    ) {
        if filters.is_empty() {
            return;
        }
        let mut rule = Rule::deny(operations).with(Modifier::Message(tag.to_owned()));
        rule.filters = filters;
        self.denies.push(rule);
    }

    /// Where reading is denied, writing is as well: that need not be said again.
    fn deny_writing(&mut self, filters: Vec<Filter>, tag: &str) {
        let said = self.denies.iter().any(|rule| {
            rule.filters == filters && rule.operations.contains(&Operation::FILE_WRITE)
        });
        if !said {
            self.deny(writing(), filters, tag);
        }
    }

    pub(super) fn allow(
        &mut self,
        operations: impl IntoIterator<Item = Operation>,
        filters: Vec<Filter>,
    ) {
        if filters.is_empty() {
            return;
        }
        let mut rule = Rule::allow(operations);
        rule.filters = filters;
        self.allows.push(rule);
    }
}

/// Every operation that some rule allows by a name of its own: what is not written is denied under each of these.
fn writing() -> impl Iterator<Item = Operation> {
    std::iter::once(Operation::FILE_WRITE).chain(CONTENT)
}

pub(super) fn not(filter: Filter) -> Filter {
    Filter::Not(Box::new(filter))
}

/// All of the filters; one alone is itself.
pub(super) fn all(mut filters: Vec<Filter>) -> Filter {
    match filters.pop() {
        Some(only) if filters.is_empty() => only,
        last => {
            filters.extend(last);
            Filter::All(filters)
        }
    }
}

/// Any of the filters; one alone is itself.
pub(super) fn any(mut filters: Vec<Filter>) -> Filter {
    match filters.pop() {
        Some(only) if filters.is_empty() => only,
        last => {
            filters.extend(last);
            Filter::Any(filters)
        }
    }
}

/// The rules about reading and executing.
pub(super) fn reading(
    places: &Places<'_>,
    filters: &mut Filters,
    rules: &mut Rules,
) -> Result<(), UnspeakablePath> {
    let verdict = Verdict::Read;
    let instances = globs::instances(places, verdict);
    let mut terminals_are_inside = false;
    for place in places.opened(verdict) {
        let carved = carved_out(places, filters, &instances, place, verdict)?;
        let Some(inside) = inside(filters, place)? else {
            continue;
        };
        let mut region = [vec![inside], carved].concat();
        if terminals::are_below(&place.spot.path) {
            terminals_are_inside = true;
            let at = terminals::may_be_at;
            let near = carved_where(places, filters, &instances, place, verdict, at)?;
            rules.allow(
                terminals::LOOKING_AT,
                vec![all([vec![terminals::every()], near].concat())],
            );
            region.push(not(terminals::of_others()));
        }
        rules.allow(READING, vec![all(region)]);
    }
    let passages = passages(places);
    let mut passing = Vec::new();
    for spot in &passages {
        passing.extend(filters.itself("ABOVE", spot, Reach::AtMost)?);
    }
    rules.allow(PASSING, passing.clone());

    for place in places.closed(verdict) {
        let subtree = filters.subtree(place.origin.parameter(), &place.spot, Reach::AtLeast)?;
        let open: Vec<&Place> = places.exceptions(place, verdict).collect();
        let at = &place.spot.path;
        let region = around(places, filters, subtree, at, &open, &passages)?;
        rules.deny(not_read(at), region, place.origin.tag());
    }
    for instance in &instances {
        let matches = matches(filters, instance)?;
        let anchor = &instance.anchor.path;
        let open = &instance.reopened;
        let region = around(places, filters, matches, anchor, open, &passages)?;
        rules.deny(not_read(anchor), region, instance.tag);
    }
    if terminals_are_inside {
        let others = vec![terminals::of_others()];
        rules.deny([Operation::FILE_READ_DATA], others, "palisade:terminal");
    }
    rules.deny(
        LOOKING_IN.into_iter().chain(writing()),
        passing,
        "palisade:above",
    );
    Ok(())
}

/// What is not read is denied under each operation that some rule allows there by a name of its own.
fn not_read(at: &AbsolutePath) -> impl Iterator<Item = Operation> {
    let known = terminals::may_be_at(at).then_some(Operation::FILE_READ_METADATA);
    READING.into_iter().chain(known).chain(writing())
}

/// What must not be read itself, but holds something that may be.
fn passages(places: &Places<'_>) -> Vec<Spot> {
    let mut passages: Vec<Spot> = Vec::new();
    for place in places.list.iter().filter(|place| place.read) {
        for above in place.spot.above() {
            if !passages.contains(&above) && !places.may_read(&above.path) {
                passages.push(above);
            }
        }
    }
    passages
}

/// What is denied, without what is open inside.
fn around(
    places: &Places<'_>,
    filters: &mut Filters,
    denied: Vec<Filter>,
    at: &AbsolutePath,
    open: &[&Place],
    passages: &[Spot],
) -> Result<Vec<Filter>, UnspeakablePath> {
    let mut carved = Vec::new();
    for place in open {
        let subtree = filters.subtree(place.origin.parameter(), &place.spot, Reach::AtMost)?;
        carved.extend(subtree.into_iter().map(not));
    }
    for passage in passages {
        if at.covers(&passage.path, places.case())
            && let Some(itself) = filters.itself("ABOVE", passage, Reach::AtMost)?
        {
            carved.push(not(itself));
        }
    }
    if carved.is_empty() {
        return Ok(denied);
    }
    Ok(vec![all([vec![any(denied)], carved].concat())])
}

/// A place with everything below it, for an allow: `None` if that cannot be said without saying more.
pub(super) fn inside(
    filters: &mut Filters,
    place: &Place,
) -> Result<Option<Filter>, UnspeakablePath> {
    let subtree = filters.subtree(place.origin.parameter(), &place.spot, Reach::AtMost)?;
    // The subtree holds the place itself; that it is named as well is for denies, which are better said twice.
    Ok(subtree.into_iter().next_back())
}

/// What an allow at a place is carved around.
pub(super) fn carved_out(
    places: &Places<'_>,
    filters: &mut Filters,
    instances: &[Instance<'_>],
    place: &Place,
    verdict: Verdict,
) -> Result<Vec<Filter>, UnspeakablePath> {
    carved_where(places, filters, instances, place, verdict, |_| true)
}

/// The same, of what begins at such paths.
fn carved_where(
    places: &Places<'_>,
    filters: &mut Filters,
    instances: &[Instance<'_>],
    place: &Place,
    verdict: Verdict,
    matters: impl Fn(&AbsolutePath) -> bool,
) -> Result<Vec<Filter>, UnspeakablePath> {
    let mut carved = Vec::new();
    let closed = places.exceptions(place, verdict);
    for closed in closed.filter(|closed| matters(&closed.spot.path)) {
        let subtree = filters.subtree(closed.origin.parameter(), &closed.spot, Reach::AtLeast)?;
        carved.extend(subtree.into_iter().map(not));
    }
    let (case, here) = (places.case(), &place.spot.path);
    for instance in instances {
        let there = &instance.anchor.path;
        let meet = here.covers(there, case) || there.covers(here, case);
        if meet && matters(there) {
            carved.push(not(denied_by(filters, instance)?));
        }
    }
    Ok(carved)
}

/// What an instance of a glob denies, as one filter.
pub(super) fn denied_by(
    filters: &mut Filters,
    instance: &Instance<'_>,
) -> Result<Filter, UnspeakablePath> {
    let mut parts = vec![any(matches(filters, instance)?)];
    for place in &instance.reopened {
        let subtree = filters.subtree(place.origin.parameter(), &place.spot, Reach::AtMost)?;
        parts.extend(subtree.into_iter().map(not));
    }
    Ok(all(parts))
}

fn matches(filters: &mut Filters, instance: &Instance<'_>) -> Result<Vec<Filter>, UnspeakablePath> {
    let mut matches = Vec::new();
    for tail in &instance.tails {
        let pattern = spell::glob(tail, filters.case);
        matches.push(filters.matches("BASE", &instance.anchor, &pattern)?);
    }
    Ok(matches)
}

/// The rules about writing.
pub(super) fn writing_rules(
    places: &Places<'_>,
    filters: &mut Filters,
    rules: &mut Rules,
) -> Result<(), UnspeakablePath> {
    let verdict = Verdict::Write;
    let instances = globs::instances(places, verdict);
    let fixed = fixed_entries(places);
    let mut pinned = Vec::new();
    for place in places.opened(verdict) {
        let Some(inside) = inside(filters, place)? else {
            continue;
        };
        let carved = carved_out(places, filters, &instances, place, verdict)?;
        let here = fixed.below(places, filters, &place.spot.path)?;
        let without = here.iter().cloned().map(not).collect();
        let region = all([vec![inside.clone()], carved.clone(), without].concat());
        rules.allow([Operation::FILE_WRITE], vec![region]);
        // What must stay where it is can still be changed. A path is open, or it would not be here; what a pattern
        // fits may be closed.
        let exact = |filter: &Filter| matches!(filter, Filter::Literal(_));
        if instances.is_empty() && here.iter().all(exact) {
            rules.allow(CONTENT, here.clone());
        } else if !here.is_empty() {
            let region = all([vec![inside, any(here.clone())], carved].concat());
            rules.allow(CONTENT, vec![region]);
        }
        pinned.extend(here);
    }
    devices(places, rules);

    for place in places.closed(verdict) {
        let subtree = filters.subtree(place.origin.parameter(), &place.spot, Reach::AtLeast)?;
        let open: Vec<&Place> = places.exceptions(place, verdict).collect();
        let region = around(places, filters, subtree, &place.spot.path, &open, &[])?;
        rules.deny_writing(region, place.origin.tag());
    }
    for instance in &instances {
        let matches = matches(filters, instance)?;
        let anchor = &instance.anchor.path;
        let region = around(places, filters, matches, anchor, &instance.reopened, &[])?;
        rules.deny_writing(region, instance.tag);
    }
    // Each on a line of its own: a second protected path adds just its rules.
    let mut seen: Vec<Filter> = Vec::new();
    for filter in pinned {
        if !seen.contains(&filter) {
            rules.deny(ENTRY, vec![filter.clone()], "palisade:pinned");
            seen.push(filter);
        }
    }
    Ok(())
}

/// Entries that must not be moved, replaced or removed, although they may be written.
struct Fixed {
    spots: Vec<Spot>,
    ways: Vec<(Spot, Vec<crate::profile::Pattern>)>,
}

fn fixed_entries(places: &Places<'_>) -> Fixed {
    let mut spots: Vec<Spot> = Vec::new();
    let mut add = |spot: Spot| {
        if !spots.contains(&spot) && places.may_write(&spot.path) {
            spots.push(spot);
        }
    };
    for place in &places.list {
        let guarded = !place.write;
        for above in place.spot.above() {
            if guarded || !places.may_replace(&above.path) {
                add(above);
            }
        }
        if !places.may_replace(&place.spot.path) {
            add(place.spot.clone());
        }
    }
    for glob in places.globs.iter().filter(|glob| glob.is_anchored()) {
        add(glob.anchor.clone());
        glob.anchor.above().into_iter().for_each(&mut add);
    }
    let case = places.case();
    let ways = places.globs.iter().flat_map(|glob| glob.way(places));
    let ways = ways
        .map(|(spot, steps)| {
            let steps = steps.iter().map(|step| spell::glob(step, case)).collect();
            (spot, steps)
        })
        .collect();
    Fixed { spots, ways }
}

impl Fixed {
    /// Those at and below a place.
    fn below(
        &self,
        places: &Places<'_>,
        filters: &mut Filters,
        place: &AbsolutePath,
    ) -> Result<Vec<Filter>, UnspeakablePath> {
        let case = places.case();
        let mut found = Vec::new();
        for spot in &self.spots {
            if place.covers(&spot.path, case) {
                found.extend(filters.itself("ABOVE", spot, Reach::AtLeast)?);
            }
        }
        for (spot, steps) in &self.ways {
            if place.covers(&spot.path, case) || spot.path.covers(place, case) {
                for step in steps {
                    found.push(filters.match_itself("BASE", spot, step)?);
                }
            }
        }
        found.dedup();
        Ok(found)
    }
}

/// Devices hold nothing, so writing to one changes nothing; but there are no others to be made there.
fn devices(places: &Places<'_>, rules: &mut Rules) {
    let open = DEVICES
        .iter()
        .filter(|device| AbsolutePath::new(device).is_ok_and(|path| places.may_write(&path)))
        .map(|device| Filter::Literal(PathValue::Fixed((*device).to_owned())))
        .collect();
    rules.allow([Operation::FILE_WRITE_DATA, Operation::FILE_IOCTL], open);
}
