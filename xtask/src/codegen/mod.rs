//! `cargo xtask codegen`: files that are written by code, so that they cannot drift from it.

mod ci_steps;
mod examples;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::diff;
use crate::files;
use crate::workspace::Workspace;

/// A file to be, named from the root of the repository.
type Page = (PathBuf, String);

type Generator = fn(&Workspace) -> Result<Vec<Page>>;

/// Pages about xtask itself, and those that the crates print; a new page of a crate needs no change here.
const GENERATORS: &[Generator] = &[ci_steps::pages, examples::pages];

/// A file that is not what its generator writes.
pub(crate) struct Stale {
    path: PathBuf,
    /// What is there now; nothing if the file is missing.
    found: Option<String>,
    expected: String,
}

/// Rewrites what is stale, or with `check` only reports it, and says whether all is well.
pub(crate) fn run(workspace: &Workspace, check: bool) -> Result<bool> {
    let stale = stale(workspace)?;
    for file in &stale {
        if check {
            print!("{}", file.report());
        } else {
            file.rewrite(workspace)?;
            println!("wrote {}", file.path.display());
        }
    }
    Ok(stale.is_empty() || !check)
}

pub(crate) fn stale(workspace: &Workspace) -> Result<Vec<Stale>> {
    let mut stale = Vec::new();
    for generate in GENERATORS {
        for (path, expected) in generate(workspace)? {
            let on_disk = workspace.path(&path);
            let found = on_disk
                .exists()
                .then(|| files::read(&on_disk))
                .transpose()?;
            if found.as_ref() != Some(&expected) {
                stale.push(Stale {
                    path,
                    found,
                    expected,
                });
            }
        }
    }
    Ok(stale)
}

impl Stale {
    pub(crate) fn report(&self) -> String {
        let path = self.path.display();
        match &self.found {
            None => format!("{path} is missing: run `cargo xtask codegen`\n"),
            Some(found) => {
                let difference = diff::short(found, &self.expected);
                format!("{path} is stale: run `cargo xtask codegen`\n{difference}")
            }
        }
    }

    fn rewrite(&self, workspace: &Workspace) -> Result<()> {
        let path = workspace.path(&self.path);
        let writing = || format!("cannot write {}", path.display());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(writing)?;
        }
        fs::write(&path, &self.expected).with_context(writing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stale(found: Option<&str>) -> Stale {
        Stale {
            path: PathBuf::from("page.md"),
            found: found.map(str::to_owned),
            expected: "new\n".to_owned(),
        }
    }

    #[test]
    fn a_report_names_the_file_and_the_cure() {
        assert_eq!(
            stale(None).report(),
            "page.md is missing: run `cargo xtask codegen`\n"
        );
        assert_eq!(
            stale(Some("old\n")).report(),
            "page.md is stale: run `cargo xtask codegen`\n    @@ line 1 @@\n    -old\n    +new\n"
        );
    }
}
