//! A patch that is applied by a process of its own: with an empty environment, by itself and in a sandbox. This program
//! is that process too, so it has its own `main`.

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = palisade_runner::patch::command::dispatch(std::env::args_os()) {
        return code;
    }
    #[cfg(all(target_os = "linux", feature = "linux-landlock"))]
    {
        if let Some(code) = palisade_linux_landlock::dispatch(std::env::args_os()) {
            return code;
        }
        linux::tests();
    }
    ExitCode::SUCCESS
}

#[cfg(all(target_os = "linux", feature = "linux-landlock"))]
mod linux {
    #![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]
    #![expect(clippy::print_stdout, reason = "a test says what it does")]

    use std::io::{Read as _, Write as _};
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    use palisade_policy::{
        AbsolutePath, AcceptedLosses, CanonicalSandboxPolicy, HostFacts, Os, PolicyContext,
        WorkspaceRoot,
    };
    use palisade_runner::patch::command::{
        APPLIED, ARGUMENT, ApplyRequest, BAD_REQUEST, NOT_APPLIED, REFUSED,
    };

    pub(super) fn tests() {
        let all: [(&str, fn()); 4] = [
            ("by_itself", by_itself),
            ("every_failure_has_its_code", every_failure_has_its_code),
            ("requests_survive_the_way", requests_survive_the_way),
            ("in_a_sandbox", in_a_sandbox),
        ];
        for (name, test) in all {
            test();
            println!("test {name} ... ok");
        }
        println!("test result: ok. {} passed; 0 failed", all.len());
    }

    struct Stage {
        _directory: tempfile::TempDir,
        app: PathBuf,
        root: WorkspaceRoot,
        context: PolicyContext,
    }

    fn stage() -> Stage {
        let directory = tempfile::Builder::new()
            .prefix("palisade-apply-")
            .tempdir_in("/var/tmp")
            .unwrap();
        let top = directory.path().canonicalize().unwrap();
        let app = top.join("app");
        std::fs::create_dir_all(app.join(".git")).unwrap();
        std::fs::create_dir_all(top.join("home")).unwrap();
        std::fs::write(app.join("file"), "one\ntwo\n").unwrap();
        let root = WorkspaceRoot::new(&app).unwrap();
        let home = AbsolutePath::new(top.join("home")).unwrap();
        let facts = HostFacts::new(Os::Linux)
            .with_home(home)
            .with_uid(rustix::process::geteuid().as_raw());
        Stage {
            context: PolicyContext::new(facts, root.clone()),
            _directory: directory,
            app,
            root,
        }
    }

    fn request(stage: &Stage, patch: &[u8]) -> ApplyRequest {
        ApplyRequest::new(
            CanonicalSandboxPolicy::workspace_write([stage.root.clone()]),
            stage.context.clone(),
            stage.root.path().clone(),
            patch.to_vec(),
        )
    }

    const GOOD: &[u8] = b"--- a/file\n+++ b/file\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n--- /dev/null\n+++ b/new/file\n@@ -0,0 +1 @@\n+n\n";

    /// The program with an empty environment, in a directory that is not the workspace.
    fn run(input: &[u8]) -> (u8, String, String) {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg(ARGUMENT)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A process that refuses a request at once does not read the rest of it.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let code = u8::try_from(output.status.code().unwrap()).unwrap();
        (code, text(output.stdout), text(output.stderr))
    }

    fn content(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    fn by_itself() {
        let stage = stage();
        let (code, output, errors) = run(&request(&stage, GOOD).to_bytes().unwrap());
        assert_eq!(
            (code, output.as_str(), errors.as_str()),
            (APPLIED, "M file\nA new/file\n", "")
        );
        assert_eq!(content(&stage.app.join("file")), "one\n2\n");
        assert_eq!(content(&stage.app.join("new/file")), "n\n");
    }

    fn every_failure_has_its_code() {
        let stage = stage();
        let good = request(&stage, GOOD).to_bytes().unwrap();
        let hook = b"--- /dev/null\n+++ b/.git/hook\n@@ -0,0 +1 @@\n+x\n";
        let hook = request(&stage, hook).to_bytes().unwrap();
        let misfit = b"--- a/file\n+++ b/file\n@@ -1 +1 @@\n-no\n+x\n";
        let misfit = request(&stage, misfit).to_bytes().unwrap();
        let empty = request(&stage, b"").to_bytes().unwrap();
        let cut = good.split_last().unwrap().1;
        let mut longer = good.clone();
        longer.push(b'\n');
        let unknown = b"{\"palisade_apply_patch\":1,\"more\":true}\n";
        for (input, expected, says) in [
            (
                &hook[..],
                REFUSED,
                ".git is protected; a grant to write the git directory",
            ),
            (
                &misfit,
                NOT_APPLIED,
                "hunk 1 (line 3 of the patch) does not fit",
            ),
            (&empty, NOT_APPLIED, "the patch changes nothing"),
            (cut, BAD_REQUEST, "another length"),
            (&longer, BAD_REQUEST, "another length"),
            (b"", BAD_REQUEST, "no end"),
            (b"{}\n", BAD_REQUEST, "missing field"),
            (unknown, BAD_REQUEST, "unknown field"),
        ] {
            let (code, output, errors) = run(input);
            assert_eq!((code, output.as_str()), (expected, ""), "{errors}");
            assert!(errors.contains(says), "{errors}");
            assert_eq!(content(&stage.app.join("file")), "one\ntwo\n");
        }
        let other = palisade_runner::patch::command::dispatch(["program".into(), "--other".into()]);
        assert!(other.is_none());
    }

    fn requests_survive_the_way() {
        let stage = stage();
        let mut sent = request(&stage, b"\xff\n\0");
        sent.context.private = palisade_policy::PrivatePlaces::all();
        sent.context.home_root = palisade_policy::HomeRoot::Allow;
        let read = ApplyRequest::from_reader(sent.to_bytes().unwrap().as_slice()).unwrap();
        assert_eq!(read.policy, sent.policy);
        assert_eq!(read.context, sent.context);
        assert_eq!(read.base, sent.base);
        assert_eq!(read.patch, sent.patch);
    }

    /// Started by the sandbox, under the same policy.
    fn in_a_sandbox() {
        use palisade_linux_landlock::{ExitCause, Helper, start};

        let stage = stage();
        let policy = CanonicalSandboxPolicy::workspace_write([stage.root.clone()]);
        // The target directory may be in a place that the session has of its own.
        let program = stage.app.with_file_name("program");
        std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        let helper = Helper::new(&program);
        let started = start(&policy, &stage.context, &AcceptedLosses::none(), &helper);
        let started = match started {
            Ok(started) => started,
            Err(error) => return println!("skipped: no sandbox here: {error}"),
        };
        let (input, mut send) = std::io::pipe().unwrap();
        let (mut receive, output) = std::io::pipe().unwrap();
        let errors = output.try_clone().unwrap();
        let stdio = palisade_linux_landlock::Stdio::new(input.into(), output.into(), errors.into());
        let argument: std::ffi::OsString = ARGUMENT.into();
        let command =
            palisade_linux_landlock::Command::new([program.into_os_string(), argument], &stage.app);
        let mut child = started.session.spawn(&command, &stdio).unwrap();
        drop(stdio);
        send.write_all(&request(&stage, GOOD).to_bytes().unwrap())
            .unwrap();
        drop(send);
        let mut text = String::new();
        receive.read_to_string(&mut text).unwrap();
        let exit = child.wait().unwrap();
        assert!(
            matches!(exit.cause, ExitCause::Code(0)),
            "{:?}: {text}",
            exit.cause
        );
        assert_eq!(text, "M file\nA new/file\n");
        started.session.end();
        assert_eq!(content(&stage.app.join("file")), "one\n2\n");
        assert_eq!(content(&stage.app.join("new/file")), "n\n");
        let names = std::fs::read_dir(&stage.app).unwrap();
        assert!(
            names
                .flatten()
                .all(|entry| !entry.file_name().to_string_lossy().contains(".tmp"))
        );
    }
}
