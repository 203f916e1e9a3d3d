//! The book and the README: every block of code in them is run, read or compiled, so that no page shows what does not work.
//!
//! | block | what is done with it |
//! |---|---|
//! | `toml` | tested as a policy by `palisade policy test`: it loads, and its examples hold |
//! | `toml fragment` | the same, as a part of a policy, which lacks `version` |
//! | `json` | parsed, as a whole or line by line |
//! | `console` | its `$` lines are run one after another, the pages' lines in one home, and what they print is compared |
//! | `console elsewhere` | for another system or another user: only what it says about this repository is checked |
//! | `rust` | each line must stand in a program or a page that is compiled: `crates/*/examples`, `crates/*/src/lib.rs` |
//! | `text` | nothing: it is no code |
//!
//! Any other block fails.

mod blocks;
mod console;

use std::fs;
use std::path::{Path, PathBuf};

use self::blocks::Block;
use crate::support::{House, Said};

/// Pages about other systems, or about tools that not every machine has.
const ELSEWHERE: [&str; 3] = [
    "docs/real-hardware.md",
    "docs/launch-trace.md",
    "docs/linux-sandbox.md",
];

fn repository() -> PathBuf {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    fs::canonicalize(root).unwrap()
}

/// The README and every page below `docs/`, by its path in the repository.
fn pages() -> Vec<String> {
    let root = repository();
    let mut pages = vec!["README.md".to_owned()];
    let mut pending = vec![root.join("docs")];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|kind| kind == "md") {
                let page = path.strip_prefix(&root).unwrap();
                pages.push(page.to_str().unwrap().to_owned());
            }
        }
    }
    pages.sort();
    pages
}

fn blocks_of(page: &str) -> Vec<Block> {
    blocks::read(&fs::read_to_string(repository().join(page)).unwrap())
}

#[test]
fn every_block_says_what_it_is() {
    let known = [
        "toml",
        "toml fragment",
        "json",
        "console",
        "console elsewhere",
        "rust",
        "text",
    ];
    let mut wrong = Vec::new();
    for page in pages() {
        for block in blocks_of(&page) {
            let elsewhere = block.kind != "console elsewhere" || ELSEWHERE.contains(&page.as_str());
            if !known.contains(&block.kind.as_str()) || !elsewhere {
                wrong.push(format!("{page}:{}: `{}`", block.line, block.kind));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn policies_load_and_their_examples_hold() {
    let house = House::new();
    let mut tried = 0;
    for page in pages() {
        for block in blocks_of(&page) {
            let text = match block.kind.as_str() {
                "toml" => block.text.clone(),
                "toml fragment" => format!("version = 1\n{}", block.text),
                _ => continue,
            };
            tried += 1;
            house.write("project/block.toml", &text);
            let layer = match text.contains("[floor]") {
                true => "system",
                false => "user",
            };
            let said = house.say(["policy", "test", "block.toml", "--layer", layer]);
            assert_eq!(said.code, 0, "{page}:{}: {said:?}", block.line);
        }
    }
    assert!(tried > 3, "{tried}");
}

#[test]
fn json_is_json() {
    for page in pages() {
        for block in blocks_of(&page) {
            let whole = || serde_json::from_str::<serde_json::Value>(&block.text).is_ok();
            let lines = || {
                let mut lines = block.text.lines();
                lines.all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok())
            };
            let good = block.kind != "json" || whole() || lines();
            assert!(good, "{page}:{}", block.line);
        }
    }
}

#[test]
fn rust_stands_in_what_is_compiled() {
    let mut compiled = String::new();
    for name in fs::read_dir(repository().join("crates")).unwrap() {
        let directory = name.unwrap().path();
        compiled.push_str(&fs::read_to_string(directory.join("src/lib.rs")).unwrap_or_default());
        let examples = fs::read_dir(directory.join("examples"));
        for example in examples.into_iter().flatten() {
            compiled.push_str(&fs::read_to_string(example.unwrap().path()).unwrap());
        }
    }
    let bare = |line: &str| {
        let line = line
            .trim()
            .trim_start_matches("//!")
            .trim_start_matches("///");
        let code = line.split(" // ").next().unwrap_or_default().trim();
        code.to_owned()
    };
    let known: Vec<String> = compiled.lines().map(bare).collect();
    for page in pages() {
        for block in blocks_of(&page).iter().filter(|block| block.kind == "rust") {
            for line in block.text.lines().map(bare) {
                let comment = line.is_empty() || line.starts_with("//");
                let found = comment || known.contains(&line);
                assert!(found, "{page}:{}: `{line}` is compiled nowhere", block.line);
            }
        }
    }
}

#[test]
fn commands_print_what_the_pages_show() {
    let tried = House::new().say(["run", "--", "true"]);
    if tried.code != 0 {
        eprintln!("skipped: no sandbox here: {tried:?}");
        return;
    }
    let mut wrong = Vec::new();
    for page in pages() {
        wrong.extend(console::check(&page, &blocks_of(&page)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_summary_names_every_page_and_only_pages() {
    let summary = fs::read_to_string(repository().join("docs/SUMMARY.md")).unwrap();
    let named: Vec<&str> = summary
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .collect();
    for page in pages() {
        let Some(page) = page
            .strip_prefix("docs/")
            .filter(|page| *page != "SUMMARY.md")
        else {
            continue;
        };
        assert!(named.contains(&page), "{page} is not in docs/SUMMARY.md");
    }
    for page in named {
        assert!(repository().join("docs").join(page).is_file(), "{page}");
    }
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    for page in pages() {
        let path = repository().join(&page);
        let text = fs::read_to_string(&path).unwrap();
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let file = target.split('#').next().unwrap_or_default();
            let outside = file.is_empty() || file.contains("://") || file.contains(' ');
            let base = path.parent().unwrap_or(Path::new("/"));
            if !outside && !base.join(file).exists() {
                wrong.push(format!("{page}: {target}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What a test of a test needs: a command in the house, by the shell.
fn shell(house: &House, line: &str) -> Said {
    Said::of(house.command("bash").args(["-c", line]).output().unwrap())
}
