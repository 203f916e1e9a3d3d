//! A command, wrapped for its sandbox so that any program can spawn it.

use std::ffi::OsString;
use std::path::Path;

use palisade_exec_policy::SandboxablePreference;
use palisade_policy::{
    CanonicalSandboxPolicy, CommandSpec, ExecEnv, Guarantee, LoweringProblem, PolicyError,
    SandboxTransformError, SandboxType, WorkspaceRoot,
};

use super::manager::{SandboxManager, platform_sandbox};
use crate::config::Own;

impl SandboxManager {
    /// A command ready to be spawned in this sandbox; with [`SandboxType::None`] it is the command itself.
    ///
    /// On Linux and Windows the helper is wrapped around it, on macOS `/usr/bin/sandbox-exec`. None of them keeps a clock:
    /// whoever spawns it keeps `expiration`. On macOS an exit code of 71 or 65 may be the wrapper's own, which then ran
    /// nothing; a session can tell, whoever spawns by other means cannot. The policy means
    /// the homes and the temporary directory of this host, whatever the command's own environment says. What the command
    /// asks for beyond the policy is not looked at here.
    ///
    /// # Errors
    /// There is no helper, the sandbox is another system's or does not work here, or the policy has nothing to enforce.
    pub fn transform(
        &self,
        spec: CommandSpec,
        policy: &CanonicalSandboxPolicy,
        sandbox: SandboxType,
        policy_cwd: &WorkspaceRoot,
        helper: Option<&Path>,
    ) -> Result<ExecEnv, SandboxTransformError> {
        let CommandSpec {
            program,
            args,
            cwd,
            env,
            expiration,
            ..
        } = spec;
        let argv = std::iter::once(program).chain(args);
        let mut argv = match sandbox {
            SandboxType::None => argv.collect(),
            _ => self.wrapped(argv, policy, sandbox, policy_cwd, helper)?,
        }
        .into_iter();
        Ok(ExecEnv {
            program: argv.next().unwrap_or_default(),
            args: argv.collect(),
            cwd,
            env,
            expiration,
            sandbox_active: sandbox != SandboxType::None,
            sandbox_type: sandbox,
        })
    }

    /// The words to spawn in place of these, for those who own the spawning. Where the policy uses no sandbox they stay as
    /// they are.
    ///
    /// # Errors
    /// As for [`transform`](Self::transform); or there is no word at all.
    pub fn wrap<A: Into<OsString>>(
        &self,
        argv: impl IntoIterator<Item = A>,
        policy: &CanonicalSandboxPolicy,
        policy_cwd: &WorkspaceRoot,
        helper: Option<&Path>,
    ) -> Result<Vec<OsString>, SandboxTransformError> {
        let argv: Vec<OsString> = argv.into_iter().map(Into::into).collect();
        if argv.is_empty() {
            return Err(failed("there is no command to wrap"));
        }
        match self.select_initial_for_canonical(policy, SandboxablePreference::Auto)? {
            SandboxType::None => Ok(argv),
            sandbox => self.wrapped(argv, policy, sandbox, policy_cwd, helper),
        }
    }

    fn wrapped(
        &self,
        argv: impl IntoIterator<Item = OsString>,
        policy: &CanonicalSandboxPolicy,
        sandbox: SandboxType,
        policy_cwd: &WorkspaceRoot,
        helper: Option<&Path>,
    ) -> Result<Vec<OsString>, SandboxTransformError> {
        if platform_sandbox() != Ok(sandbox) {
            return Err(SandboxTransformError::UnavailableSandboxType(sandbox));
        }
        self.working()?;
        if !policy.uses_runtime_sandbox() {
            let nothing = PolicyError::at("type", LoweringProblem::NothingToEnforce);
            return Err(nothing.into());
        }
        let policy = &Own::of(&self.host).guarded(policy, policy_cwd);
        match sandbox {
            SandboxType::LinuxLandlock | SandboxType::WindowsRestrictedToken => {
                self.by_helper(argv, policy, policy_cwd, helper)
            }
            #[cfg(all(target_os = "macos", feature = "seatbelt"))]
            SandboxType::MacosSeatbelt => super::seatbelt::words(
                argv,
                &self.host.guard_other_home(policy.clone()),
                policy_cwd,
                &self.host.facts,
                &self.accepted,
                palisade_seatbelt::MacHost::new(palisade_seatbelt::apply::look()),
            ),
            _ => Err(SandboxTransformError::UnavailableSandboxType(sandbox)),
        }
    }

    fn by_helper(
        &self,
        argv: impl IntoIterator<Item = OsString>,
        policy: &CanonicalSandboxPolicy,
        policy_cwd: &WorkspaceRoot,
        helper: Option<&Path>,
    ) -> Result<Vec<OsString>, SandboxTransformError> {
        let helper = helper.ok_or(SandboxTransformError::MissingSandboxExecutable)?;
        // A relative one would be looked for below the directory of the command, which the command may write.
        if !helper.is_absolute() {
            return Err(failed("the path of the sandbox helper is not absolute"));
        }
        if !helper.is_file() {
            return Err(SandboxTransformError::MissingSandboxExecutable);
        }
        let policy = self.host.guard_other_home(policy.clone());
        let policy = serde_json::to_string(&policy).map_err(|error| failed(&error.to_string()))?;
        // The wrapper's environment is the command's, which must not say what is guarded or where it may write.
        let told = |path: &Option<palisade_policy::AbsolutePath>| {
            path.as_ref()
                .map_or_else(OsString::new, |path| path.as_path().into())
        };
        let mut words: Vec<OsString> = vec![
            helper.into(),
            "--sandbox-policy-cwd".into(),
            policy_cwd.path().as_path().into(),
            "--sandbox-policy".into(),
            policy.into(),
            "--host-home".into(),
            told(&self.host.facts.home),
            "--host-tmpdir".into(),
            told(&self.host.facts.tmpdir),
        ];
        for guarantee in Guarantee::ALL {
            if self.accepted.contains(guarantee) {
                words.extend(["--accept-loss".into(), guarantee.name().into()]);
            }
        }
        words.push("--".into());
        words.extend(argv);
        Ok(words)
    }
}

fn failed(why: &str) -> SandboxTransformError {
    SandboxTransformError::CreationFailed(why.to_owned())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use palisade_policy::{AbsolutePath, Availability, Environment, ExecExpiration, HostFacts, Os};

    use super::*;

    const EVERY: [SandboxType; 4] = [
        SandboxType::None,
        SandboxType::MacosSeatbelt,
        SandboxType::LinuxLandlock,
        SandboxType::WindowsRestrictedToken,
    ];

    fn manager(availability: Availability) -> SandboxManager {
        let home = AbsolutePath::new("/home/dev").unwrap();
        SandboxManager::told(HostFacts::new(Os::Linux).with_home(home), availability)
    }

    fn missing() -> Availability {
        Availability::Missing {
            why: "for a test".to_owned(),
            cure: None,
        }
    }

    fn cwd() -> WorkspaceRoot {
        WorkspaceRoot::new("/srv/app").unwrap()
    }

    fn spec() -> CommandSpec {
        CommandSpec::new("make")
            .with_args(["--", "all"])
            .with_cwd("/srv/app/sub")
            .with_env(Environment::from([("HOME".into(), "/tmp/fake".into())]))
            .with_expiration(ExecExpiration::Timeout(7))
    }

    /// A file that is there; it is not run here.
    fn helper() -> tempfile::NamedTempFile {
        tempfile::NamedTempFile::new().unwrap()
    }

    #[test]
    fn transform_with_none_leaves_the_command_as_it_is_also_where_no_sandbox_works() {
        for availability in [Availability::Works, missing()] {
            let env = manager(availability)
                .transform(
                    spec(),
                    &CanonicalSandboxPolicy::full_access(),
                    SandboxType::None,
                    &cwd(),
                    None,
                )
                .unwrap();
            assert_eq!(
                env,
                ExecEnv {
                    program: "make".into(),
                    args: vec!["--".into(), "all".into()],
                    cwd: "/srv/app/sub".into(),
                    env: spec().env,
                    expiration: ExecExpiration::Timeout(7),
                    sandbox_active: false,
                    sandbox_type: SandboxType::None,
                }
            );
        }
    }

    #[test]
    fn transform_for_linux_wraps_words_that_the_helper_reads_back() {
        let helper = helper();
        let policy = CanonicalSandboxPolicy::workspace_write([cwd()]);
        let accepted = [Guarantee::TreeKill].into_iter().collect();
        let env = manager(Availability::Works)
            .accepting(accepted)
            .transform(
                spec(),
                &policy,
                SandboxType::LinuxLandlock,
                &cwd(),
                Some(helper.path()),
            )
            .unwrap();
        assert_eq!(env.program, helper.path());
        assert!(env.sandbox_active);
        assert_eq!(env.sandbox_type, SandboxType::LinuxLandlock);
        assert_eq!(env.cwd, Path::new("/srv/app/sub"));
        assert_eq!(env.env, spec().env);
        assert_eq!(env.expiration, ExecExpiration::Timeout(7));
        #[cfg(feature = "linux-landlock")]
        {
            let wrapped = palisade_linux_landlock::wrapper::Wrapped::parse(env.args).unwrap();
            assert_eq!(wrapped.argv, ["make", "--", "all"]);
            assert_eq!(wrapped.policy, policy);
            assert_eq!(wrapped.policy_cwd, Path::new("/srv/app"));
            assert_eq!(wrapped.host_home.as_deref(), Some(Path::new("/home/dev")));
            assert_eq!(wrapped.host_tmpdir.as_deref(), Some(Path::new("")));
            assert!(wrapped.accepted.contains(Guarantee::TreeKill));
            assert!(!wrapped.accepted.contains(Guarantee::Network));
        }
    }

    #[test]
    fn transform_for_linux_without_a_helper_is_missing_sandbox_executable() {
        for helper in [None, Some(Path::new("/srv/none/such"))] {
            let error = manager(Availability::Works).transform(
                spec(),
                &CanonicalSandboxPolicy::read_only(),
                SandboxType::LinuxLandlock,
                &cwd(),
                helper,
            );
            assert_eq!(
                error,
                Err(SandboxTransformError::MissingSandboxExecutable),
                "{helper:?}"
            );
        }
        let relative = manager(Availability::Works).transform(
            spec(),
            &CanonicalSandboxPolicy::read_only(),
            SandboxType::LinuxLandlock,
            &cwd(),
            Some(Path::new("helper")),
        );
        assert!(matches!(
            relative,
            Err(SandboxTransformError::CreationFailed(_))
        ));
    }

    #[test]
    fn transform_never_hands_out_an_unwrapped_command_for_a_sandbox() {
        let helper = helper();
        let policies = [
            CanonicalSandboxPolicy::read_only(),
            CanonicalSandboxPolicy::workspace_write([cwd()]),
            CanonicalSandboxPolicy::full_access(),
            CanonicalSandboxPolicy::external("a container"),
        ];
        for availability in [Availability::Works, missing()] {
            let manager = manager(availability.clone());
            for policy in &policies {
                for sandbox in EVERY {
                    let result =
                        manager.transform(spec(), policy, sandbox, &cwd(), Some(helper.path()));
                    let works = availability == Availability::Works;
                    match sandbox {
                        SandboxType::None => assert_eq!(result.unwrap().program, "make"),
                        SandboxType::LinuxLandlock if works && policy.uses_runtime_sandbox() => {
                            assert_eq!(result.unwrap().program, helper.path());
                        }
                        SandboxType::LinuxLandlock if works => assert!(
                            matches!(result, Err(SandboxTransformError::InvalidPolicy(_))),
                            "nothing to enforce is no sandbox"
                        ),
                        other => assert_eq!(
                            result,
                            Err(SandboxTransformError::UnavailableSandboxType(other))
                        ),
                    }
                }
            }
        }
    }

    #[test]
    fn wrap_is_for_those_who_own_the_spawning() {
        let helper = helper();
        let manager = manager(Availability::Works);
        let none = Vec::<OsString>::new();
        let policy = CanonicalSandboxPolicy::read_only();
        let wrapped = manager
            .wrap(["make"], &policy, &cwd(), Some(helper.path()))
            .unwrap();
        assert_eq!(wrapped[0], helper.path());
        assert_eq!(wrapped[wrapped.len() - 2..], ["--", "make"]);
        let open = CanonicalSandboxPolicy::full_access();
        assert_eq!(
            manager.wrap(["make"], &open, &cwd(), None).unwrap(),
            ["make"]
        );
        assert!(manager.wrap(none, &open, &cwd(), None).is_err());
        assert_eq!(
            manager.wrap(["make"], &policy, &cwd(), None),
            Err(SandboxTransformError::MissingSandboxExecutable)
        );
    }
}
