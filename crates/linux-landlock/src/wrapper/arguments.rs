//! Reads the command line of the wrapper. Strictly: what is not understood is refused.

use std::ffi::OsString;
use std::path::PathBuf;

use palisade_policy::{
    AcceptedLosses, CanonicalSandboxPolicy, Guarantee, ResourceLimits, SeccompProfile,
};

/// A command with the policy that it is to run under.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Wrapped {
    /// The directory that the policy is for. The command runs in the wrapper's own working directory.
    pub policy_cwd: PathBuf,
    /// The policy.
    pub policy: CanonicalSandboxPolicy,
    /// System calls that are denied besides those of the policy; this can only take away.
    pub narrower: Option<SeccompProfile>,
    /// Losses that were accepted.
    pub accepted: AcceptedLosses,
    /// A descriptor on which failures and the outcome are reported, one JSON object a line.
    pub status_fd: Option<i32>,
    /// The home directory whose secrets are guarded; empty if there is none. Not given: what the environment says, which
    /// is the command's own.
    pub host_home: Option<PathBuf>,
    /// The directory that a policy means by `$TMPDIR`; empty if there is none. Not given: what the environment says.
    pub host_tmpdir: Option<PathBuf>,
    /// The command.
    pub argv: Vec<OsString>,
}

/// A command line that is not understood.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// An option that does not exist.
    #[error("`{}` is not an option of the sandbox helper", .0.to_string_lossy().escape_debug())]
    Unknown(OsString),
    /// An option without its value.
    #[error("{0} needs a value")]
    NoValue(&'static str),
    /// An option that was given twice.
    #[error("{0} was given twice")]
    Twice(&'static str),
    /// An option that must be given.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// A value that is not what it should be.
    #[error("{option}: {why}")]
    Bad {
        /// Of which option.
        option: &'static str,
        /// Why.
        why: String,
    },
}

const POLICY_CWD: &str = "--sandbox-policy-cwd";
const POLICY: &str = "--sandbox-policy";
const PROFILE: &str = "--seccomp-profile";
const LIMITS: &str = "--resource-limits";
const ACCEPT: &str = "--accept-loss";
const STATUS: &str = "--status-fd";
const HOST_HOME: &str = "--host-home";
const HOST_TMPDIR: &str = "--host-tmpdir";
const OPTIONS: [&str; 8] = [
    POLICY_CWD,
    POLICY,
    PROFILE,
    LIMITS,
    ACCEPT,
    STATUS,
    HOST_HOME,
    HOST_TMPDIR,
];

/// Whether this is an option of the wrapper.
pub(super) fn is_option(argument: &OsString) -> bool {
    OPTIONS.iter().any(|option| argument == *option)
}

impl Wrapped {
    /// Reads arguments, the program's own name not among them.
    ///
    /// # Errors
    /// Says which option is unknown, missing, repeated or malformed.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, ArgumentError> {
        let mut arguments = arguments.into_iter();
        let mut values: Vec<(&'static str, OsString)> = Vec::new();
        loop {
            let Some(argument) = arguments.next() else {
                return Err(ArgumentError::Missing("-- COMMAND"));
            };
            if argument == "--" {
                break;
            }
            let Some(option) = OPTIONS.into_iter().find(|option| argument == **option) else {
                return Err(ArgumentError::Unknown(argument));
            };
            if option != ACCEPT && values.iter().any(|(known, _)| *known == option) {
                return Err(ArgumentError::Twice(option));
            }
            values.push((
                option,
                arguments.next().ok_or(ArgumentError::NoValue(option))?,
            ));
        }
        let argv: Vec<OsString> = arguments.collect();
        if argv.is_empty() {
            return Err(ArgumentError::Missing("-- COMMAND"));
        }
        let value = |option: &'static str| {
            values
                .iter()
                .find(|(known, _)| *known == option)
                .map(|(_, value)| value)
        };
        let policy: CanonicalSandboxPolicy =
            json(POLICY, value(POLICY).ok_or(ArgumentError::Missing(POLICY))?)?;
        let policy = match value(LIMITS) {
            None => policy,
            Some(text) => policy.with_limits_override(Some(json::<ResourceLimits>(LIMITS, text)?)),
        };
        let accepted = values
            .iter()
            .filter(|(option, _)| *option == ACCEPT)
            .map(|(_, name)| {
                text(ACCEPT, name)?
                    .parse::<Guarantee>()
                    .map_err(|error| bad(ACCEPT, error))
            })
            .collect::<Result<_, _>>()?;
        let status_fd = value(STATUS)
            .map(|number| {
                text(STATUS, number)?
                    .parse::<i32>()
                    .map_err(|error| bad(STATUS, error))
            })
            .transpose()?;
        if status_fd.is_some_and(|fd| fd < 3) {
            return Err(bad(STATUS, "descriptors 0 to 2 are the command's"));
        }
        let directory = |option: &'static str| {
            let path = value(option).map(PathBuf::from);
            match path {
                Some(path) if path.is_relative() && !path.as_os_str().is_empty() => {
                    Err(bad(option, "not absolute"))
                }
                path => Ok(path),
            }
        };
        Ok(Self {
            host_home: directory(HOST_HOME)?,
            host_tmpdir: directory(HOST_TMPDIR)?,
            policy_cwd: value(POLICY_CWD)
                .map(PathBuf::from)
                .ok_or(ArgumentError::Missing(POLICY_CWD))?,
            policy,
            narrower: value(PROFILE).map(|text| json(PROFILE, text)).transpose()?,
            accepted,
            status_fd,
            argv,
        })
    }
}

fn bad(option: &'static str, why: impl ToString) -> ArgumentError {
    ArgumentError::Bad {
        option,
        // It may repeat what stood in the value: a line break or a code of a terminal is not for whoever reads this.
        why: why.to_string().replace(char::is_control, "\u{fffd}"),
    }
}

fn text<'a>(option: &'static str, value: &'a OsString) -> Result<&'a str, ArgumentError> {
    value.to_str().ok_or_else(|| bad(option, "not Unicode"))
}

fn json<T: serde::de::DeserializeOwned>(
    option: &'static str,
    value: &OsString,
) -> Result<T, ArgumentError> {
    serde_json::from_str(text(option, value)?).map_err(|error| bad(option, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Wrapped, String> {
        Wrapped::parse(arguments.iter().map(OsString::from)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_whole_command_line() {
        let wrapped = parse(&[
            "--sandbox-policy-cwd",
            "/srv/app",
            "--sandbox-policy",
            r#"{"type":"workspace_write"}"#,
            "--resource-limits",
            r#"{"max_pids":7}"#,
            "--accept-loss",
            "metadata-outside",
            "--accept-loss",
            "tree-kill",
            "--host-home",
            "/home/dev",
            "--host-tmpdir",
            "",
            "--",
            "sh",
            "-c",
            "--",
            "x",
        ])
        .unwrap();
        assert_eq!(wrapped.argv, ["sh", "-c", "--", "x"]);
        assert_eq!(wrapped.policy.resource_limits().max_pids, 7);
        assert!(wrapped.accepted.contains(Guarantee::TreeKill));
        assert!(!wrapped.accepted.contains(Guarantee::Network));
        assert_eq!(wrapped.host_home, Some(PathBuf::from("/home/dev")));
        assert_eq!(wrapped.host_tmpdir, Some(PathBuf::new()), "there is none");
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let policy = r#"{"type":"read_only"}"#;
        for (arguments, expected) in [
            (vec![], "-- COMMAND is missing"),
            (vec!["--"], "-- COMMAND is missing"),
            (
                vec!["--no-sandbox", "--", "x"],
                "`--no-sandbox` is not an option of the sandbox helper",
            ),
            (vec!["--sandbox-policy"], "--sandbox-policy needs a value"),
            (
                vec!["--sandbox-policy-cwd", "/srv", "--", "x"],
                "--sandbox-policy is missing",
            ),
            (
                vec!["--sandbox-policy", policy, "--", "x"],
                "--sandbox-policy-cwd is missing",
            ),
            (
                vec![
                    "--sandbox-policy",
                    policy,
                    "--sandbox-policy",
                    policy,
                    "--",
                    "x",
                ],
                "--sandbox-policy was given twice",
            ),
            (
                vec![
                    "--sandbox-policy-cwd",
                    "/srv",
                    "--sandbox-policy",
                    policy,
                    "--accept-loss",
                    "all",
                    "--",
                    "x",
                ],
                "--accept-loss: `all` is not a guarantee",
            ),
            (
                vec![
                    "--sandbox-policy-cwd",
                    "/srv",
                    "--sandbox-policy",
                    policy,
                    "--status-fd",
                    "1",
                    "--",
                    "x",
                ],
                "--status-fd: descriptors 0 to 2 are the command's",
            ),
            (
                vec![
                    "--sandbox-policy-cwd",
                    "/srv",
                    "--sandbox-policy",
                    policy,
                    "--host-home",
                    "home",
                    "--",
                    "x",
                ],
                "--host-home: not absolute",
            ),
            (
                vec![
                    "--sandbox-policy-cwd",
                    "/srv",
                    "--sandbox-policy",
                    r#"{"type":"open"}"#,
                    "--",
                    "x",
                ],
                "--sandbox-policy: unknown variant `open`",
            ),
        ] {
            let error = parse(&arguments).unwrap_err();
            assert!(error.starts_with(expected), "{arguments:?}: {error}");
        }
    }

    #[test]
    fn what_a_value_says_does_not_break_the_line() {
        let error = parse(&[
            "--sandbox-policy-cwd",
            "/srv",
            "--sandbox-policy",
            r#"{"type":"a\nsandbox: off\u001b[2J"}"#,
            "--",
            "x",
        ])
        .unwrap_err();
        let expected = "--sandbox-policy: unknown variant `a\u{fffd}sandbox: off\u{fffd}[2J`";
        assert!(error.starts_with(expected), "{error:?}");
    }
}
