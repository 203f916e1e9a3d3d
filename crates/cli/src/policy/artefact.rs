//! What a system would be told to enforce the policy: made by the backends, for any system on any system.

use std::fmt::{self, Write as _};

use clap::ValueEnum;
use palisade::runner::policy::{
    AbsolutePath, AcceptedLosses, Backend as _, Enforcement, Guarantee, HomeRoot, HostFacts,
    Lowered, Os, PathMatcher, PolicyContext, PolicyError, ResolvedPolicy,
};
use palisade_linux_landlock::seccomp::{Arch, Filter, Instruction};
use palisade_linux_landlock::{LinuxHost, LinuxLandlock, host as linux};
use palisade_seatbelt::{MacHost, Seatbelt, host as mac};
use palisade_windows_token::{Sid, WindowsHost, WindowsToken, host as windows};
use serde_json::json;

use crate::complaint::Complaint;
use crate::ground::Ground;

/// A way of confining a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Backend {
    Seatbelt,
    LinuxLandlock,
    WindowsToken,
}

impl Backend {
    const fn name(self) -> &'static str {
        match self {
            Self::Seatbelt => "seatbelt",
            Self::LinuxLandlock => "linux-landlock",
            Self::WindowsToken => "windows-token",
        }
    }

    const fn os(self) -> Os {
        match self {
            Self::Seatbelt => Os::Macos,
            Self::LinuxLandlock => Os::Linux,
            Self::WindowsToken => Os::Windows,
        }
    }
}

/// What a backend makes of a policy. It can be read, not run.
#[derive(Debug)]
pub(super) struct Artefact {
    backend: Backend,
    /// Which machine it is for.
    pub(super) about: String,
    emulated: bool,
    plan: String,
    filter: Option<Filter>,
    enforcement: Enforcement,
    /// Losses that nobody accepted: without those the plan would not be used.
    refusal: Option<String>,
}

/// Lowers the policy in force, for this machine if the backend is its own, else for one that is made up.
pub(super) fn compile(
    ground: &Ground,
    backend: Backend,
    emulated: bool,
    home_root: bool,
) -> Result<Artefact, Complaint> {
    let (policy, root) = ground.canonical()?;
    if !policy.uses_runtime_sandbox() {
        return Err(Complaint::usage(
            "this policy asks for no sandbox, so no system is told anything",
        )
        .help("leave out --mode open, or choose another preset"));
    }
    let emulated = emulated || !can_be_looked_at(backend);
    let facts = match emulated {
        true => made_up_facts(backend.os(), &ground.host.facts),
        false => ground.host.facts.clone(),
    };
    let context = PolicyContext::new(facts, root).with_home_root(match home_root {
        true => HomeRoot::Allow,
        false => HomeRoot::Refuse,
    });
    let about = match (emulated, backend.os()) {
        (false, _) => "for this machine, as it is now".to_owned(),
        (true, os) => format!(
            "for a made-up machine with {}: what it offers works, and every path that the policy names is a directory there",
            system(os)
        ),
    };
    let accepted: AcceptedLosses = Guarantee::ALL.into_iter().collect();
    let parts = match backend {
        Backend::Seatbelt => {
            let (policy, host) = mac_host(&policy, context, emulated).map_err(wrong)?;
            parts(Seatbelt.lower(&policy, &host).map_err(wrong)?)
        }
        Backend::WindowsToken => {
            let (policy, host) = windows_host(&policy, &context).map_err(wrong)?;
            parts(WindowsToken.lower(&policy, &host).map_err(wrong)?)
        }
        Backend::LinuxLandlock => {
            let (policy, host) = linux_host(&policy, context, emulated).map_err(wrong)?;
            let lowered = LinuxLandlock.lower(&policy, &host).map_err(wrong)?;
            // The text of the plan leaves the filter out, and only an admitted plan can be looked into.
            let filter = lowered.clone().admit(&accepted).ok();
            Parts {
                filter: filter.map(|(plan, _)| plan.filter),
                ..parts(lowered)
            }
        }
    };
    Ok(Artefact {
        backend,
        about,
        emulated,
        plan: parts.plan,
        filter: parts.filter,
        enforcement: parts.enforcement,
        refusal: parts.refusal,
    })
}

struct Parts {
    plan: String,
    filter: Option<Filter>,
    enforcement: Enforcement,
    refusal: Option<String>,
}

fn parts<Plan: fmt::Display>(lowered: Lowered<Plan>) -> Parts {
    Parts {
        plan: lowered.preview(),
        filter: None,
        enforcement: lowered.enforcement().clone(),
        refusal: lowered
            .admit(&AcceptedLosses::none())
            .err()
            .map(|refusal| refusal.to_string()),
    }
}

fn wrong(error: PolicyError) -> Complaint {
    Complaint::usage(format!("the policy cannot be expressed there: {error}"))
}

/// Whether this machine is one that the backend is for, and can be asked.
const fn can_be_looked_at(backend: Backend) -> bool {
    match backend {
        Backend::LinuxLandlock => cfg!(target_os = "linux"),
        Backend::Seatbelt => cfg!(target_os = "macos"),
        Backend::WindowsToken => false,
    }
}

const fn system(os: Os) -> &'static str {
    match os {
        Os::Linux => "Linux (Landlock ABI 7, user namespaces)",
        Os::Macos => "macOS",
        _ => "Windows",
    }
}

/// An ordinary user of that system, whose home is where it is here.
fn made_up_facts(os: Os, here: &HostFacts) -> HostFacts {
    let mut facts = HostFacts::new(os);
    if os != Os::Windows {
        facts = facts.with_uid(1000);
    }
    match &here.home {
        Some(home) => facts.with_home(home.clone()),
        None => facts,
    }
}

type Canonical = palisade::runner::policy::CanonicalSandboxPolicy;

fn linux_host(
    policy: &Canonical,
    context: PolicyContext,
    emulated: bool,
) -> Result<(ResolvedPolicy, LinuxHost), PolicyError> {
    #[cfg(target_os = "linux")]
    if !emulated {
        use palisade_linux_landlock::survey::{SurveyOptions, resolve_and_look};
        return resolve_and_look(policy, context, &SurveyOptions::launch());
    }
    let _ = emulated;
    let mut host = LinuxHost::new(
        Arch::X86_64,
        linux::LandlockSupport::Abi(7),
        linux::NamespaceSupport::Works,
    );
    let context = context.with_private(palisade_linux_landlock::private_places(&host));
    let policy = policy.resolve(&context)?;
    for path in named(&policy) {
        let there = linux::Located::new(path.clone(), linux::Entry::Directory);
        host.places.entries.insert(path, there);
    }
    for glob in globs(&policy) {
        let nothing = linux::Expansion::default();
        host.places.globs.insert(glob, nothing);
    }
    Ok((policy, host))
}

fn mac_host(
    policy: &Canonical,
    context: PolicyContext,
    emulated: bool,
) -> Result<(ResolvedPolicy, MacHost), PolicyError> {
    let host = MacHost::new(mac::SandboxExec::Works);
    if !emulated {
        return palisade_seatbelt::survey::resolve_and_look(policy, context, host);
    }
    let mut host = host;
    host.session_tmp = absolute("/private/tmp/palisade-session");
    let context = context.with_private(palisade_seatbelt::private_places(&host));
    let policy = policy.resolve(&context)?;
    for path in palisade_seatbelt::survey::paths(&policy) {
        let there = mac::Located::new(path.clone(), mac::Entry::Directory);
        host.places.insert(path, there);
    }
    Ok((policy, host))
}

fn windows_host(
    policy: &Canonical,
    context: &PolicyContext,
) -> Result<(ResolvedPolicy, WindowsHost), PolicyError> {
    // Made up, and so that nobody takes them for real ones.
    let user = Sid::capability([1, 1, 1, 1]);
    let logon = Sid::capability([2, 2, 2, 2]);
    let mut host = WindowsHost::new(user, logon);
    host.session_tmp = context
        .cwd
        .path()
        .parent()
        .and_then(|above| absolute(above.as_path().join("palisade-session")));
    let context = context
        .clone()
        .with_private(palisade_windows_token::private_places(&host));
    let policy = policy.resolve(&context)?;
    for (number, path) in (1..).zip(named(&policy)) {
        let capability = Sid::capability([7, 7, 7, number]);
        host.capabilities.insert(path.clone(), capability);
        let mut next = Some(path);
        while let Some(path) = next {
            next = path.parent();
            let there = windows::Located::new(path.clone(), windows::Entry::Directory);
            host.places.insert(path, there);
        }
    }
    for glob in globs(&policy) {
        host.matches.insert(glob, windows::Matches::default());
    }
    Ok((policy, host))
}

/// Every path that a policy names.
fn named(policy: &ResolvedPolicy) -> Vec<AbsolutePath> {
    let mut paths: Vec<AbsolutePath> = policy
        .roots()
        .iter()
        .map(|root| root.root.clone())
        .collect();
    paths.extend(policy.private().iter().cloned());
    paths.push(policy.context().cwd.path().clone());
    paths.extend(policy.context().facts.home.clone());
    if let Some((rules, local)) = policy.canonical().rules() {
        let reopened = rules.reopened.iter();
        paths.extend(reopened.map(|reopened| reopened.path.clone()));
        paths.extend(local.unix_paths.iter().cloned());
    }
    paths.extend(matchers(policy).filter_map(|matcher| matcher.path().cloned()));
    paths.sort();
    paths.dedup();
    paths
}

/// Every pattern of a policy, none of which matches anything on a made-up machine.
fn globs(policy: &ResolvedPolicy) -> impl Iterator<Item = String> {
    matchers(policy)
        .filter(|matcher| matcher.is_glob())
        .map(ToString::to_string)
}

fn matchers(policy: &ResolvedPolicy) -> impl Iterator<Item = &PathMatcher> {
    let guards = policy.guards().iter().map(|guard| &guard.matcher);
    guards.chain(policy.read_only())
}

fn absolute(path: impl AsRef<std::path::Path>) -> Option<AbsolutePath> {
    AbsolutePath::new(path).ok()
}

impl Artefact {
    /// The plan, what it enforces, and what would have to be accepted first.
    pub(super) fn text(&self, instructions: bool) -> String {
        let mut text = self.plan.clone();
        if let Some(filter) = &self.filter {
            let _ = write!(text, "\nsystem calls:\n{filter}");
            if instructions {
                text.push_str(&listing(filter.instructions()));
            }
        }
        let _ = write!(text, "\nwhat that enforces:\n{}", self.enforcement);
        if let Some(refusal) = &self.refusal {
            let _ = write!(text, "\nit would not be used as it is: {refusal}\n");
        }
        text
    }

    /// The same for programs.
    pub(super) fn json(&self, instructions: bool) -> serde_json::Value {
        let filter = self.filter.as_ref().filter(|_| instructions);
        let filter = filter.map(|filter| {
            let each = filter.instructions().iter();
            each.map(|one| [u32::from(one.code), one.jt.into(), one.jf.into(), one.k])
                .collect::<Vec<_>>()
        });
        json!({
            "backend": self.backend.name(),
            "emulated": self.emulated,
            "about": self.about,
            "plan": self.plan,
            "system_calls": self.filter.as_ref().map(ToString::to_string),
            "instructions": filter,
            "enforcement": self.enforcement,
            "refusal": self.refusal,
        })
    }
}

/// Classic BPF as the kernel's own tools print it: operation, jumps, operand.
fn listing(instructions: &[Instruction]) -> String {
    let mut text = String::new();
    for (line, one) in instructions.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{line:>5}: {:#06x} {:>3} {:>3} {:#010x}",
            one.code, one.jt, one.jf, one.k
        );
    }
    text
}
