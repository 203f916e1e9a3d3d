//! Which programs are here, and which of them CI has seen to.

use std::path::Path;
use std::process::{Command as Process, Stdio};

use super::list::Command;

/// What `.ci/run` installs, or every Debian has: strict CI takes none of these for absent.
pub(super) const INSTALLED: &[&str] = &[
    "ar",
    "bc",
    "bzip2",
    "cargo",
    "cmake",
    "curl",
    "dash",
    "ed",
    "fdfind",
    "flock",
    "g++",
    "gcc",
    "git",
    "jq",
    "make",
    "node",
    "npm",
    "npx",
    "patch",
    "perl",
    "ps",
    "python3",
    "python3-ensurepip",
    "rg",
    "rustc",
    "script",
    "sqlite3",
    "unzip",
    "vim",
    "xz",
    "zip",
    "zsh",
];

/// Those of these programs that are not here.
pub(super) fn missing<'a>(needed: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut needed: Vec<&str> = needed.map(String::as_str).collect();
    needed.sort_unstable();
    needed.dedup();
    needed.retain(|program| !is_here(program));
    needed
}

/// The first program that a command lacks.
pub(super) fn first(command: &Command, missing: &[&str]) -> Option<String> {
    let mut needs = command.needs.iter();
    needs
        .find(|program| missing.contains(&program.as_str()))
        .cloned()
}

/// Whether a program is here.
pub(crate) fn is_here(program: &str) -> bool {
    // Parts of Python that Debian packs apart.
    let module = match program {
        "python3-ensurepip" => Some("import ensurepip, venv"),
        "python3-pip" => Some("import pip"),
        _ => None,
    };
    if let Some(import) = module {
        let import = Process::new("/usr/bin/python3")
            .args(["-c", import])
            .stderr(Stdio::null())
            .status();
        return import.is_ok_and(|status| status.success());
    }
    super::PATH
        .split(':')
        .any(|directory| Path::new(directory).join(program).exists())
}

#[cfg(test)]
mod tests {
    use super::INSTALLED;

    /// Where a program has another name than what it comes in, and what every Debian has.
    const PACKAGES: &[(&str, &str)] = &[
        ("ar", "build-essential"),
        ("cargo", "cargo-web"),
        ("fdfind", "fd-find"),
        ("flock", ""),
        ("node", "nodejs"),
        ("npx", "npm"),
        ("ps", "procps"),
        ("python3-ensurepip", "python3-venv"),
        ("rg", "ripgrep"),
        ("rustc", "rustc-web"),
        ("script", ""),
        ("xz", "xz-utils"),
    ];

    #[test]
    fn ci_installs_what_strict_ci_takes_for_installed() {
        let script = include_str!("../../../../.ci/run");
        for program in INSTALLED {
            let package = PACKAGES.iter().find(|(name, _)| name == program);
            let package = package.map_or(*program, |(_, package)| package);
            let mut words = script.split(|c: char| c.is_whitespace() || "()\"$;".contains(c));
            assert!(
                package.is_empty() || words.any(|word| word == package),
                "{program}"
            );
        }
    }
}
