//! A command, wrapped in `sandbox-exec`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use palisade_policy::{
    AcceptedLosses, Backend as _, CanonicalSandboxPolicy, HostFacts, PolicyContext,
    SandboxTransformError, WorkspaceRoot,
};
use palisade_seatbelt::apply::{ApplyError, Launch};
use palisade_seatbelt::{MacHost, Seatbelt, survey};

/// What looks for a program by its name, inside the sandbox and by the command's own search path.
const ENV: &str = "/usr/bin/env";

/// The words that run these on a Mac under a policy. Pure but for a look at the paths that the policy names.
///
/// Whoever spawns them has no session: temporary files go where the policy lets them, and an exit code of 71 or 65 may be
/// that of `sandbox-exec` itself, which then ran nothing. Two things are theirs to see to: that the words are started in a
/// session of their own (`setsid`), or the command can type into the terminal that it is started from, for whoever reads
/// there next, which no rule about devices tells from asking how wide it is; and that no variable is passed that the
/// system's libraries do something for, because `sandbox-exec` itself runs before there is a sandbox.
pub(super) fn words(
    argv: impl IntoIterator<Item = OsString>,
    policy: &CanonicalSandboxPolicy,
    policy_cwd: &WorkspaceRoot,
    facts: &HostFacts,
    accepted: &AcceptedLosses,
    host: MacHost,
) -> Result<Vec<OsString>, SandboxTransformError> {
    if let Some(error) = ApplyError::of_host(host.sandbox_exec) {
        return Err(failed(&error));
    }
    let context = PolicyContext::new(facts.clone(), policy_cwd.clone());
    let (policy, host) = survey::resolve_and_look(policy, context, host)?;
    let (plan, _) = Seatbelt
        .lower(&policy, &host)?
        .admit(accepted)
        .map_err(|refusal| SandboxTransformError::CreationFailed(refusal.to_string()))?;
    let launch = Launch::new(&plan.profile.text(), &plan.profile.parameters)
        .map_err(|error| failed(&error))?;
    let mut argv = argv.into_iter();
    let program = argv.next().unwrap_or_default();
    let rest: Vec<OsString> = argv.collect();
    let words = match Path::new(&program) {
        program if program.is_absolute() => launch.words(program, rest, 0),
        _ if !is_plain(&program) => Err(ApplyError::Relative {
            what: "program",
            path: program.into(),
        }),
        _ => launch.words(Path::new(ENV), std::iter::once(program).chain(rest), 0),
    };
    words.map_err(|error| failed(&error))
}

/// Whether it can be nothing but the name of a program where `env` reads it.
fn is_plain(program: &OsStr) -> bool {
    let bytes = program.as_encoded_bytes();
    !bytes.is_empty() && !bytes.contains(&b'=') && !bytes.starts_with(b"-")
}

fn failed(error: &ApplyError) -> SandboxTransformError {
    match error {
        ApplyError::Missing => SandboxTransformError::MissingSandboxExecutable,
        error => SandboxTransformError::CreationFailed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use palisade_policy::{AbsolutePath, Guarantee, Os};
    use palisade_seatbelt::host::SandboxExec;

    use super::*;

    fn wrap(
        argv: &[&str],
        policy: &CanonicalSandboxPolicy,
        sandbox_exec: SandboxExec,
        accepted: &AcceptedLosses,
    ) -> Result<Vec<OsString>, SandboxTransformError> {
        wrap_in("/srv/app", argv, policy, sandbox_exec, accepted)
    }

    fn wrap_in(
        cwd: &str,
        argv: &[&str],
        policy: &CanonicalSandboxPolicy,
        sandbox_exec: SandboxExec,
        accepted: &AcceptedLosses,
    ) -> Result<Vec<OsString>, SandboxTransformError> {
        let cwd = WorkspaceRoot::new(cwd).unwrap();
        let home = AbsolutePath::new("/Users/dev").unwrap();
        words(
            argv.iter().map(OsString::from),
            policy,
            &cwd,
            &HostFacts::new(Os::Macos).with_home(home),
            accepted,
            MacHost::new(sandbox_exec),
        )
    }

    fn all() -> AcceptedLosses {
        Guarantee::ALL.into_iter().collect()
    }

    #[test]
    fn transform_for_macos_wraps_in_the_absolute_sandbox_exec() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        let policy = CanonicalSandboxPolicy::workspace_write([WorkspaceRoot::new(&root).unwrap()]);
        let argv = ["/usr/bin/make", "--", "-DROOT=/"];
        let root = root.to_str().unwrap();
        let words = wrap_in(root, &argv, &policy, SandboxExec::Works, &all()).unwrap();
        assert_eq!(words[..2], ["/usr/bin/sandbox-exec", "-p"]);
        let profile = words[2].to_str().unwrap();
        assert!(
            profile.starts_with("(version 1)\n(deny default"),
            "{profile}"
        );
        // Paths of the host are beside the text, and before the command.
        assert!(!profile.contains(root));
        let end = words.len() - 4;
        assert_eq!(
            words[end..],
            ["--", "/usr/bin/make", "--", "-DROOT=/"].map(OsString::from)
        );
        let parameters = &words[3..end];
        assert!(
            parameters
                .iter()
                .all(|word| word.to_str().unwrap().starts_with("-D"))
        );
        assert!(
            parameters
                .iter()
                .any(|word| word.to_str().unwrap().ends_with(&format!("={root}")))
        );
    }

    #[test]
    fn transform_for_macos_lets_a_name_be_looked_for_in_the_sandbox_and_takes_no_other_for_one() {
        let policy = CanonicalSandboxPolicy::read_only();
        let wrapped = |program: &str| wrap(&[program, "all"], &policy, SandboxExec::Works, &all());
        let words = wrapped("make").unwrap();
        assert_eq!(
            words[words.len() - 4..],
            ["--", "/usr/bin/env", "make", "all"].map(OsString::from)
        );
        for program in ["", "A=b", "-i", "a\0b"] {
            let refused = wrapped(program);
            assert!(
                matches!(refused, Err(SandboxTransformError::CreationFailed(_))),
                "{program:?} {refused:?}"
            );
        }
    }

    #[test]
    fn transform_for_macos_fails_where_no_profile_can_be_applied_or_a_loss_is_not_accepted() {
        let policy = CanonicalSandboxPolicy::read_only();
        let on = |sandbox_exec| wrap(&["/bin/ls"], &policy, sandbox_exec, &all());
        assert_eq!(
            on(SandboxExec::Missing),
            Err(SandboxTransformError::MissingSandboxExecutable)
        );
        for sandbox_exec in [SandboxExec::Nested, SandboxExec::NotMacos] {
            assert!(matches!(
                on(sandbox_exec),
                Err(SandboxTransformError::CreationFailed(_))
            ));
        }
        let none = AcceptedLosses::none();
        let refused = wrap(&["/bin/ls"], &policy, SandboxExec::Works, &none);
        let Err(SandboxTransformError::CreationFailed(why)) = refused else {
            panic!("{refused:?}")
        };
        assert!(why.contains("--accept-loss tree-kill"), "{why}");
        let open = wrap(
            &["/bin/ls"],
            &CanonicalSandboxPolicy::full_access(),
            SandboxExec::Works,
            &all(),
        );
        assert!(matches!(open, Err(SandboxTransformError::InvalidPolicy(_))));
    }
}
