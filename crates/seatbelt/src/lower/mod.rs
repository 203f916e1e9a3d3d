//! From a resolved policy and facts about a Mac to a profile: pure, so it builds and is tested on every system.

mod files;
pub(crate) mod globs;
mod network;
mod places;
mod report;
mod spell;
mod spot;
mod system_calls;
mod terminals;

use palisade_policy::{
    AbsolutePath, Availability, Backend, Lowered, LoweringProblem, PolicyError, PrivatePlaces,
    ResolvedPolicy, SandboxType,
};

use crate::host::{MacHost, SandboxExec};
use crate::plan::SeatbeltPlan;
use crate::profile::{BasePart, Parameters, Profile, UnspeakablePath};
use files::Rules;
use places::Places;
use spot::Filters;

/// The backend for macOS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct Seatbelt;

/// What a session on this host owns by itself: what a policy must be resolved with before it is lowered.
#[must_use]
pub fn private_places(host: &MacHost) -> PrivatePlaces {
    PrivatePlaces::default().with_overlays(host.session_tmp.clone())
}

impl Backend for Seatbelt {
    type Host = MacHost;
    type Plan = SeatbeltPlan;

    fn sandbox_type(&self) -> SandboxType {
        SandboxType::MacosSeatbelt
    }

    fn availability(&self, host: &MacHost) -> Availability {
        match nothing_works(host) {
            None => Availability::Works,
            Some((why, cure)) => Availability::Missing {
                why: why.to_owned(),
                cure: cure.map(str::to_owned),
            },
        }
    }

    fn lower(
        &self,
        policy: &ResolvedPolicy,
        host: &MacHost,
    ) -> Result<Lowered<SeatbeltPlan>, PolicyError> {
        if !policy.canonical().uses_runtime_sandbox() {
            return Err(PolicyError::at("type", LoweringProblem::NothingToEnforce));
        }
        if let Some((why, _)) = nothing_works(host) {
            let why = why.to_owned();
            return Err(PolicyError::at(
                "type",
                LoweringProblem::NoMechanism { why },
            ));
        }
        // The oracle and the plan must speak of the same session.
        if policy.context().private != private_places(host) {
            return Err(PolicyError::at(
                "private",
                LoweringProblem::OtherPrivatePlaces,
            ));
        }
        let places = Places::collect(policy, host)?;
        let profile =
            profile(&places, host).map_err(|error| places::unspeakable(policy, &error))?;
        let enforcement = report::report(&places, host);
        let plan = SeatbeltPlan::new(profile, host.session_tmp.clone());
        Ok(Lowered::new(policy, plan, enforcement))
    }
}

fn profile(places: &Places<'_>, host: &MacHost) -> Result<Profile, UnspeakablePath> {
    let mut filters = Filters {
        parameters: Parameters::default(),
        case: places.case(),
    };
    // Names are given in the order of the policy, so that one more path does not rename the others.
    for place in &places.list {
        filters.introduce(place.origin.parameter(), &place.spot)?;
    }
    let mut rules = Rules::default();
    files::reading(places, &mut filters, &mut rules)?;
    files::writing_rules(places, &mut filters, &mut rules)?;
    network::lower(places, host, &mut filters, &mut rules)?;

    let mut base = vec![BasePart::DeveloperTools];
    if preferences_are_open(places) {
        base.push(BasePart::Preferences);
    }
    if places.policy().canonical().has_full_network() {
        base.push(BasePart::Network);
    }
    Ok(Profile {
        base,
        rules: [rules.allows, rules.denies].concat(),
        parameters: filters.parameters,
    })
}

/// Whether every file that holds settings may be read: the service that hands them out asks no rule about files.
fn preferences_are_open(places: &Places<'_>) -> bool {
    let context = places.policy().context();
    let Some(home) = &context.facts.home else {
        return false;
    };
    let below =
        |above: &AbsolutePath| AbsolutePath::new(above.as_path().join("Library/Preferences")).ok();
    let everybody = AbsolutePath::new("/").ok();
    let directories: Vec<_> = [Some(home), everybody.as_ref()]
        .into_iter()
        .flatten()
        .filter_map(below)
        .collect();
    directories.len() == 2
        && directories.iter().all(|directory| {
            let touched = |path: &AbsolutePath| directory.covers(path, places.case());
            places.may_read(directory)
                && !places
                    .list
                    .iter()
                    .any(|place| !place.read && places.names(&place.spot.path).iter().any(touched))
        })
        && !places.globs.iter().any(|glob| glob.denies_read)
}

/// Why no profile can be applied here, and what would help.
const fn nothing_works(host: &MacHost) -> Option<(&'static str, Option<&'static str>)> {
    match host.sandbox_exec {
        SandboxExec::Works => None,
        SandboxExec::Missing => Some((
            "/usr/bin/sandbox-exec is not there",
            Some("it is part of macOS: repair the system"),
        )),
        SandboxExec::Nested => Some((
            "this process is in a sandbox, and macOS makes none inside another",
            Some("start it outside of that sandbox, or declare that one as external"),
        )),
        SandboxExec::NotMacos => Some(("this is not macOS, and only macOS has Seatbelt", None)),
    }
}
