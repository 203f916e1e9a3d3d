//! The commands, as data: each file of `commands/` is an ecosystem.

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

const FILES: &[(&str, &str)] = &[
    ("git", include_str!("commands/git.toml")),
    ("cargo", include_str!("commands/cargo.toml")),
    ("python", include_str!("commands/python.toml")),
    ("node", include_str!("commands/node.toml")),
    ("c", include_str!("commands/c.toml")),
    ("go", include_str!("commands/go.toml")),
    ("java", include_str!("commands/java.toml")),
    ("shell", include_str!("commands/shell.toml")),
    ("sqlite", include_str!("commands/sqlite.toml")),
    ("search", include_str!("commands/search.toml")),
    ("network", include_str!("commands/network.toml")),
    ("editors", include_str!("commands/editors.toml")),
    ("servers", include_str!("commands/servers.toml")),
];

/// An ecosystem: what its commands have in common, and they.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Ecosystem {
    /// What it is called.
    #[serde(rename = "ecosystem")]
    pub name: String,
    /// A script that fills the project before each command, outside of every sandbox.
    pub before: String,
    /// Programs that all of its commands need.
    #[serde(default)]
    needs: Vec<String>,
    /// What is not compared for any of its commands.
    #[serde(default)]
    ignore: Vec<String>,
    #[serde(default)]
    landlock: Option<String>,
    /// Its commands.
    #[serde(rename = "command")]
    pub commands: Vec<Command>,
}

/// One command line, and what is compared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Command {
    /// Its name, for ever.
    pub name: String,
    /// What bash is given.
    pub script: String,
    /// Programs that must be there.
    #[serde(default)]
    pub needs: Vec<String>,
    /// What it exits with outside: a command that fails there shows nothing inside.
    #[serde(default)]
    pub exit: i32,
    /// Whether it is run with `--git commit`.
    #[serde(default)]
    pub git: Option<Git>,
    /// Paths below the project that are not compared, because they hold times, hashes of times, or ports.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// What is evened out in standard output before it is compared.
    #[serde(default)]
    pub normalise: Vec<Normal>,
    /// Why it is known not to work in ours: it counts as broken, and is named with this reason.
    #[serde(default)]
    pub known: Option<String>,
    /// Why it is promised in no tier of ours.
    #[serde(default)]
    pub never: Option<String>,
    /// Why it is not promised to work where there are no namespaces.
    #[serde(default)]
    pub landlock: Option<String>,
    /// Works there, although its ecosystem does not.
    #[serde(default)]
    landlock_works: bool,
}

/// What a command may do to `.git`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Git {
    /// Make history, which comes back by an allow-list.
    Commit,
}

/// What is evened out before outputs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Normal {
    /// Seven or more hexadecimal digits: the names of commits hold the time.
    Hex,
    /// Lines `total N` of listings, which count blocks.
    Totals,
    /// Names of a project that are guarded while they do not exist: inside they are seen as empty directories.
    Guarded,
}

/// Why no history is made where there are no namespaces.
const NO_LAYER: &str = "a private layer over .git needs a mount namespace";

/// All ecosystems.
///
/// # Errors
/// The data is wrong.
pub fn all() -> Result<Vec<Ecosystem>> {
    FILES
        .iter()
        .map(|(name, text)| {
            let mut ecosystem: Ecosystem =
                toml::from_str(text).with_context(|| format!("commands/{name}.toml"))?;
            if ecosystem.name != *name {
                bail!("commands/{name}.toml calls itself {}", ecosystem.name);
            }
            for command in &mut ecosystem.commands {
                if command.git.is_some() && command.landlock.is_none() {
                    command.landlock = Some(NO_LAYER.to_owned());
                }
                command.needs.extend(ecosystem.needs.iter().cloned());
                command.ignore.extend(ecosystem.ignore.iter().cloned());
                if command.landlock.is_none() && !command.landlock_works {
                    command.landlock.clone_from(&ecosystem.landlock);
                }
            }
            Ok(ecosystem)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_enough_and_each_has_a_name_of_its_own() {
        let all = all().unwrap();
        assert!(all.len() >= 10);
        let names: Vec<&str> = all
            .iter()
            .flat_map(|ecosystem| &ecosystem.commands)
            .map(|command| command.name.as_str())
            .collect();
        assert!(names.len() >= 110, "{}", names.len());
        let unique: BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(unique.len(), names.len());
    }
}
