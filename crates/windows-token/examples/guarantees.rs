//! Prints the table of `docs/threat-model.md` about Windows: what the report of the default preset says of each
//! guarantee on a host where every protected path exists, and how anybody knows.
#![expect(
    clippy::print_stdout,
    reason = "an example talks to people through its output"
)]

use std::error::Error;

use palisade_policy::{
    AbsolutePath, Backend as _, Guarantee, HostFacts, Level, Measure, NetworkAccess, Os,
    PolicyContext, SandboxMode, SandboxPolicy, WorkspaceRoot,
};
use palisade_windows_token::host::{Entry, Located, Residue, SecondNames};
use palisade_windows_token::{Sid, WindowsHost, WindowsToken, private_places};

fn main() -> Result<(), Box<dyn Error>> {
    let mut host = WindowsHost::new("S-1-5-21-1-2-3-1001".parse()?, "S-1-5-5-0-4242".parse()?);
    host.second_names = SecondNames::None;
    host.residue = Residue::None;
    let cwd = WorkspaceRoot::new("/srv/app")?;
    let facts = HostFacts::new(Os::Windows).with_home(AbsolutePath::new("/home/dev")?);
    let policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, NetworkAccess::Restricted)
        .to_canonical_policy(&cwd)
        .resolve(&PolicyContext::new(facts, cwd.clone()).with_private(private_places(&host)))?;
    host.capabilities
        .insert(cwd.path().clone(), Sid::capability([1, 2, 3, 4]));
    let guards = policy
        .guards()
        .iter()
        .filter_map(|guard| guard.matcher.path());
    for path in guards.chain([cwd.path()]) {
        host.places
            .insert(path.clone(), Located::new(path.clone(), Entry::Directory));
    }
    let lowered = WindowsToken.lower(&policy, &host)?;
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

/// How anybody knows. Nothing here was seen on Windows by us, and Wine does not restrict.
const fn evidence(guarantee: Guarantee) -> &'static str {
    match guarantee {
        Guarantee::WritesOutside => {
            "model: the access check, held against the oracle; published: deletion that the second check does not stop. Not yet: the second check itself, which every session tries before it runs anything. Wine: that a token which does not restrict is refused"
        }
        Guarantee::ProtectedPaths => {
            "model: no sequence of writes, renames and deletions reaches one; published: that entries which deny come first. Not yet: `WRITE_DAC`, inheritance, junctions"
        }
        Guarantee::DeniedReads => "published: what write-restricted tokens check",
        Guarantee::MetadataOutside => "not yet",
        Guarantee::Network | Guarantee::NetworkHosts => "published: no token restricts sockets",
        Guarantee::UnixSockets | Guarantee::ProcessIsolation => "published; nothing is claimed",
        Guarantee::TreeKill => {
            "Wine: grandchildren end with the job, and none breaks away; published. Not yet: limits of a job"
        }
        Guarantee::GitImport => {
            "model: git directories are read-only, so there is nothing to bring back"
        }
        Guarantee::SystemCalls => "nothing is claimed",
    }
}
