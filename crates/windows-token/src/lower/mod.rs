//! From a resolved policy and facts to a plan: pure, so it builds and is tested on every system.

mod areas;
mod edits;
mod job;
mod report;
mod token;

use palisade_policy::{
    AbsolutePath, Availability, Backend, Lowered, LoweringProblem, PolicyError, PrivatePlaces,
    ResolvedPolicy, SandboxType,
};

use crate::acl::{Ace, AceKind, Rights};
use crate::host::{Entry, WindowsHost};
use crate::plan::{DesktopPlan, HandlePlan, Plan, Purpose};

/// The variables that say where temporary files go.
const TEMP_VARIABLES: [&str; 2] = ["TEMP", "TMP"];

/// The backend for Windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it has no state")]
pub struct WindowsToken;

/// What a session on this host owns by itself: what a policy must be resolved with before it is lowered.
#[must_use]
pub fn private_places(host: &WindowsHost) -> PrivatePlaces {
    PrivatePlaces::default().with_overlays(host.session_tmp.clone())
}

impl Backend for WindowsToken {
    type Host = WindowsHost;
    type Plan = Plan;

    fn sandbox_type(&self) -> SandboxType {
        SandboxType::WindowsRestrictedToken
    }

    /// Every Windows has restricted tokens. Whether one restricts is seen when it is made: before that nothing runs.
    fn availability(&self, _: &WindowsHost) -> Availability {
        Availability::Works
    }

    fn lower(
        &self,
        policy: &ResolvedPolicy,
        host: &WindowsHost,
    ) -> Result<Lowered<Plan>, PolicyError> {
        if !policy.canonical().uses_runtime_sandbox() {
            return Err(PolicyError::at("type", LoweringProblem::NothingToEnforce));
        }
        // The oracle and the plan must speak of the same session.
        if policy.context().private != private_places(host) {
            return Err(PolicyError::at(
                "private",
                LoweringProblem::OtherPrivatePlaces,
            ));
        }
        let areas = areas::collect(policy, host)?;
        let built = edits::build(policy, host, &areas);
        let own: Vec<_> = areas
            .opened
            .values()
            .filter(|opened| opened.private)
            .map(|opened| opened.capability.clone())
            .collect();
        let token = token::plan(host, &built.capabilities, &own);
        let report = report::report(policy, host, &areas, &built);
        let (job, report) = job::plan(policy, report);
        let environment = host.session_tmp.iter().flat_map(|directory| {
            TEMP_VARIABLES.map(|variable| (variable.to_owned(), directory.clone()))
        });
        // Only what must stay: a grant inside a root may be removed like the rest of it.
        let stays = |path: &AbsolutePath| {
            let denies = |ace: &Ace| ace.kind == AceKind::Deny && ace.rights == Rights::DELETE;
            let mut edits = built.edits.iter().filter(|edit| edit.path == *path);
            edits.any(|edit| edit.add.iter().any(denies))
        };
        let hold = built.edits.iter().filter(|edit| {
            let located = areas.places.get(&edit.path).map(|area| &area.located);
            matches!(edit.purpose, Purpose::WritableRoot | Purpose::Private)
                && located.is_some_and(|located| located.entry == Entry::Directory)
                && stays(&edit.path)
        });
        let plan = Plan {
            token,
            hold: hold.map(|edit| edit.path.clone()).collect(),
            acl_edits: built.edits,
            job,
            handles: HandlePlan::StandardOnly,
            desktop: DesktopPlan::Private,
            environment: environment.collect(),
        };
        Ok(Lowered::new(policy, plan, report))
    }
}
