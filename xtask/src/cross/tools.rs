//! The tools that foreign targets need: where they are, and how to get those that are missing. Nothing is installed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Debian puts its compiler, which is used because it comes with the sources of the standard library.
const BIN: &str = "/usr/bin";

/// The C compiler for Windows.
pub(super) const MINGW: &str = "x86_64-w64-mingw32-gcc";

/// The oldest compiler that will do, which is the one that the workspace asks for.
const RUST_VERSION: &str = env!("CARGO_PKG_RUST_VERSION");

/// A tool, as far as somebody who lacks it is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    /// The system's `rustc` and `cargo`.
    Rust,
    /// The sources of the standard library, which is built for each target.
    Sources,
    /// The system's clippy.
    Clippy,
    /// A C compiler and a linker for Windows.
    Mingw,
    /// A C compiler that knows every target; some dependencies bring a little C and assembly.
    Clang,
    /// What runs programs for Windows.
    Wine,
}

impl Tool {
    /// Debian's packages.
    fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Rust => &["rustc-web", "cargo-web"],
            Self::Sources => &["rust-web-src"],
            Self::Clippy => &["rust-web-clippy"],
            Self::Mingw => &["gcc-mingw-w64-x86-64-win32"],
            Self::Clang => &["clang-14"],
            Self::Wine => &["wine64", "wine"],
        }
    }

    fn name(self) -> String {
        match self {
            Self::Rust => format!("{BIN}/rustc and {BIN}/cargo of {RUST_VERSION} or later"),
            Self::Sources => "the sources of the standard library".to_owned(),
            Self::Clippy => format!("{BIN}/cargo-clippy"),
            Self::Mingw => MINGW.to_owned(),
            Self::Clang => "clang".to_owned(),
            Self::Wine => "wine".to_owned(),
        }
    }

    fn is_here(self) -> bool {
        match self {
            Self::Rust => ["rustc", "cargo"].iter().all(|name| {
                says(&system(name), "--version").is_some_and(|said| is_new_enough(&said))
            }),
            Self::Sources => says(&system("rustc"), "--print=sysroot").is_some_and(|sysroot| {
                let lock = "lib/rustlib/src/rust/library/Cargo.lock";
                Path::new(sysroot.trim()).join(lock).is_file()
            }),
            Self::Clippy => ["cargo-clippy", "clippy-driver"]
                .iter()
                .all(|name| system(name).is_file()),
            Self::Mingw => on_path(MINGW).is_some(),
            Self::Clang => clang().is_some(),
            Self::Wine => ["wine", "wineserver"]
                .iter()
                .all(|name| on_path(name).is_some()),
        }
    }
}

/// Which of the tools are missing, and the line that installs them; nothing if all are here.
pub(super) fn missing(needed: &[Tool]) -> Option<String> {
    let missing: Vec<Tool> = needed
        .iter()
        .copied()
        .filter(|tool| !tool.is_here())
        .collect();
    (!missing.is_empty()).then(|| advice(&missing))
}

fn advice(missing: &[Tool]) -> String {
    let names: Vec<_> = missing.iter().map(|tool| tool.name()).collect();
    let packages: Vec<_> = missing
        .iter()
        .flat_map(|tool| tool.packages().iter().copied())
        .collect();
    format!(
        "no {}; `apt-get install --no-install-recommends {}` installs what is missing",
        names.join(", no "),
        packages.join(" ")
    )
}

/// A program of the system's toolchain.
pub(super) fn system(name: &str) -> PathBuf {
    Path::new(BIN).join(name)
}

/// The search path with the system's toolchain first, so that its parts find each other.
pub(super) fn search_path() -> OsString {
    let mut path = OsString::from(BIN);
    if let Some(rest) = std::env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    path
}

/// The newest clang on the search path, with or without a number in its name.
pub(super) fn clang() -> Option<PathBuf> {
    let names = folders().flat_map(|folder| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    });
    names
        .filter_map(|path| Some((clang_version(path.file_name()?.to_str()?)?, path)))
        .max()
        .map(|(_, path)| path)
}

/// The plain name is the system's choice and comes first; after it, the newest.
fn clang_version(name: &str) -> Option<u32> {
    match name.strip_prefix("clang")? {
        "" => Some(u32::MAX),
        version => version.strip_prefix('-')?.parse().ok(),
    }
}

fn on_path(name: &str) -> Option<PathBuf> {
    folders()
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

fn folders() -> impl Iterator<Item = PathBuf> {
    let path = search_path();
    std::env::split_paths(&path).collect::<Vec<_>>().into_iter()
}

fn says(program: &Path, argument: &str) -> Option<String> {
    let output = Command::new(program)
        .arg(argument)
        // Otherwise a compiler would be asked for the libraries of another.
        .env_remove("LD_LIBRARY_PATH")
        .output()
        .ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(said)
}

/// Whether `rustc 1.96.0 (...)` or the like is not older than what the workspace asks for.
fn is_new_enough(said: &str) -> bool {
    let version = said.split(' ').nth(1).unwrap_or_default();
    numbers(version) >= numbers(RUST_VERSION)
}

fn numbers(version: &str) -> Vec<u32> {
    version
        .split('.')
        .map_while(|part| part.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_with_the_line_that_installs_it() {
        assert_eq!(
            advice(&[Tool::Clang, Tool::Wine]),
            "no clang, no wine; `apt-get install --no-install-recommends clang-14 wine64 wine` installs what is missing"
        );
        assert_eq!(missing(&[]), None);
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(is_new_enough(
            "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)"
        ));
        assert!(is_new_enough("cargo 1.100.1"));
        assert!(is_new_enough("rustc 2.0.0"));
        assert!(!is_new_enough("rustc 1.63.0"));
        assert!(!is_new_enough("rustc 1.9.0"));
        assert!(!is_new_enough("error"));
    }

    #[test]
    fn the_newest_clang_is_preferred() {
        assert!(clang_version("clang") > clang_version("clang-19"));
        assert!(clang_version("clang-14") > clang_version("clang-9"));
        assert_eq!(clang_version("clang-tidy"), None);
        assert_eq!(clang_version("clang-cpp-14"), None);
        assert_eq!(clang_version("gcc"), None);
    }
}
