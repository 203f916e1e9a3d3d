//! The helper behind `sandbox-exec`, with a stand-in for `sandbox-exec` that applies nothing: does the one who started both
//! always learn whether the command ran? This program is the helper, too, and so has a `main` of its own.
#![expect(clippy::print_stdout, reason = "a test says what it tried")]
#![cfg_attr(
    unix,
    expect(
        clippy::unwrap_used,
        clippy::panic,
        clippy::indexing_slicing,
        reason = "a test ends where its assumption fails"
    )
)]

use std::process::ExitCode;

#[cfg(not(unix))]
fn main() -> ExitCode {
    println!("skipped: the helper needs descriptors");
    ExitCode::SUCCESS
}

#[cfg(unix)]
fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if let Some(code) = palisade_seatbelt::apply::stage::dispatch(&arguments) {
        return code;
    }
    trials::all();
    ExitCode::SUCCESS
}

#[cfg(unix)]
mod trials {
    use std::fs;
    use std::io::ErrorKind;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::os::unix::process::ExitStatusExt as _;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Output, Stdio};

    use palisade_seatbelt::apply::stage::{Staged, Step, heard, hidden_variable};
    use palisade_seatbelt::apply::{ApplyError, Launch};
    use palisade_seatbelt::profile::Parameters;

    /// What stands in for `sandbox-exec`: it reads the same words, and fails as the real one is known to fail.
    const STAND_IN: &str = r#"#!/bin/sh
while [ "$1" != -- ]; do shift; done; shift
case $FAIL in
71) echo "sandbox-exec: sandbox_apply: Operation not permitted" >&2; exit 71 ;;
65) echo "sandbox-exec: unbound variable: bogus" >&2; exit 65 ;;
kill) kill -9 $$ ;;
*) exec "$@" ;;
esac
"#;

    struct Stage {
        directory: tempfile::TempDir,
        stand_in: PathBuf,
    }

    impl Stage {
        fn new() -> Self {
            let directory = tempfile::tempdir().unwrap();
            let stand_in = directory.path().join("sandbox-exec");
            fs::write(&stand_in, STAND_IN).unwrap();
            fs::set_permissions(&stand_in, fs::Permissions::from_mode(0o755)).unwrap();
            Self {
                directory,
                stand_in,
            }
        }

        /// Runs a command behind the stand-in and this program; what it wrote, and what the two say about it.
        fn run(&self, staged: &Staged, fail: &str) -> (Output, Result<(), ApplyError>) {
            let helper = std::env::current_exe().unwrap();
            let launch = Launch::new("(version 1)", &Parameters::default()).unwrap();
            let words = launch.words(&helper, staged.arguments(), 0).unwrap();
            let report = self.directory.path().join("report");
            // A shell gives descriptor 3, as who starts `sandbox-exec` does.
            let output = Command::new("/bin/sh")
                .args(["-c", "report=$1; shift; exec \"$@\" 3>\"$report\"", "sh"])
                .arg(&report)
                .arg(&self.stand_in)
                .args(&words[1..])
                .env("FAIL", fail)
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let said = fs::read(&report).unwrap();
            let status = output.status;
            let end = status.code().ok_or_else(|| status.signal().unwrap());
            (output, heard(&said, end))
        }
    }

    type Trial = fn(&Stage);

    fn shell(script: &str) -> Staged {
        Staged::new(["/bin/sh"], ["sh", "-c", script])
    }

    pub(crate) fn all() {
        let trials: [(&str, Trial); 6] = [
            ("a_command_that_ends_as_sandbox_exec_would_has_run", ran),
            ("one_that_never_entered_is_told_by_its_reason", refused),
            ("the_command_has_no_way_to_speak_for_the_helper", silent),
            ("only_the_judged_file_is_started", judged),
            (
                "a_command_has_its_variables_and_nobody_before_it",
                variables,
            ),
            ("who_is_not_listened_to_starts_nothing", unheard),
        ];
        for (name, trial) in trials {
            trial(&Stage::new());
            println!("test {name} ... ok");
        }
        println!("test result: ok. {} passed; 0 failed", trials.len());
    }

    fn ran(stage: &Stage) {
        for code in [0, 71, 65, 64, 127] {
            let message = "sandbox-exec: sandbox_apply: Operation not permitted";
            let script = format!("echo '{message}' >&2; exit {code}");
            let (output, heard) = stage.run(&shell(&script), "");
            assert!(heard.is_ok(), "{heard:?}");
            assert_eq!(output.status.code(), Some(code));
            assert_eq!(output.stderr, format!("{message}\n").into_bytes());
        }
        // A signal is a signal, and a broken pipe ends the command as it expects.
        let (output, heard) = stage.run(&shell("kill -PIPE $$"), "");
        assert!(heard.is_ok());
        assert_eq!(output.status.signal(), Some(13));
    }

    fn refused(stage: &Stage) {
        let command = shell("echo ran");
        let (output, heard) = stage.run(&command, "71");
        assert!(matches!(heard, Err(ApplyError::NestedOrRefused)));
        assert!(output.stdout.is_empty());
        let (_, heard) = stage.run(&command, "65");
        assert!(matches!(heard, Err(ApplyError::ProfileRefused)));
        let (_, heard) = stage.run(&command, "kill");
        assert!(matches!(heard, Err(ApplyError::KilledBefore { signal: 9 })));
        let none = Staged::new(["/srv/none/a", "/srv/none/b"], ["a"]);
        let (output, heard) = stage.run(&none, "");
        let Err(ApplyError::Step { step, source }) = heard else {
            panic!("{heard:?}")
        };
        assert_eq!((step, source.kind()), (Step::Exec, ErrorKind::NotFound));
        assert_eq!(output.status.code(), Some(127));
    }

    fn silent(stage: &Stage) {
        // Nothing is at that number any more, so there is nothing to write to.
        let (output, heard) = stage.run(&shell("{ echo S >&3; } 2>/dev/null && echo spoke"), "");
        assert!(heard.is_ok());
        assert!(output.stdout.is_empty(), "{output:?}");
    }

    fn judged(stage: &Stage) {
        let real = fs::metadata("/bin/sh").unwrap();
        let right = shell("exit 7").with_identity(real.dev(), real.ino());
        let (output, heard) = stage.run(&right, "");
        assert!(heard.is_ok());
        assert_eq!(output.status.code(), Some(7));
        let wrong = shell("exit 7").with_identity(real.dev(), real.ino() + 1);
        let (_, heard) = stage.run(&wrong, "");
        assert!(matches!(
            heard,
            Err(ApplyError::Step {
                step: Step::ProgramChanged,
                ..
            })
        ));
        // The first that can be run is, under the name that was asked for.
        let second = Staged::new(
            ["/srv/none/sh", "/bin/sh"],
            ["other", "-c", "echo $0 \"$@\""],
        );
        let (output, heard) = stage.run(&second, "");
        assert!(heard.is_ok());
        assert_eq!(output.stdout, b"other\n");
    }

    fn variables(stage: &Stage) {
        let name = hidden_variable("GREETING".as_ref());
        let mut hidden = name.clone();
        hidden.push("=hello");
        // `env` comes last: shells pass on no such names.
        let report = stage.directory.path().join("report");
        let output = Command::new("/bin/sh")
            .args(["-c", "report=$1; shift; exec \"$@\" 3>\"$report\"", "sh"])
            .arg(&report)
            .args(["env", "-i", "PALISADE_RUN=1"])
            .arg(&hidden)
            .arg(std::env::current_exe().unwrap())
            .args(Staged::new(["/usr/bin/env"], ["env"]).arguments())
            .output()
            .unwrap();
        assert_eq!(fs::read(&report).unwrap(), b"S");
        let mut told: Vec<&[u8]> = output.stdout.split(|byte| *byte == b'\n').collect();
        told.retain(|line| !line.is_empty());
        told.sort_unstable();
        assert_eq!(told, [&b"GREETING=hello"[..], b"PALISADE_RUN=1"]);
    }

    fn unheard(stage: &Stage) {
        let helper = std::env::current_exe().unwrap();
        let witness = stage.directory.path().join("witness");
        let script = format!("touch {}", witness.display());
        let output = Command::new("/bin/sh")
            .args(["-c", "exec 3>&-; exec \"$@\"", "sh"])
            .arg(helper)
            .args(shell(&script).arguments())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(126));
        assert!(!Path::new(&witness).exists());
    }
}
