//! Commands of a page, run in a house of its own, and what they print compared with what the page shows.
//!
//! The project of the house is `/home/dev/project` on the page. A line `...` stands for any number of lines. `palisade` is
//! the program that was just built, and so is `cargo run --release --`: a release build in every test run would take
//! minutes. What else begins with `cargo` is not run, for the same reason; packages and targets that it names must exist.

use std::path::Path;

use super::blocks::Block;
use super::{repository, shell};
use crate::support::House;

/// How a page calls the program from a clone.
const FROM_A_CLONE: &str = "cargo run --release -- ";

/// A command of a page and what it shows.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    command: String,
    shown: String,
}

/// What is wrong with the commands of a page.
pub(super) fn check(page: &str, blocks: &[Block]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut stage = None;
    for block in blocks
        .iter()
        .filter(|block| block.kind.starts_with("console"))
    {
        let here = block.kind == "console";
        let steps = steps(&block.text);
        if steps.is_empty() && here {
            wrong.push(format!("{page}:{}: there is no command in it", block.line));
        }
        for step in steps {
            let place = format!("{page}:{}: $ {}", block.line, step.command);
            let runs =
                step.command.starts_with(FROM_A_CLONE) || !step.command.starts_with("cargo ");
            if !runs || !here {
                let unknown = unknown_names(&step.command);
                wrong.extend(unknown.into_iter().map(|name| format!("{place}: {name}")));
                continue;
            }
            let stage = stage.get_or_insert_with(Stage::new);
            let printed = stage.run(&step.command);
            if !agrees(&step.shown, &printed) {
                let shown = step.shown;
                wrong.push(format!("{place}\n--- shown\n{shown}--- printed\n{printed}"));
            }
        }
    }
    wrong
}

/// The commands of a block: what follows `$ `, with lines that a backslash continues, and the lines below it.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut continues = false;
    for line in text.lines() {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (_, Some(step)) if continues => {
                step.command.push('\n');
                step.command.push_str(line);
            }
            (Some(command), _) => steps.push(Step {
                command: command.to_owned(),
                shown: String::new(),
            }),
            (None, Some(step)) => {
                step.shown.push_str(line);
                step.shown.push('\n');
                continue;
            }
            (None, None) => continue,
        }
        continues = line.ends_with('\\');
    }
    steps
}

/// Whether what was printed is what is shown, where a line `...` stands for any lines. Blanks at the end do not count.
fn agrees(shown: &str, printed: &str) -> bool {
    fn from(shown: &[&str], printed: &[&str]) -> bool {
        match (shown.split_first(), printed.split_first()) {
            (None, None) => true,
            (Some((&"...", rest)), None) => from(rest, printed),
            (Some((&"...", rest)), Some((_, more))) => from(rest, printed) || from(shown, more),
            (Some((line, rest)), Some((found, more))) => line == found && from(rest, more),
            (None, Some(_)) | (Some(_), None) => false,
        }
    }
    from(&lines(shown), &lines(printed))
}

/// Lines without blanks at their ends.
fn lines(text: &str) -> Vec<&str> {
    text.trim_end().lines().map(str::trim_end).collect()
}

/// Packages and targets that a command names and that do not exist.
fn unknown_names(command: &str) -> Vec<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let manifests: Vec<String> = std::fs::read_dir(repository().join("crates"))
        .unwrap()
        .map(|entry| std::fs::read_to_string(entry.unwrap().path().join("Cargo.toml")).unwrap())
        .collect();
    let known = |name: &str| {
        let line = format!("name = \"{name}\"\n");
        manifests.iter().any(|manifest| manifest.contains(&line))
    };
    let mut unknown = Vec::new();
    for pair in words.windows(2) {
        if let ["-p", package] = pair
            && !known(package)
        {
            unknown.push(format!("there is no package {package}"));
        }
        if let ["xtask", task] = pair {
            let sources = std::fs::read_to_string(repository().join("xtask/src/args.rs")).unwrap();
            if !sources.contains(&format!("\"{task}\"")) {
                unknown.push(format!("there is no task {task}"));
            }
        }
    }
    unknown
}

/// Where the commands of a page run, one after another.
struct Stage {
    house: House,
}

impl Stage {
    fn new() -> Self {
        let house = House::new();
        let program = std::env::var_os("PALISADE_TEST_CLI")
            .unwrap_or_else(|| env!("CARGO_BIN_EXE_palisade").into());
        let bin = house.home().join("bin");
        std::fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(program, bin.join("palisade")).unwrap();
        house.write("project/README", "a project\n");
        house.write(
            ".gitconfig",
            "[user]\n\tname = Dev\n\temail = dev@example.org\n",
        );
        house.git(["add", "README"]);
        house.git(["commit", "--quiet", "--message", "first"]);
        // A key that is nobody's, where everybody keeps one.
        house.write(".ssh/id_ed25519", "not a real key\n");
        house.write("last", "0");
        house.write("where", house.project().to_str().unwrap());
        Self { house }
    }

    /// What a command prints, on both streams, where this house is `/home/dev`.
    fn run(&self, command: &str) -> String {
        let home = self.house.home().to_str().unwrap();
        let command = match command.strip_prefix(FROM_A_CLONE) {
            Some(arguments) => format!("palisade {arguments}"),
            None => command.replace("/home/dev", home),
        };
        let line = format!(
            "exec 2>&1; PATH=$HOME/bin:$PATH; cd \"$(cat ~/where)\"; (exit $(cat ~/last))\n{command}\n\
             echo $? > ~/last; pwd > ~/where"
        );
        let said = shell(&self.house, &line);
        assert!(Path::new(home).join("last").exists());
        said.out.replace(home, "/home/dev")
    }
}

#[test]
fn lines_agree_with_what_stands_for_them() {
    assert!(agrees("a\n...\nc\n", "a\nb\nb\nc\n"));
    assert!(agrees("...\n", ""));
    assert!(agrees("a", "a  \n\n"));
    assert!(!agrees("a\n...\nc\n", "a\nb\n"));
    assert!(!agrees("", "a\n"));
    assert!(!agrees("a\n", ""));
}

#[test]
fn commands_continue_and_show_what_is_below() {
    let found = steps("$ a \\\n  b\nout\n$ c\n");
    let step = |command: &str, shown: &str| Step {
        command: command.to_owned(),
        shown: shown.to_owned(),
    };
    assert_eq!(found, [step("a \\\n  b", "out\n"), step("c", "")]);
}

#[test]
fn a_page_that_lies_is_found_out() {
    let block = |text: &str| Block {
        line: 1,
        kind: "console".to_owned(),
        text: text.to_owned(),
    };
    let good = "$ cd .. && pwd\n/home/dev\n$ false\n$ echo $?\n1\n$ pwd\n/home/dev\n";
    assert!(check("page", &[block(good)]).is_empty());
    assert_eq!(check("page", &[block("$ echo a\nb\n")]).len(), 1);
    assert_eq!(check("page", &[block("no command\n")]).len(), 1);
    assert_eq!(
        check("page", &[block("$ cargo test -p palisade-none\n")]).len(),
        1
    );
    assert_eq!(check("page", &[block("$ cargo xtask nonsense\n")]).len(), 1);
}
