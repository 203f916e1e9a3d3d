//! Commands and sandboxes as tool handlers see them, and how they convert.

use std::ffi::OsString;
use std::path::PathBuf;

use palisade_policy::{Environment, ExecExpiration, SandboxTransformError as CanonicalError};

/// A sandbox, for display. Nothing is enforced by this value, and it does not convert back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "handlers show what they know; what is new reads as none"
)]
pub enum SandboxType {
    /// None that this view has a name for.
    #[default]
    None,
    /// Seatbelt, on macOS.
    Seatbelt,
    /// Landlock, seccomp and namespaces, on Linux.
    LinuxSandbox,
}

impl From<palisade_policy::SandboxType> for SandboxType {
    /// The restricted token of Windows reads as none: this is for display only.
    fn from(sandbox: palisade_policy::SandboxType) -> Self {
        match sandbox {
            palisade_policy::SandboxType::MacosSeatbelt => Self::Seatbelt,
            palisade_policy::SandboxType::LinuxLandlock => Self::LinuxSandbox,
            palisade_policy::SandboxType::None
            | palisade_policy::SandboxType::WindowsRestrictedToken => Self::None,
        }
    }
}

/// A command that a handler wants to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "handlers write it as a literal, and must fill in every part"
)]
pub struct CommandSpec {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Its environment, complete.
    pub env: Environment,
    /// How long it may run, in milliseconds; `None` is the default of 30 seconds.
    pub timeout_ms: Option<u64>,
}

impl From<CommandSpec> for palisade_policy::CommandSpec {
    fn from(spec: CommandSpec) -> Self {
        Self::new(spec.program)
            .with_args(spec.args)
            .with_cwd(spec.cwd)
            .with_env(spec.env)
            .with_expiration(ExecExpiration::from(spec.timeout_ms))
    }
}

/// A command ready to be started: where it has a sandbox, that is wrapped around it already.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecEnv {
    /// The program that is started.
    pub program: String,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Its environment, complete.
    pub env: Environment,
    /// How long it may run, in milliseconds; `None` is the default of whoever runs it.
    pub timeout_ms: Option<u64>,
    /// The sandbox that is wrapped around it, for display.
    pub sandbox: SandboxType,
}

impl TryFrom<palisade_policy::ExecEnv> for ExecEnv {
    type Error = SandboxTransformError;

    /// A command that never ends by itself gets the default time: handlers have no other way to end one.
    fn try_from(env: palisade_policy::ExecEnv) -> Result<Self, SandboxTransformError> {
        let program = env.program.into_string().map_err(|program| {
            SandboxTransformError::ConfigError(format!("the program {program:?} is not Unicode"))
        })?;
        let timeout_ms = env.expiration.timeout_ms();
        Ok(Self {
            program,
            args: env.args,
            cwd: env.cwd,
            env: env.env,
            timeout_ms: Some(timeout_ms.unwrap_or(ExecExpiration::DEFAULT_TIMEOUT_MS)),
            sandbox: env.sandbox_type.into(),
        })
    }
}

/// A command could not be wrapped for its sandbox. It was not run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxTransformError {
    /// The helper executable was not found.
    #[error("missing sandbox executable")]
    MissingSandboxExecutable,
    /// The sandbox is another system's, or does not work here.
    #[error("sandbox not available on this platform")]
    SandboxUnavailable,
    /// Something about the command or the policy makes no sense.
    #[error("sandbox configuration error: {0}")]
    ConfigError(String),
}

impl From<CanonicalError> for SandboxTransformError {
    fn from(error: CanonicalError) -> Self {
        match error {
            CanonicalError::MissingSandboxExecutable => Self::MissingSandboxExecutable,
            CanonicalError::UnavailableSandboxType(_) => Self::SandboxUnavailable,
            other => Self::ConfigError(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use palisade_policy::{
        LoweringProblem, PolicyError, SandboxPermissions, SandboxType as Canonical,
    };

    use super::*;

    fn canonical(
        program: impl Into<OsString>,
        expiration: ExecExpiration,
    ) -> palisade_policy::ExecEnv {
        palisade_policy::ExecEnv {
            program: program.into(),
            args: vec!["-l".into()],
            cwd: "/srv/app".into(),
            env: Environment::from([("A".into(), "b".into())]),
            expiration,
            sandbox_active: true,
            sandbox_type: Canonical::LinuxLandlock,
        }
    }

    #[test]
    fn the_display_view_has_three_sandboxes_and_windows_collapses_to_none() {
        for (sandbox, view) in [
            (Canonical::None, SandboxType::None),
            (Canonical::MacosSeatbelt, SandboxType::Seatbelt),
            (Canonical::LinuxLandlock, SandboxType::LinuxSandbox),
            (Canonical::WindowsRestrictedToken, SandboxType::None),
        ] {
            assert_eq!(SandboxType::from(sandbox), view);
        }
    }

    #[test]
    fn a_handlers_command_becomes_a_canonical_one_with_every_part() {
        let spec = CommandSpec {
            program: "ls".to_owned(),
            args: vec!["-l".into()],
            cwd: "/srv/app".into(),
            env: Environment::from([("A".into(), "b".into())]),
            timeout_ms: Some(7),
        };
        let command = palisade_policy::CommandSpec::from(spec.clone());
        assert_eq!(command.program, "ls");
        assert_eq!(command.args, ["-l"]);
        assert_eq!(command.cwd, spec.cwd);
        assert_eq!(command.env, spec.env);
        assert_eq!(command.expiration, ExecExpiration::Timeout(7));
        assert_eq!(command.sandbox_permissions, SandboxPermissions::UseDefault);
        let without = CommandSpec {
            timeout_ms: None,
            ..spec
        };
        let command = palisade_policy::CommandSpec::from(without);
        assert_eq!(command.expiration, ExecExpiration::DefaultTimeout);
    }

    #[test]
    fn an_exec_env_carries_everything_and_the_time_in_milliseconds() {
        for (expiration, ms) in [
            (ExecExpiration::Timeout(7), 7),
            (ExecExpiration::DefaultTimeout, 30_000),
            (ExecExpiration::Cancellation, 30_000),
        ] {
            let env = ExecEnv::try_from(canonical("ls", expiration)).unwrap();
            assert_eq!(
                env,
                ExecEnv {
                    program: "ls".to_owned(),
                    args: vec!["-l".into()],
                    cwd: "/srv/app".into(),
                    env: Environment::from([("A".into(), "b".into())]),
                    timeout_ms: Some(ms),
                    sandbox: SandboxType::LinuxSandbox,
                }
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_is_not_unicode_is_a_config_error_and_never_converted() {
        use std::os::unix::ffi::OsStringExt as _;
        let program = OsString::from_vec(b"/srv/app/\xff".to_vec());
        let error = ExecEnv::try_from(canonical(program, ExecExpiration::DefaultTimeout));
        let Err(SandboxTransformError::ConfigError(why)) = error else {
            panic!("{error:?}");
        };
        assert!(why.contains(r"\xFF"), "{why}");
    }

    #[test]
    fn transform_errors_have_their_texts() {
        for (error, text) in [
            (
                SandboxTransformError::MissingSandboxExecutable,
                "missing sandbox executable",
            ),
            (
                SandboxTransformError::SandboxUnavailable,
                "sandbox not available on this platform",
            ),
            (
                SandboxTransformError::ConfigError("x".to_owned()),
                "sandbox configuration error: x",
            ),
        ] {
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn canonical_transform_errors_convert_and_unavailable_drops_its_type() {
        let invalid = PolicyError::at("type", LoweringProblem::NothingToEnforce);
        let text = CanonicalError::InvalidPolicy(invalid.clone()).to_string();
        for (error, view) in [
            (
                CanonicalError::MissingSandboxExecutable,
                SandboxTransformError::MissingSandboxExecutable,
            ),
            (
                CanonicalError::UnavailableSandboxType(Canonical::MacosSeatbelt),
                SandboxTransformError::SandboxUnavailable,
            ),
            (
                CanonicalError::UnavailableSandboxType(Canonical::WindowsRestrictedToken),
                SandboxTransformError::SandboxUnavailable,
            ),
            (
                CanonicalError::CreationFailed("no memory".to_owned()),
                SandboxTransformError::ConfigError(
                    "the sandbox could not be created: no memory".to_owned(),
                ),
            ),
            (
                CanonicalError::InvalidPolicy(invalid),
                SandboxTransformError::ConfigError(text),
            ),
        ] {
            assert_eq!(SandboxTransformError::from(error), view);
        }
    }
}
