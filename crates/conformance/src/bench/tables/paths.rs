//! Launches with few and with many paths in the policy.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use palisade::runner::policy::{CanonicalSandboxPolicy, PathRules, PathSpec, WorkspaceRoot};
use palisade_linux_landlock::{DirectLauncher, Plan, Session, Tier};

use super::launch::TRUE;
use crate::bench::Bench;
use crate::bench::result::{Row, Shown, Table, Whose};
use crate::bench::rounds::{Contestant, race};
use crate::bench::stage::Stage;
use crate::bench::ways::{Ways, cold, next};

pub(super) const NAME: &str = "paths";

const COUNTS: [usize; 4] = [1, 10, 100, 1000];

/// What a policy says about a path.
#[derive(Clone, Copy)]
enum Kind {
    Writable,
    Denied,
}

pub(super) fn measure(bench: &Bench<'_>) -> Result<Table> {
    let stage = Stage::new()?;
    let ways = Ways::new(&stage, &bench.programs.helper)?;
    let directories = directories(&stage)?;
    let mut rows = Vec::new();
    for kind in [Kind::Writable, Kind::Denied] {
        for count in COUNTS {
            let some = directories.get(..count).unwrap_or_default();
            let case = match kind {
                Kind::Writable => format!("{count} writable roots"),
                Kind::Denied => format!("{count} denied paths"),
            };
            let policy = policy(&stage, kind, some)?;
            let set = Set::new(&ways, &policy);
            let raced = race(set.contestants(), bench.pace(60, 8));
            rows.extend(raced.iter().map(|raced| Row::of(&case, raced, 0)));
        }
    }
    let table = Table {
        name: NAME.to_owned(),
        title: "The number of paths in the policy".to_owned(),
        about: "Directories that exist, besides the workspace: either writable, each with the protected names that \
                every writable root has, or denied, each of which is masked. A session pays once."
            .to_owned(),
        ratio_to: "1 path".to_owned(),
        shown: Shown::Time,
        rows,
        remarks: Vec::new(),
    };
    Ok(table.compare(|base, row| {
        let kind = row.case.split_once(' ').map(|(_, kind)| kind);
        base.subject == row.subject && base.case.strip_prefix("1 ") == kind
    }))
}

fn directories(stage: &Stage) -> Result<Vec<PathBuf>> {
    let above = stage.aside("paths")?;
    let most = COUNTS.into_iter().max().unwrap_or_default();
    let all = (0..most).map(|number| above.join(format!("{number:04}")));
    all.map(|path| {
        fs::create_dir_all(&path)?;
        Ok(path)
    })
    .collect()
}

fn policy(stage: &Stage, kind: Kind, paths: &[PathBuf]) -> Result<CanonicalSandboxPolicy> {
    match kind {
        Kind::Writable => {
            let all = std::iter::once(&stage.workspace).chain(paths);
            let roots: Result<Vec<_>, _> = all.map(WorkspaceRoot::new).collect();
            Ok(CanonicalSandboxPolicy::workspace_write(roots?))
        }
        Kind::Denied => {
            let mut denied = PathRules::default().deny_read;
            for path in paths {
                denied.push(PathSpec::parse(&path.to_string_lossy())?);
            }
            let rules = PathRules::default().with_deny_read(denied);
            Ok(stage.policy()?.with_paths(rules))
        }
    }
}

/// Everything that launches under one policy, or why it does not.
struct Set<'a> {
    ways: &'a Ways<'a>,
    full: Result<(Plan, Session)>,
    landlock: Result<(Plan, DirectLauncher)>,
    policy: &'a CanonicalSandboxPolicy,
}

impl<'a> Set<'a> {
    fn new(ways: &'a Ways<'a>, policy: &'a CanonicalSandboxPolicy) -> Self {
        let plan = |tier| ways.stage.plan_for(policy, tier);
        let full = plan(Tier::Full).and_then(|plan| {
            let session = Session::start(&plan, &ways.helper)?;
            Ok((plan, session))
        });
        let landlock = plan(Tier::Landlock).and_then(|plan| {
            let direct = DirectLauncher::new(&plan)?;
            Ok((plan, direct))
        });
        Self {
            ways,
            full,
            landlock,
            policy,
        }
    }

    fn contestants(&self) -> Vec<Contestant<'_>> {
        let (ways, policy) = (self.ways, self.policy);
        let program = Path::new(TRUE);
        let full = || {
            self.full
                .as_ref()
                .map_err(|error| anyhow::anyhow!("{error:#}"))
        };
        let landlock = || {
            let made = self.landlock.as_ref();
            made.map_err(|error| anyhow::anyhow!("{error:#}"))
        };
        vec![
            timed(
                "library, direct, landlock tier",
                landlock().map(|(_, direct)| {
                    let command = ways.command(program);
                    Box::new(move || {
                        let exit = direct.spawn(&command, &ways.stdio)?.wait()?;
                        anyhow::ensure!(exit.success(), "{}", exit.cause);
                        Ok(())
                    }) as Run<'_>
                }),
            ),
            timed(
                "library, next command of a full session",
                full().map(|(_, session)| {
                    let command = ways.command(program);
                    Box::new(move || next(session, &command, &ways.stdio)) as Run<'_>
                }),
            ),
            timed(
                "library, cold, landlock tier",
                landlock().map(|(plan, _)| self.cold(plan, program)),
            ),
            timed(
                "library, cold, full tier",
                full().map(|(plan, _)| self.cold(plan, program)),
            ),
            timed(
                "survey and lowering alone, full tier",
                full().map(|_| {
                    let plan = move || ways.stage.plan_for(policy, Tier::Full).map(drop);
                    Box::new(plan) as Run<'_>
                }),
            ),
        ]
    }

    fn cold<'s>(&'s self, plan: &'s Plan, program: &Path) -> Run<'s> {
        let (ways, command) = (self.ways, self.ways.command(program));
        Box::new(move || cold(plan, &ways.helper, &command, &ways.stdio))
    }
}

type Run<'a> = Box<dyn FnMut() -> Result<()> + 'a>;

fn timed<'a>(name: &str, run: Result<Run<'a>>) -> Contestant<'a> {
    let made = run.map(|run| Contestant::timed(name, Whose::Ours, run));
    Contestant::of(name, Whose::Ours, made)
}
