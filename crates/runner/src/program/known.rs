//! What the rules are told about programs.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use palisade_exec_policy::matching::Programs;
use palisade_policy::AbsolutePath;

use super::search::candidates;
use crate::host::real_path;

/// Places where anybody can put a program.
const ANYBODYS: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", "/private/tmp"];

/// What bare names mean for one command: its `PATH`, and what commands can write.
///
/// One of these is made for each evaluation: what it has looked up it remembers, so that the whole of a script is
/// judged on one state of the disk.
#[derive(Debug)]
pub struct PathPrograms {
    search_path: Option<OsString>,
    writable: Vec<PathBuf>,
    known: Mutex<HashMap<String, Option<PathBuf>>>,
}

impl PathPrograms {
    /// For a command with this `PATH`.
    #[must_use]
    pub fn new(search_path: Option<&OsStr>) -> Self {
        Self {
            search_path: search_path.map(OsStr::to_owned),
            writable: ANYBODYS.map(PathBuf::from).to_vec(),
            known: Mutex::default(),
        }
    }

    /// With directories that commands can write.
    #[must_use]
    pub fn with_writable<'p>(
        mut self,
        directories: impl IntoIterator<Item = &'p AbsolutePath>,
    ) -> Self {
        let directories = directories.into_iter();
        self.writable
            .extend(directories.map(|directory| directory.as_path().to_owned()));
        self
    }

    /// The file that rules are judged with.
    ///
    /// Usually that is the name under which it was found: pins of a policy name `/opt/homebrew/bin/git`, whatever that
    /// links to today. But a link to a file that commands can write is that file. And where an element of the search
    /// path depends on the directory, so does the answer, and scripts change directories: then it is a path that no
    /// rule allows.
    fn look(&self, name: &str) -> Option<PathBuf> {
        let mut unsure = false;
        for candidate in candidates(OsStr::new(name), self.search_path.as_deref()) {
            if candidate.relative {
                unsure = true;
                continue;
            }
            let Some(path) = found(candidate.path) else {
                continue;
            };
            if unsure {
                break;
            }
            let real = real_path(&path).ok();
            let real = real.filter(|real| self.is_writable(real));
            return Some(real.unwrap_or(path));
        }
        unsure.then(|| Path::new(".").join(name))
    }

    fn is_writable(&self, path: &Path) -> bool {
        self.writable.iter().any(|root| path.starts_with(root))
    }
}

impl Programs for PathPrograms {
    fn resolve(&self, name: &str) -> Option<PathBuf> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(name) {
            return found.clone();
        }
        let found = self.look(name);
        known.insert(name.to_owned(), found.clone());
        found
    }
}

/// Whether execvp would stop here. A file without permission is passed over, as execvp does.
#[cfg(unix)]
fn found(path: PathBuf) -> Option<PathBuf> {
    let there = super::resolve(path.as_os_str(), None, Path::new("/"));
    there.is_ok().then_some(path)
}

/// The file at a path, with the ending that Windows puts after a name.
#[cfg(windows)]
fn found(path: PathBuf) -> Option<PathBuf> {
    let there = super::resolve(path.as_os_str(), None, &path);
    there.ok().map(|judged| judged.path)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use palisade_exec_policy::language::{Layer, Source};
    use palisade_exec_policy::matching::{CommandFacts, PlaceFacts};
    use palisade_exec_policy::{RuleDecision, Rules};
    use palisade_policy::{HostFacts, Os};
    use palisade_shell_analysis::{Limits, Shell, analyze_script};

    use super::*;

    fn program(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The stage may be below a directory that anybody can write, so only what is handed in counts here.
    fn programs(path: &str, writable: &Path) -> PathPrograms {
        let writable = AbsolutePath::new(writable).unwrap();
        let mut programs = PathPrograms::new(Some(OsStr::new(path)));
        programs.writable.clear();
        programs.with_writable([&writable])
    }

    #[test]
    fn a_name_is_what_it_was_found_as_unless_commands_can_write_the_target() {
        let stage = tempfile::tempdir().unwrap();
        let at = stage.path().canonicalize().unwrap();
        program(&at.join("cellar/tool"));
        program(&at.join("project/tool"));
        fs::create_dir(at.join("bin")).unwrap();
        symlink(at.join("cellar/tool"), at.join("bin/good")).unwrap();
        symlink(at.join("project/tool"), at.join("bin/bad")).unwrap();
        let path = at.join("bin").display().to_string();
        let known = programs(&path, &at.join("project"));
        assert_eq!(known.resolve("good"), Some(at.join("bin/good")));
        assert_eq!(known.resolve("bad"), Some(at.join("project/tool")));
        assert_eq!(known.resolve("none"), None);
        fs::remove_file(at.join("bin/good")).unwrap();
        assert_eq!(
            known.resolve("good"),
            Some(at.join("bin/good")),
            "one state of the disk"
        );
    }

    #[test]
    fn a_relative_element_before_it_makes_a_name_unsure() {
        for path in [":/bin:/usr/bin", ".:/bin:/usr/bin", "bin:/bin:/usr/bin", ""] {
            let known = PathPrograms::new(Some(OsStr::new(path)));
            assert_eq!(known.resolve("sh"), Some(PathBuf::from("./sh")), "{path:?}");
        }
        let known = PathPrograms::new(Some(OsStr::new("/bin:/usr/bin:.")));
        assert!(known.resolve("sh").unwrap().is_absolute());
    }

    /// The whole way: a planted program does not get what a rule allows to the real one.
    #[test]
    fn rules_do_not_allow_a_program_that_commands_could_have_written() {
        let stage = tempfile::tempdir().unwrap();
        let at = stage.path().canonicalize().unwrap();
        program(&at.join("project/bin/sh"));
        let project = AbsolutePath::new(at.join("project")).unwrap();
        let place = PlaceFacts::new(&project, &HostFacts::new(Os::Linux));
        let text = "version = 1\n[[rule]]\nid = \"a\"\nprefix = [\"sh\"]\ndecision = \"allow\"\nwhy = \"x\"\n";
        let rules = Rules::load([Source::new(Layer::User, "user", text)], &place).unwrap();
        let analysis = analyze_script("sh run", Shell::Bash, &Limits::default());
        let judge = |path: &str| {
            let known = PathPrograms::new(Some(OsStr::new(path)));
            let facts = CommandFacts::new(&place).with_programs(&known);
            rules.evaluate(&analysis, &facts).rule_decision()
        };
        assert_eq!(judge("/usr/bin:/bin"), RuleDecision::Allow);
        let planted = at.join("project/bin").display().to_string();
        assert_eq!(
            judge(&format!("{planted}:/usr/bin:/bin")),
            RuleDecision::Prompt
        );
        assert_eq!(judge("bin:/usr/bin:/bin"), RuleDecision::Prompt);
    }
}
