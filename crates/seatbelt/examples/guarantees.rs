//! Prints the table of `docs/threat-model.md` about macOS: what the report of the default preset says of each guarantee,
//! and how anybody knows.
#![expect(
    clippy::print_stdout,
    reason = "an example talks to people through its output"
)]

use std::error::Error;

use palisade_policy::{
    AbsolutePath, Backend as _, Guarantee, HostFacts, Level, Measure, NetworkAccess, Os,
    PolicyContext, SandboxMode, SandboxPolicy, WorkspaceRoot,
};
use palisade_seatbelt::host::{Entry, Located, SandboxExec};
use palisade_seatbelt::{MacHost, Seatbelt, private_places, survey};

fn main() -> Result<(), Box<dyn Error>> {
    let cwd = WorkspaceRoot::new("/Users/dev/app")?;
    let facts = HostFacts::new(Os::Macos).with_home(AbsolutePath::new("/Users/dev")?);
    let host = MacHost::new(SandboxExec::Works)
        .with_session_tmp(AbsolutePath::new("/private/tmp/palisade-1")?);
    let policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, NetworkAccess::Restricted)
        .to_canonical_policy(&cwd)
        .resolve(&PolicyContext::new(facts, cwd).with_private(private_places(&host)))?;
    let host = survey::paths(&policy).into_iter().fold(host, |host, path| {
        let located = Located::new(path.clone(), Entry::Directory);
        host.with_place(path, located)
    });
    let lowered = Seatbelt.lower(&policy, &host)?;
    let report = lowered.enforcement();

    println!("| guarantee | | by, or why not | verified by |");
    println!("|---|---|---|---|");
    for guarantee in Guarantee::ALL {
        let measure = report
            .measure(guarantee)
            .ok_or("a guarantee without a word")?;
        println!(
            "| `{guarantee}` | {} | {} | {} |",
            level(measure),
            words(measure),
            evidence(guarantee)
        );
    }
    Ok(())
}

fn level(measure: &Measure) -> &'static str {
    match measure.level {
        Level::Enforced => "enforced",
        Level::DetectedOnly => "detected only",
        Level::NotEnforced => "**not enforced**",
    }
}

fn words(measure: &Measure) -> String {
    match (&measure.why, measure.mechanism.as_str()) {
        (None, mechanism) => mechanism.to_owned(),
        (Some(why), "none") => why.clone(),
        (Some(why), mechanism) => format!("{mechanism}; {why}"),
    }
}

/// How anybody knows. Nothing here was seen on a Mac by us.
const fn evidence(guarantee: Guarantee) -> &'static str {
    match guarantee {
        Guarantee::WritesOutside => {
            "model: equal to the oracle under both precedences; published: that such denies refuse"
        }
        Guarantee::ProtectedPaths => {
            "model: as above, and no sequence of renames, links and directories reaches a write; published: that a rename is an unlink and a create. Not yet: links between volumes"
        }
        Guarantee::DeniedReads | Guarantee::MetadataOutside => {
            "model: equal to the oracle under both precedences; published: which operations there are"
        }
        Guarantee::Network => {
            "model: equal to the oracle; published: that hosts are `*` or `localhost`. Not yet: listening"
        }
        Guarantee::NetworkHosts => {
            "with a list of hosts and a proxy: model. Without a list, as `network`"
        }
        Guarantee::UnixSockets => "model; published: that sockets are matched by path. Not yet",
        Guarantee::ProcessIsolation => "published: what `(target same-sandbox)` means. Not yet",
        Guarantee::TreeKill => {
            "tests of the choice of processes, on made-up lists. Not yet: the lists of a Mac"
        }
        Guarantee::GitImport => {
            "model: git directories are read-only, so there is nothing to bring back"
        }
        Guarantee::SystemCalls => "published: which operations stand for which calls. Not yet",
    }
}
