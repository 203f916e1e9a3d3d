//! What each step of a cold launch in the full tier costs: one thing after another is left out of the plan.

use std::path::Path;

use anyhow::Result;
use palisade::runner::policy::SeccompProfile;
use palisade_linux_landlock::Tier;
use palisade_linux_landlock::plan::{Mount, NetworkNamespace, Plan};
use palisade_linux_landlock::seccomp::{Arch, Sockets, compile};

use super::launch::TRUE;
use crate::bench::Bench;
use crate::bench::bare;
use crate::bench::result::{Row, Shown, Table, Whose};
use crate::bench::rounds::{Contestant, race};
use crate::bench::stage::Stage;
use crate::bench::ways::{Ways, cold};

pub(super) const NAME: &str = "steps";

/// Takes one thing out of a plan.
type Without = fn(&mut Plan) -> Result<()>;

const STEPS: [(&str, Without); 8] = [
    ("cold, full tier", |_| Ok(())),
    ("... without placeholders and their janitor", |plan| {
        let missing = std::mem::take(&mut plan.placeholders);
        plan.mounts
            .retain(|mount| !matches!(mount, Mount::Protect { path } if missing.contains(path)));
        Ok(())
    }),
    ("... without masks", |plan| {
        plan.mounts
            .retain(|mount| !matches!(mount, Mount::Mask { .. }));
        Ok(())
    }),
    ("... without private directories", |plan| {
        plan.mounts.retain(|mount| {
            !matches!(
                mount,
                Mount::Tmpfs { .. } | Mount::Overlay { .. } | Mount::Link { .. }
            )
        });
        Ok(())
    }),
    ("... without a private /dev", |plan| {
        plan.mounts
            .retain(|mount| !matches!(mount, Mount::Devices { .. }));
        Ok(())
    }),
    ("... without a network of its own", |plan| {
        plan.network = NetworkNamespace::Host;
        Ok(())
    }),
    ("... with a filter of 4 calls", |plan| {
        let arch = if cfg!(target_arch = "x86_64") {
            Arch::X86_64
        } else {
            Arch::Aarch64
        };
        plan.filter = compile(&SeccompProfile::permissive(), Sockets::HostNetwork, arch)?;
        Ok(())
    }),
    ("... without Landlock", |plan| {
        plan.landlock = None;
        Ok(())
    }),
];

pub(super) fn measure(bench: &Bench<'_>) -> Result<Table> {
    let stage = Stage::new()?;
    let ways = Ways::new(&stage, &bench.programs.helper)?;
    let program = Path::new(TRUE);
    let bare = Contestant::timed("bare posix_spawn", Whose::Bare, || bare::spawn(program));
    let mut contestants = vec![bare];
    let (ways, mut plan) = (&ways, ways.plan(Tier::Full)?.clone());
    for (name, leave_out) in STEPS {
        leave_out(&mut plan)?;
        let (plan, command) = (plan.clone(), ways.command(program));
        contestants.push(Contestant::timed(name, Whose::Ours, move || {
            cold(&plan, &ways.helper, &command, &ways.stdio)
        }));
    }
    let raced = race(contestants, bench.pace(200, 30));
    Ok(Table {
        name: NAME.to_owned(),
        title: "What each step of the full tier costs".to_owned(),
        about: "A row lacks what the rows above it lack, so the difference between two neighbours is the step. \
                Placeholders for missing protected names cost more the more often a workspace is used within a few \
                seconds, because ext4 avoids inodes that were deleted just now; a session pays for them once."
            .to_owned(),
        ratio_to: "bare".to_owned(),
        shown: Shown::Time,
        rows: raced.iter().map(|raced| Row::of(TRUE, raced, 0)).collect(),
        remarks: Vec::new(),
    }
    .compare_with_bare())
}
