//! Our subjects: the library, the helper on its own, the command.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use palisade::runner::policy::{
    CanonicalSandboxPolicy, PathRules, RelativePath, ResourceLimits, WorkspaceRoot,
};
use palisade_probes::{Mode, Tier};

use super::{Kind, Limits, Place, Prefix, Programs, Subject, says_version};

pub(super) const ALL: &[Subject] = &[
    Subject {
        name: "library",
        kind: Kind::Ours,
        program: |programs| programs.conformance.clone(),
        version: |_| None,
        prefix: library,
    },
    Subject {
        name: "helper",
        kind: Kind::Ours,
        program: |programs| programs.helper.clone(),
        version: |_| None,
        prefix: helper,
    },
    Subject {
        name: "command",
        kind: Kind::Ours,
        program: |programs| programs.palisade.clone(),
        version: says_version,
        prefix: command,
    },
];

/// The policy that the library and the helper enforce.
///
/// # Errors
/// A path is not one that a policy can name.
pub fn policy(place: &Place<'_>) -> io::Result<CanonicalSandboxPolicy> {
    let mut roots = Vec::new();
    for root in place.writable() {
        roots.push(WorkspaceRoot::new(root).map_err(io::Error::other)?);
    }
    let policy = match place.mode {
        Mode::ReadOnly => CanonicalSandboxPolicy::read_only(),
        Mode::Write | Mode::Both => CanonicalSandboxPolicy::workspace_write(roots),
    };
    let mut protected = Vec::new();
    for name in PathRules::DEFAULT_PROTECTED {
        protected.push(RelativePath::new(name).map_err(io::Error::other)?);
    }
    for name in place.protected_names() {
        protected.push(RelativePath::new(name).map_err(io::Error::other)?);
    }
    let limits = match place.limits {
        None => ResourceLimits::unlimited(),
        Some(limits) => ResourceLimits::unlimited()
            .with_pids(limits.pids)
            .with_memory_mb(limits.memory_mb)
            .with_disk_mb(limits.disk_mb)
            .with_cpu_secs(limits.cpu_secs),
    };
    Ok(policy
        .with_limits_override(Some(limits))
        .with_paths(PathRules::default().with_protected(protected)))
}

/// The library as a program: `palisade-conformance launch`.
fn library(programs: &Programs, place: &Place<'_>) -> io::Result<Prefix> {
    let tier = match place.tier {
        Tier::Full => "full",
        Tier::Landlock => "landlock",
    };
    Ok(Prefix::default()
        .words([&programs.conformance])
        .words(["launch", "--tier", tier])
        .words(["--policy".into(), json(&policy(place)?)?])
        .each("--workspace", [place.workspace])
        .each("--home", [place.home])
        .each("--helper", [&programs.helper])
        .each("--accept-loss", place.losses)
        .words(["--"]))
}

/// The helper as a wrapper. It hands its environment on, so whoever starts it decides what is in there.
fn helper(programs: &Programs, place: &Place<'_>) -> io::Result<Prefix> {
    let wrapper = Prefix::default()
        .words([&programs.conformance])
        .words(["core-environment", "--"])
        .words([&programs.helper])
        .each("--sandbox-policy-cwd", [place.workspace])
        .words(["--sandbox-policy".into(), json(&policy(place)?)?])
        .each("--host-home", [place.home])
        .words(["--host-tmpdir", ""])
        .each("--accept-loss", place.losses)
        .words(["--"]);
    Ok(on_its_host(wrapper, programs, place))
}

fn command(programs: &Programs, place: &Place<'_>) -> io::Result<Prefix> {
    let file = place.scratch.join("policy.toml");
    fs::write(&file, policy_file(place)?)?;
    let state = |name: &str| place.scratch.join(name);
    let mut prefix = Prefix::default()
        // What the command keeps for itself is not to be taken for something that a probe did.
        .variable("XDG_STATE_HOME", state("state"))
        .variable("XDG_CONFIG_HOME", state("config"))
        .words([&programs.palisade])
        .words(["--quiet", "run", "--approval", "never"])
        .each("--workspace", [place.workspace])
        .each("--policy", [file]);
    if place.mode == Mode::ReadOnly {
        prefix = prefix.words(["--read-only"]);
    } else {
        prefix = prefix.each("-w", place.roots);
    }
    let prefix = prefix.each("--accept-loss", place.losses).words(["--"]);
    Ok(on_its_host(prefix, programs, place))
}

/// A host without namespaces is made, not claimed.
fn on_its_host(prefix: Prefix, programs: &Programs, place: &Place<'_>) -> Prefix {
    match place.tier {
        Tier::Full => prefix,
        Tier::Landlock => prefix.after(Prefix::default().words([&programs.conformance]).words([
            "weaker",
            "--no-user-namespaces",
            "--",
        ])),
    }
}

fn json(policy: &CanonicalSandboxPolicy) -> io::Result<String> {
    serde_json::to_string(policy).map_err(io::Error::other)
}

/// What has no flag.
fn policy_file(place: &Place<'_>) -> io::Result<String> {
    // A name that is listed twice is refused.
    let names: BTreeSet<&Path> = PathRules::DEFAULT_PROTECTED
        .iter()
        .map(Path::new)
        .chain(place.protected_names())
        // Guarded in any case.
        .filter(|name| *name != ".git")
        .collect();
    let names = serde_json::to_string(&names).map_err(io::Error::other)?;
    let preset = match place.mode {
        Mode::ReadOnly => "read-only",
        Mode::Write | Mode::Both => "workspace",
    };
    let limits = place.limits.map_or_else(String::new, |limits| {
        let Limits {
            pids,
            memory_mb,
            cpu_secs,
            disk_mb,
        } = limits;
        format!(
            "[limits]\nprocs = {pids}\nmemory = \"{memory_mb}MiB\"\ncpu = \"{cpu_secs}s\"\ndisk = \"{disk_mb}MiB\"\n"
        )
    });
    Ok(format!(
        "version = 1\npreset = \"{preset}\"\n[filesystem]\nprotected = {names}\n{limits}"
    ))
}
