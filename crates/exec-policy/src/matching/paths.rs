//! Where a word points, by its text alone: symbolic links are the sandbox's business.

use super::facts::{Names, PlaceFacts, starts_with};
use super::names::{self, folds_to};

/// A path from the file system's root, `.` and `..` resolved by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resolved<'a> {
    pub(crate) names: Vec<&'a [u8]>,
}

/// Resolves `text` against a directory. `~` is the home directory; the home of another user is nowhere.
pub(crate) fn resolve<'a>(base: &'a Names, place: &'a PlaceFacts, text: &'a [u8]) -> Resolved<'a> {
    let (start, rest): (Option<&'a Names>, &'a [u8]) = match text.first() {
        Some(b'/') => (None, text),
        Some(b'~') => {
            let end = text.iter().position(|&b| b == b'/').unwrap_or(text.len());
            let (user, rest) = text.split_at_checked(end).unwrap_or((text, b""));
            match (&place.home, user) {
                (Some(home), b"~") => (Some(home), rest),
                _ => (None, text),
            }
        }
        _ => (Some(base), text),
    };
    let mut names: Vec<&[u8]> = Vec::with_capacity(start.map_or(0, Vec::len) + 4);
    names.extend(start.into_iter().flatten().map(Vec::as_slice));
    for name in rest.split(|&b| b == b'/') {
        match name {
            b"" | b"." => {}
            b".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    Resolved { names }
}

impl Resolved<'_> {
    pub(crate) fn is_in_project(&self, place: &PlaceFacts) -> bool {
        starts_with(&self.names, &place.project)
    }

    /// Inside the project or another directory that the sandbox lets commands write.
    pub(crate) fn is_writable(&self, place: &PlaceFacts) -> bool {
        self.is_in_project(place)
            || place
                .writable
                .iter()
                .any(|directory| starts_with(&self.names, directory))
    }

    /// Holds a protected subpath, whatever directory that subpath is in: nested repositories have hooks too.
    pub(crate) fn is_protected(&self, place: &PlaceFacts) -> bool {
        let below = self.below(&place.project);
        place.protected.iter().any(|names| holds(below, names))
            || below.iter().any(|name| names::is_git_directory(name))
    }

    /// The names below `base`, or all of them if it lies elsewhere.
    fn below(&self, base: &Names) -> &[&[u8]] {
        if starts_with(&self.names, base) {
            self.names.get(base.len()..).unwrap_or_default()
        } else {
            &self.names
        }
    }

    /// Names something whose content is a secret.
    pub(crate) fn is_secret(&self, place: &PlaceFacts) -> bool {
        let in_project = self.is_in_project(place);
        let below_home = place
            .home
            .as_ref()
            .filter(|home| starts_with(&self.names, home))
            .map(|home| self.below(home));
        let listed = (below_home.is_some() || !in_project)
            && place.secrets.iter().any(|secret| {
                below_home.is_some_and(|below| begins(below, secret))
                    || (!in_project && holds(&self.names, secret))
            });
        listed
            || (!in_project && names::is_secret_pair(&self.names))
            || self
                .below(&place.project)
                .iter()
                .any(|name| names::is_secret(name))
            || names::is_system_secret(&self.names)
    }

    /// A private key or a store of credentials: what a person would not want read even once.
    pub(crate) fn is_private_key(&self, place: &PlaceFacts) -> bool {
        names::is_private_key(&self.names, !self.is_in_project(place))
    }

    /// The project itself.
    pub(crate) fn is_project(&self, place: &PlaceFacts) -> bool {
        self.names.len() == place.project.len() && self.is_in_project(place)
    }

    /// The file system's root, a directory of the system, a home directory, or what holds the project.
    pub(crate) fn is_system(&self, place: &PlaceFacts) -> bool {
        let holds_or_is = |path: &Names| {
            self.names.len() <= path.len()
                && self
                    .names
                    .iter()
                    .zip(path)
                    .all(|(name, theirs)| folds_to(name, theirs))
        };
        (holds_or_is(&place.project) && self.names.len() < place.project.len())
            || place.home.as_ref().is_some_and(holds_or_is)
            || names::is_system_directory(&self.names)
    }

    /// The home directory, what holds it, or something in it.
    pub(crate) fn touches_home(&self, place: &PlaceFacts) -> bool {
        place.home.as_ref().is_some_and(|home| {
            self.names
                .iter()
                .zip(home)
                .all(|(name, theirs)| folds_to(name, theirs))
        })
    }

    /// `.git` or something in it.
    pub(crate) fn is_git_internal(&self) -> bool {
        self.names.iter().any(|name| names::is_git_directory(name))
    }

    /// A file that a shell, git or the system runs or obeys by itself.
    pub(crate) fn is_startup_file(&self, place: &PlaceFacts) -> bool {
        let below_home = place
            .home
            .as_ref()
            .filter(|home| starts_with(&self.names, home))
            .map(|home| self.below(home));
        names::is_startup_file(&self.names, below_home, !self.is_in_project(place))
    }

    /// A device that is not harmless to write.
    pub(crate) fn is_device(&self) -> bool {
        names::is_device(&self.names)
    }
}

/// Whether a path begins with these lower-case names.
fn begins(path: &[&[u8]], names: &Names) -> bool {
    path.len() >= names.len()
        && path
            .iter()
            .zip(names)
            .all(|(name, lower)| folds_to(name, lower))
}

/// Whether these lower-case names stand next to each other anywhere in a path.
fn holds(path: &[&[u8]], names: &Names) -> bool {
    !names.is_empty()
        && path.windows(names.len()).any(|window| {
            window
                .iter()
                .zip(names)
                .all(|(name, lower)| folds_to(name, lower))
        })
}

#[cfg(test)]
mod tests {
    use palisade_policy::{AbsolutePath, HostFacts, Os};

    use super::*;

    fn place() -> PlaceFacts {
        let host = HostFacts::new(Os::Linux).with_home(AbsolutePath::new("/home/dev").unwrap());
        PlaceFacts::new(&AbsolutePath::new("/srv/app").unwrap(), &host)
    }

    #[test]
    fn words_are_judged_where_they_point() {
        let place = place();
        let at = |text: &'static str| resolve(&place.cwd, &place, text.as_bytes());
        for inside in [".", "src/lib.rs", "./a/../b", "/srv/app/x", "a/../../app/x"] {
            assert!(at(inside).is_in_project(&place), "{inside}");
        }
        for outside in [
            "..",
            "/",
            "~",
            "~/x",
            "a/../../x",
            "/srv/apple",
            "/SRV/app",
            "~dev/x",
        ] {
            assert!(!at(outside).is_in_project(&place), "{outside}");
        }
        for protected in [
            ".git/hooks/x",
            ".GIT/config",
            "GIT~1/hooks/x",
            "sub/.git",
            ".vscode/a",
            ".claude",
        ] {
            assert!(at(protected).is_protected(&place), "{protected}");
        }
        for fine in [".gitignore", ".github/workflows/ci.yml", "src/git"] {
            assert!(!at(fine).is_protected(&place), "{fine}");
        }
        for system in [
            "/",
            "..",
            "../..",
            "~",
            "/home",
            "/etc",
            "/usr/bin",
            "~/",
            "/home/dev/",
        ] {
            assert!(at(system).is_system(&place), "{system}");
        }
        for own in ["src", "target", "/srv/app/target", "~/x", "/srv/other/x"] {
            assert!(!at(own).is_system(&place), "{own}");
        }
    }

    #[test]
    fn secrets_are_known_by_place_and_by_name() {
        let place = place();
        let at = |text: &'static str| resolve(&place.cwd, &place, text.as_bytes());
        for secret in [
            ".env",
            ".env.local",
            "config/.ENV",
            "~/.ssh/config",
            "/home/other/.aws/x",
            "id_rsa",
            "/etc/shadow",
            "/proc/self/environ",
            "~/.npmrc",
            "deploy.pem",
            "~/.config/gh/hosts.yml",
        ] {
            assert!(at(secret).is_secret(&place), "{secret}");
        }
        for open in [
            ".env.example",
            "/etc/hosts",
            "src/env.rs",
            "id_rsa.pub",
            "environment",
            "keys.rs",
        ] {
            assert!(!at(open).is_secret(&place), "{open}");
        }
        for key in [
            "~/.ssh/id_ed25519",
            "/home/other/.ssh",
            "~/.gnupg/x",
            "/etc/shadow",
            "id_rsa",
        ] {
            assert!(at(key).is_private_key(&place), "{key}");
        }
        for not in ["~/.ssh/id_ed25519.pub", "~/.ssh/known_hosts", ".env"] {
            assert!(!at(not).is_private_key(&place), "{not}");
        }
        for startup in [
            "~/.bashrc",
            "/etc/profile.d/x.sh",
            "~/.ssh/authorized_keys",
            "~/.config/fish/config.fish",
        ] {
            assert!(at(startup).is_startup_file(&place), "{startup}");
        }
        for device in ["/dev/sda", "/dev/nvme0n1p1", "/dev/mem", "/dev/mapper/x"] {
            assert!(at(device).is_device(), "{device}");
        }
        for sink in ["/dev/null", "/dev/stdout", "/dev/tty", "/dev/fd/2"] {
            assert!(!at(sink).is_device(), "{sink}");
        }
    }
}
