//! What must hold whatever bytes arrive: one module for each fuzz target, with one function `run` that panics where a law
//! is broken.
//!
//! The targets in `fuzz_targets/` only hand bytes to these functions. So does the test below with every seed, on the
//! toolchain that everything else is built with: an input that once broke something is tried in every run of CI.

pub mod approvals;
pub mod canonical;
pub mod decision;
pub mod git_files;
pub mod helper_arguments;
pub mod helper_messages;
pub mod importers;
pub mod logs;
pub mod oracle;
pub mod patch;
mod pieces;
pub mod policy_file;
pub mod policy_json;
pub mod proxy_answers;
pub mod proxy_bodies;
pub mod proxy_hellos;
pub mod proxy_openings;
pub mod proxy_requests;
pub mod proxy_socks;
mod random_policy;
pub mod seatbelt_profile;
pub mod shell_analysis;
pub mod windows_files;

/// Every target by its name.
pub const TARGETS: &[(&str, fn(&[u8]))] = &[
    ("approvals", approvals::run),
    ("canonical", canonical::run),
    ("decision", decision::run),
    ("git_files", git_files::run),
    ("helper_arguments", helper_arguments::run),
    ("helper_messages", helper_messages::run),
    ("importers", importers::run),
    ("logs", logs::run),
    ("oracle", oracle::run),
    ("patch", patch::run),
    ("policy_file", policy_file::run),
    ("policy_json", policy_json::run),
    ("proxy_answers", proxy_answers::run),
    ("proxy_bodies", proxy_bodies::run),
    ("proxy_hellos", proxy_hellos::run),
    ("proxy_openings", proxy_openings::run),
    ("proxy_requests", proxy_requests::run),
    ("proxy_socks", proxy_socks::run),
    ("seatbelt_profile", seatbelt_profile::run),
    ("shell_analysis", shell_analysis::run),
    ("windows_files", windows_files::run),
];

/// Structured input from bytes: `None` if there are too few of them.
fn structured<'a, T: arbitrary::Arbitrary<'a>>(data: &'a [u8]) -> Option<T> {
    T::arbitrary_take_rest(arbitrary::Unstructured::new(data)).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::TARGETS;

    fn entries(folder: &str) -> Vec<PathBuf> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    fn names(folder: &str) -> BTreeSet<String> {
        let name = |path: PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        entries(folder).into_iter().map(name).collect()
    }

    #[test]
    fn every_target_is_here_and_has_seeds() {
        let targets: BTreeSet<String> =
            TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(targets, names("fuzz_targets"));
        assert_eq!(targets, names("seeds"));
    }

    /// A seed that breaks a law is named; the others are tried all the same.
    #[test]
    fn every_seed_keeps_every_law() {
        let mut broken = Vec::new();
        for (name, run) in TARGETS {
            let seeds = entries(&format!("seeds/{name}"));
            assert!(!seeds.is_empty(), "{name} has no seeds");
            for seed in seeds {
                let bytes = fs::read(&seed).unwrap();
                // What is printed by the panic says which law.
                if std::panic::catch_unwind(|| run(&bytes)).is_err() {
                    broken.push(seed.display().to_string());
                }
            }
        }
        assert!(broken.is_empty(), "{}", broken.join("\n"));
    }
}
