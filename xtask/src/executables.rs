//! The test programs and programs that Cargo builds, and where it puts them.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::workspace::Target;

/// Something that Cargo built and that can be started.
pub(crate) struct Executable {
    /// The id of its package.
    pub(crate) package: String,
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A program of the package itself.
    Program,
    /// The unit tests of a library or of a program.
    UnitTests,
    /// An integration test.
    Test,
}

/// Runs a command that builds and says what it built, with `--message-format=json`.
pub(crate) fn build(mut command: Command) -> Result<Vec<Executable>> {
    let output = command.output().context("cargo")?;
    if !output.status.success() {
        bail!(
            "it does not compile:\n{}",
            complaints(&output.stdout, &output.stderr)
        );
    }
    messages(&output.stdout)?
        .into_iter()
        .filter_map(|message| executable(message).transpose())
        .collect()
}

/// What the compiler complains about is in its messages; what Cargo says is in its error output.
fn complaints(stdout: &[u8], stderr: &[u8]) -> String {
    let rendered = messages(stdout).unwrap_or_default().into_iter();
    let mut text: String = rendered
        .filter_map(|message| message.message?.rendered)
        .collect();
    text.push_str(&String::from_utf8_lossy(stderr));
    text
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    package_id: String,
    target: Option<Target>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Deserialize)]
struct Diagnostic {
    rendered: Option<String>,
}

fn messages(stdout: &[u8]) -> Result<Vec<Message>> {
    stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| line.starts_with(b"{"))
        .map(|line| serde_json::from_slice(line).context("a message of Cargo"))
        .collect()
}

fn executable(message: Message) -> Result<Option<Executable>> {
    let Message {
        package_id: package,
        target: Some(target),
        profile: Some(profile),
        executable: Some(path),
        ..
    } = message
    else {
        return Ok(None);
    };
    // A program is built twice: as itself, and as a harness for its own unit tests.
    let kind = match (target.is("test"), profile.test) {
        (true, true) => Kind::Test,
        (false, true) => Kind::UnitTests,
        (_, false) if target.is("bin") => Kind::Program,
        (_, false) => return Ok(None),
    };
    Ok(Some(Executable {
        package,
        name: target.name,
        path,
        kind,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STDOUT: &[u8] = br#"{"reason":"compiler-artifact","package_id":"a","target":{"name":"a","kind":["lib"]},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","package_id":"a","target":{"name":"a","kind":["lib"]},"profile":{"test":true},"executable":"/t/a-1"}
{"reason":"compiler-artifact","package_id":"a","target":{"name":"help","kind":["bin"]},"profile":{"test":false},"executable":"/t/help"}
{"reason":"compiler-artifact","package_id":"a","target":{"name":"help","kind":["bin"]},"profile":{"test":true},"executable":"/t/help-1"}
{"reason":"compiler-artifact","package_id":"a","target":{"name":"it","kind":["test"]},"profile":{"test":true},"executable":"/t/it-1"}
{"reason":"compiler-message","package_id":"a","target":{"name":"it","kind":["test"]},"message":{"rendered":"error: wrong\n"}}
{"reason":"build-finished","success":true}
not a message
"#;

    #[test]
    fn programs_and_the_kinds_of_tests_are_told_apart() {
        let found: Vec<_> = messages(STDOUT)
            .unwrap()
            .into_iter()
            .filter_map(|message| executable(message).unwrap())
            .map(|found| (found.path.to_string_lossy().into_owned(), found.kind))
            .collect();
        let expected = [
            ("/t/a-1", Kind::UnitTests),
            ("/t/help", Kind::Program),
            ("/t/help-1", Kind::UnitTests),
            ("/t/it-1", Kind::Test),
        ];
        assert_eq!(found, expected.map(|(path, kind)| (path.to_owned(), kind)));
    }

    #[test]
    fn a_failed_build_says_what_the_compiler_said() {
        assert_eq!(
            complaints(STDOUT, b"error: could not compile\n"),
            "error: wrong\nerror: could not compile\n"
        );
    }
}
