//! What the examples do on Linux, seen from outside.

#![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]
#![expect(clippy::print_stdout, reason = "a test says what it does")]

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

use palisade::runner::launch::WindowSize;
use palisade::{AskForApproval, Outcome, Policy, Prompt, ReviewDecision, Rules, Sandbox};

use crate::EXAMPLE;

/// The user and group `nobody`, as on every Linux.
const NOBODY: u32 = 65_534;

pub(crate) fn tests() {
    let all: [(&str, fn()); 5] = [
        (
            "the_embedding_contains_its_command",
            the_embedding_contains_its_command,
        ),
        (
            "the_embedding_says_what_it_does_not_run",
            the_embedding_says_what_it_does_not_run,
        ),
        (
            "the_agent_loop_asks_grants_remembers_and_refuses",
            the_agent_loop_asks_grants_remembers_and_refuses,
        ),
        (
            "nobody_at_the_terminal_means_no",
            nobody_at_the_terminal_means_no,
        ),
        (
            "a_wrapped_command_line_is_contained_by_whoever_spawns_it",
            a_wrapped_command_line_is_contained_by_whoever_spawns_it,
        ),
    ];
    for (name, test) in all {
        test();
        println!("test {name} ... ok");
    }
    let mut passed = all.len();
    if rustix::process::geteuid().is_root() {
        as_an_ordinary_user();
        println!("test as_an_ordinary_user ... ok");
        passed += 1;
    }
    println!("test result: ok. {passed} passed; 0 failed");
}

/// Runs everything here once more, as a user who is not root.
fn as_an_ordinary_user() {
    // Cargo builds where such a user may not look.
    let stage = tempfile::tempdir_in("/var/tmp").unwrap();
    let everybody = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(stage.path(), everybody.clone()).unwrap();
    let program = stage.path().join("examples");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    std::fs::set_permissions(&program, everybody).unwrap();
    let home = stage.path().join("home");
    std::fs::create_dir(&home).unwrap();
    chown(&home, Some(NOBODY), Some(NOBODY)).unwrap();
    let run = Command::new(&program)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", &home)
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", everything(&run));
}

fn everything(run: &Output) -> String {
    let both = [run.stdout.as_slice(), run.stderr.as_slice()].concat();
    String::from_utf8_lossy(&both).into_owned()
}

/// A workspace, a home and a directory outside both, removed at the end.
struct Stage(tempfile::TempDir);

impl Stage {
    /// Outside `/tmp`, which is private in a sandbox.
    fn new() -> Self {
        let stage = Self(tempfile::tempdir_in("/var/tmp").unwrap());
        for below in ["workspace", "outside", "home/.ssh"] {
            std::fs::create_dir_all(stage.path(below)).unwrap();
        }
        std::fs::write(stage.path("home/.ssh/id_ed25519"), "never shown\n").unwrap();
        stage
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn example(&self, name: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.path("home"))
            .env("API_TOKEN", "never inside")
            .env(EXAMPLE, name)
            .current_dir(self.path("workspace"));
        command
    }
}

fn the_embedding_contains_its_command() {
    let stage = Stage::new();
    // In a file: the rules would not let the command line name a secret.
    let script = "echo in > inside; cat inside; env; cat ~/.ssh/id_ed25519; echo out > ../outside/file; exit 3";
    std::fs::write(stage.path("workspace/script"), script).unwrap();
    let run = stage
        .example("embedding")
        .args(["sh", "script"])
        .output()
        .unwrap();
    let said = everything(&run);
    assert_eq!(run.status.code(), Some(3), "{said}");
    assert!(said.starts_with("in\n"), "{said}");
    assert!(said.contains("PALISADE_SANDBOX=landlock"), "{said}");
    assert!(!said.contains("API_TOKEN"), "{said}");
    assert!(!said.contains("never shown"), "{said}");
    assert!(said.contains("[exit code 3"), "{said}");
    assert!(stage.path("workspace/inside").exists());
    assert!(!stage.path("outside/file").exists());
}

fn the_embedding_says_what_it_does_not_run() {
    let stage = Stage::new();
    for (argv, words) in [
        (vec!["rm", "-rf", "/"], "Removes the system"),
        (vec!["rm", "-rf", "inside"], "rejected by the user"),
        (vec!["no-such-program"], "not started"),
    ] {
        std::fs::write(stage.path("workspace/inside"), "").unwrap();
        let run = stage.example("embedding").args(argv).output().unwrap();
        let said = everything(&run);
        assert_eq!(run.status.code(), Some(1), "{said}");
        assert!(said.contains(words), "{said}");
        assert!(stage.path("workspace/inside").exists());
    }
}

/// What the agent is told to run, one a line.
const SCRIPTS: &str = "\
echo works > note && cat note
touch ../outside/refused
touch ../outside/granted
mkdir scratch && rm -rf scratch && echo gone
mkdir scratch && rm -rf scratch && echo gone
rm -rf / --no-preserve-root
";

/// The agent on a terminal, where somebody answers; everything that the terminal showed, and what was asked.
fn on_a_terminal(stage: &Stage, answer: impl Fn(&str) -> &'static str) -> (String, Vec<String>) {
    std::fs::write(stage.path("scripts"), SCRIPTS).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        // What is contained here is the agent's own business, so it runs without a sandbox around it.
        let policy = Policy::full_access(stage.path("")).approval(AskForApproval::Never);
        let outer = Sandbox::probe(policy)
            .unwrap()
            .session(Rules::builtin().unwrap(), |_: &Prompt| {
                ReviewDecision::Denied
            })
            .unwrap();
        let start = format!("{EXAMPLE}=agent_loop exec \"$0\" < ../scripts");
        let mut child = outer
            .script(start)
            .arg(std::env::current_exe().unwrap())
            .cwd(stage.path("workspace"))
            .env("HOME", stage.path("home"))
            .terminal(WindowSize {
                rows: 40,
                columns: 200,
            })
            .timeout(Duration::from_secs(100))
            .spawn()
            .await
            .unwrap();
        let (mut shown, mut asked, mut answered) = (String::new(), Vec::new(), 0);
        while let Some(chunk) = child.next().await {
            shown.push_str(&String::from_utf8_lossy(&chunk.bytes));
            while let Some(end) = shown[answered..].find("or no?") {
                let question = shown[answered..answered + end].to_owned();
                answered += end + "or no?".len();
                assert!(child.write(format!("{}\n", answer(&question))).await);
                asked.push(question);
            }
        }
        let run = child.wait().await;
        assert_eq!(run.outcome, Outcome::Exited { code: 0 }, "{shown}");
        (shown.replace('\r', ""), asked)
    })
}

fn the_agent_loop_asks_grants_remembers_and_refuses() {
    let stage = Stage::new();
    let (shown, asked) = on_a_terminal(&stage, |question| {
        if question.contains("granted") && question.contains("with that grant") {
            "y"
        } else if question.contains("rm -rf scratch") {
            "s"
        } else {
            "n"
        }
    });
    assert!(shown.starts_with("works\n"), "{shown}");
    assert!(
        shown.contains("[exit code 1; the sandbox likely denied to"),
        "{shown}"
    );
    assert!(shown.contains("it was not tried again"), "{shown}");
    assert!(!stage.path("outside/refused").exists(), "{shown}");
    assert!(stage.path("outside/granted").exists(), "{shown}");
    assert_eq!(shown.matches("\ngone\n").count(), 2, "{shown}");
    let about = |text: &str| asked.iter().filter(|one| one.contains(text)).count();
    assert_eq!(about("rm -rf scratch"), 1, "kept for the session: {shown}");
    assert_eq!(about("no-preserve-root"), 0, "{shown}");
    assert!(shown.contains("[did not run: "), "{shown}");
}

fn nobody_at_the_terminal_means_no() {
    let stage = Stage::new();
    std::fs::write(stage.path("scripts"), SCRIPTS).unwrap();
    // A session of its own has no terminal, so nobody can be asked.
    let run = Command::new("setsid")
        .arg("--wait")
        .arg(std::env::current_exe().unwrap())
        .env("HOME", stage.path("home"))
        .env(EXAMPLE, "agent_loop")
        .current_dir(stage.path("workspace"))
        .stdin(std::fs::File::open(stage.path("scripts")).unwrap())
        .output()
        .unwrap();
    let said = everything(&run);
    assert!(run.status.success(), "{said}");
    assert!(said.starts_with("works\n"), "{said}");
    assert!(!said.contains("\ngone\n"), "{said}");
    for below in ["refused", "granted"] {
        assert!(!stage.path("outside").join(below).exists(), "{said}");
    }
}

fn a_wrapped_command_line_is_contained_by_whoever_spawns_it() {
    let stage = Stage::new();
    let sandbox = Sandbox::probe(Policy::workspace(stage.path("workspace"))).unwrap();
    let argv = sandbox
        .wrap([
            "sh",
            "-c",
            "echo in > inside; echo out > ../outside/file; exit 7",
        ])
        .unwrap();
    let (program, arguments) = argv.split_first().unwrap();
    let run = Command::new(program)
        .args(arguments)
        .current_dir(stage.path("workspace"))
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(7), "{}", everything(&run));
    assert!(stage.path("workspace/inside").exists());
    assert!(!stage.path("outside/file").exists());
    assert!(sandbox.wrap(Vec::<String>::new()).is_err(), "no command");
    // Where nothing is confined the words stay as they are.
    let open = Sandbox::probe(Policy::full_access(stage.path("workspace"))).unwrap();
    assert_eq!(open.wrap(["ls", "-l"]).unwrap(), ["ls", "-l"]);
}
