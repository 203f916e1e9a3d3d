//! Rules for the pure crates: they compute, and everything about the host arrives as a value.
//!
//! Clippy guards the calls, through the list of bans in each pure crate's own `clippy.toml`; here it is checked that
//! those lists are there and agree, and that the modules of the standard library that touch the host are not even
//! named.
//!
//! The backends for macOS and Windows are pure but for the folders that find facts and apply plans: what they decide is
//! the same wherever it is decided, so that it can be judged on a machine that is neither.

use std::path::Path;

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::Finding;
use super::lexer::{Kind, Token};
use super::source::Source;
use crate::files;

const PURE: &[&str] = &[MODEL, "shell-analysis", "exec-policy"];

/// Crates that are pure but for these folders of their `src`.
const PURE_BUT_FOR: &[(&str, &[&str])] = &[
    ("seatbelt", &["apply", "denials", "survey", "sys", "tree"]),
    (
        "windows-token",
        &["apply", "bin", "survey", "sys", "wrapper"],
    ),
];

/// The pure crate whose `clippy.toml` the others copy.
const MODEL: &str = "policy";

/// The keys of `clippy.toml` under which bans are listed.
const BANS: &[&str] = &["disallowed-types", "disallowed-methods"];

/// Modules and items that reach the host.
const BANNED: &[&str] = &[
    "std::env",
    "std::fs",
    "std::net::TcpListener",
    "std::net::TcpStream",
    "std::net::ToSocketAddrs",
    "std::net::UdpSocket",
    "std::os::fd",
    "std::os::unix::fs",
    "std::os::unix::io",
    "std::os::unix::net",
    "std::os::unix::process",
    "std::os::windows::fs",
    "std::os::windows::io",
    "std::os::windows::process",
    "std::process",
    "std::thread",
    "std::time::Instant",
    "std::time::SystemTime",
];

/// Checks the files around the code of each pure crate that exists.
pub(super) fn check_crates(root: &Path) -> Result<Vec<Finding>> {
    let shared = read_table(root, "clippy.toml")?;
    let model = read_table(root, &format!("crates/{MODEL}/clippy.toml"))?;
    let mut findings = Vec::new();
    for name in PURE
        .iter()
        .filter(|name| root.join("crates").join(name).is_dir())
    {
        let path = format!("crates/{name}/clippy.toml");
        if !root.join(&path).is_file() {
            findings.push(Finding::new(
                &path,
                1,
                "is missing: a pure crate bans what touches the host",
            ));
            continue;
        }
        let own = read_table(root, &path)?;
        let complaints = bans_complaints(&own, &shared, &model);
        findings.extend(
            complaints
                .into_iter()
                .map(|complaint| Finding::new(&path, 1, complaint)),
        );
    }
    Ok(findings)
}

/// Checks one source file if it is part of a pure crate, or of the pure part of another.
pub(super) fn check_source(source: &Source<'_>) -> Vec<Finding> {
    let Some(owner) = source.shipped_by() else {
        return Vec::new();
    };
    let whole = PURE.contains(&owner);
    if !whole && !is_pure_part(owner, source.path) {
        return Vec::new();
    }
    let what = if whole { "crate" } else { "module" };
    let mut findings = Vec::new();
    if whole
        && source.path.ends_with("/src/lib.rs")
        && !source.text.contains("\n#![forbid(unsafe_code)]")
    {
        findings.push(Finding::new(
            source.path,
            1,
            "lacks `#![forbid(unsafe_code)]`: a pure crate needs no `unsafe`",
        ));
    }
    for named in std_paths(&source.shipped_tokens()) {
        if let Some(complaint) = path_complaint(&named.path, what) {
            findings.push(Finding::new(source.path, named.line, complaint));
        }
    }
    findings
}

fn is_pure_part(owner: &str, path: &str) -> bool {
    let Some((_, touching)) = PURE_BUT_FOR.iter().find(|(name, _)| *name == owner) else {
        return false;
    };
    let inside = path.split("/src/").nth(1).unwrap_or_default();
    let folder = inside.split('/').next().unwrap_or_default();
    !touching.contains(&folder.strip_suffix(".rs").unwrap_or(folder))
}

fn read_table(root: &Path, path: &str) -> Result<Table> {
    files::read(&root.join(path))?
        .parse()
        .with_context(|| path.to_owned())
}

fn bans_complaints(own: &Table, shared: &Table, model: &Table) -> Vec<String> {
    let mut complaints = Vec::new();
    for (key, value) in shared {
        if own.get(key) != Some(value) {
            // Clippy reads only the nearest file.
            complaints.push(format!(
                "must repeat `{key} = {value}` of the root's clippy.toml"
            ));
        }
    }
    for key in BANS {
        match own.get(*key) {
            Some(Value::Array(bans)) if !bans.is_empty() => {}
            _ => complaints.push(format!("`{key}` bans nothing")),
        }
        if own.get(*key) != model.get(*key) {
            complaints.push(format!("`{key}` differs from that of crates/{MODEL}"));
        }
    }
    complaints
}

fn path_complaint(path: &str, what: &str) -> Option<String> {
    let is_inside = |path: &str, ban: &str| {
        path.strip_prefix(ban)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    if BANNED.iter().any(|ban| is_inside(path, ban)) {
        return Some(format!(
            "`{path}` in a pure {what}: what it would tell must arrive as a value"
        ));
    }
    // `use std::time;` and `use std::net::*;` would hide what comes after.
    let module = path.strip_suffix("::*").unwrap_or(path);
    let hidden = BANNED.iter().find(|ban| is_inside(ban, module))?;
    Some(format!(
        "`{path}` in a pure {what} could hide `{hidden}`: name each item in full"
    ))
}

/// A path of the standard library as the code names it.
struct NamedPath {
    path: String,
    line: usize,
}

/// All paths that start at `std`, with the groups of `use` declarations spelt out.
fn std_paths(tokens: &[Token<'_>]) -> Vec<NamedPath> {
    let mut paths = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.is("std") {
            let rest = tokens.get(at..).unwrap_or_default();
            let mut cursor = Cursor {
                rest,
                paths: &mut paths,
            };
            cursor.tree("");
        }
    }
    paths
}

/// Reads `a::{b, c::*, self as d}` and collects its leaves.
struct Cursor<'t, 'a> {
    rest: &'t [Token<'a>],
    paths: &'t mut Vec<NamedPath>,
}

impl Cursor<'_, '_> {
    fn tree(&mut self, prefix: &str) {
        let Some((first, rest)) = self.rest.split_first() else {
            return;
        };
        let line = first.line;
        if first.is("{") {
            self.rest = rest;
            self.group(prefix);
            return;
        }
        if first.kind != Kind::Word && !first.is("*") {
            self.leaf(prefix, line);
            return;
        }
        self.rest = rest;
        let path = match (prefix, first.text) {
            ("", name) => name.to_owned(),
            (prefix, "self") => prefix.to_owned(),
            (prefix, name) => format!("{prefix}::{name}"),
        };
        if self.skip(":") && self.skip(":") {
            self.tree(&path);
        } else {
            if self.skip("as") {
                self.rest = self.rest.get(1..).unwrap_or_default();
            }
            self.leaf(&path, line);
        }
    }

    fn group(&mut self, prefix: &str) {
        while !self.rest.is_empty() && !self.skip("}") {
            let before = self.rest.len();
            self.tree(prefix);
            if !self.skip(",") && self.rest.len() == before {
                // Not the code of a `use` after all; do not read on.
                return;
            }
        }
    }

    fn leaf(&mut self, path: &str, line: usize) {
        self.paths.push(NamedPath {
            path: path.to_owned(),
            line,
        });
    }

    fn skip(&mut self, text: &str) -> bool {
        match self.rest.split_first() {
            Some((first, rest)) if first.is(text) => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures;
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        fixtures::check(check_source, "crates/policy/src/model.rs", text, expected);
    }

    #[test]
    fn what_touches_the_host_is_found_however_it_is_named() {
        let expected = |path: &str| {
            format!("1: `{path}` in a pure crate: what it would tell must arrive as a value")
        };
        for (text, path) in [
            ("use std::fs;", "std::fs"),
            ("use std::fs as disk;", "std::fs"),
            (
                "use std::{collections::BTreeMap, fs::{self, File}};",
                "std::fs",
            ),
            ("use std::{io, env};", "std::env"),
            ("use ::std::process::Command;", "std::process::Command"),
            ("fn f() { std::thread::spawn(g); }", "std::thread::spawn"),
            (
                "fn f(x: Option<std::time::Instant>) {}",
                "std::time::Instant",
            ),
            (
                "use std::time::{Duration, SystemTime};",
                "std::time::SystemTime",
            ),
            ("fn f() { std::fs::read::<&str>(\"a\"); }", "std::fs::read"),
            (
                "use std::os::unix::{ffi::OsStrExt, net::UnixStream};",
                "std::os::unix::net::UnixStream",
            ),
        ] {
            let found = check_source(&Source::new("crates/exec-policy/src/a.rs", text));
            let first = found
                .first()
                .unwrap_or_else(|| panic!("nothing found in {text}"));
            assert_eq!(
                format!("{}: {}", first.line, first.message),
                expected(path),
                "{text}"
            );
        }
    }

    #[test]
    fn a_module_as_a_whole_could_hide_what_is_banned() {
        check(
            "use std::time;\nuse std::net::*;\nextern crate std as s;\n",
            &[
                "1: `std::time` in a pure crate could hide `std::time::Instant`: name each item in full",
                "2: `std::net::*` in a pure crate could hide `std::net::TcpListener`: name each item in full",
                "3: `std` in a pure crate could hide `std::env`: name each item in full",
            ],
        );
    }

    #[test]
    fn harmless_names_pass() {
        check(
            "//! Never `std::fs`.\nuse std::{fmt, path::{Path, PathBuf}, time::Duration};\n",
            &[],
        );
        check(
            "use std::net::{IpAddr, Ipv4Addr};\nuse std::os::unix::ffi::OsStrExt;\n",
            &[],
        );
        check("const A: &str = \"std::fs\"; // std::env\n", &[]);
        check(
            "use std::environment;\nstruct X { env: u8, fs: std::fmt::Error }\n",
            &[],
        );
    }

    #[test]
    fn tests_and_other_crates_may() {
        check("#[cfg(test)]\nmod tests {\n use std::fs;\n}\n", &[]);
        fixtures::check(
            check_source,
            "crates/policy/tests/it.rs",
            "use std::fs;",
            &[],
        );
        fixtures::check(
            check_source,
            "crates/runner/src/lib.rs",
            "use std::fs;",
            &[],
        );
    }

    #[test]
    fn backends_are_pure_but_for_what_touches_the_host() {
        let check = |path, expected: &[&str]| {
            fixtures::check(check_source, path, "use std::fs;\n", expected);
        };
        let expected = ["1: `std::fs` in a pure module: what it would tell must arrive as a value"];
        check("crates/seatbelt/src/lower/files.rs", &expected);
        check("crates/seatbelt/src/lib.rs", &expected);
        check("crates/seatbelt/src/survey/mod.rs", &[]);
        check("crates/seatbelt/src/tree/macos.rs", &[]);
        check("crates/windows-token/src/acl/ace.rs", &expected);
        check("crates/windows-token/src/plan/mod.rs", &expected);
        check("crates/windows-token/src/sys.rs", &[]);
        check(
            "crates/windows-token/src/bin/palisade-windows-sandbox.rs",
            &[],
        );
        check("crates/windows-token/tests/lower/main.rs", &[]);
        check("crates/linux-landlock/src/lower/mod.rs", &[]);
    }

    #[test]
    fn the_library_forbids_unsafe() {
        let check = |text, expected: &[&str]| {
            fixtures::check(check_source, "crates/policy/src/lib.rs", text, expected)
        };
        check("//! Doc.\n#![forbid(unsafe_code)]\n", &[]);
        check(
            "//! #![forbid(unsafe_code)]\n",
            &["1: lacks `#![forbid(unsafe_code)]`: a pure crate needs no `unsafe`"],
        );
    }

    #[test]
    fn bans_are_repeated_and_equal() {
        let table = |text: &str| text.parse::<Table>().unwrap();
        let shared = table("allow-panic-in-tests = true");
        let model = table(
            "disallowed-types = ['a']\ndisallowed-methods = ['b']\nallow-panic-in-tests = true",
        );
        assert!(bans_complaints(&model, &shared, &model).is_empty());
        let other = table("disallowed-types = []\ndisallowed-methods = ['b']");
        assert_eq!(
            bans_complaints(&other, &shared, &model),
            [
                "must repeat `allow-panic-in-tests = true` of the root's clippy.toml",
                "`disallowed-types` bans nothing",
                "`disallowed-types` differs from that of crates/policy",
            ]
        );
    }
}
