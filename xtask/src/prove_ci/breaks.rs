//! The ways to break the repository, as data.
//!
//! Edits append to files that will always exist, so that the breaks survive changes to the code they break. The ones
//! that make a hole in the sandbox cannot: where the code has moved on, they say so and have to follow it.

use anyhow::Result;

use super::specimen::Specimen;

pub(super) struct Break {
    pub(super) name: &'static str,
    /// The step that must fail, or one part of the step `cross` as `cross:PART`.
    pub(super) step: &'static str,
    /// What the step must say, so that it does not fail for another reason.
    pub(super) evidence: &'static str,
    /// An error means that the tree has nothing to break in this way.
    pub(super) edit: fn(&Specimen) -> Result<()>,
}

const LIB: &str = "crates/policy/src/lib.rs";
const EXTRA: &str = "crates/policy/src/prove_ci.rs";
/// A test that the step `unprivileged` runs.
const AS_NOBODY: &str = "crates/linux-landlock/tests/seccomp/main.rs";
/// The backend whose tests run under Wine.
const WINDOWS: &str = "crates/windows-token/src/lib.rs";

pub(super) const BREAKS: &[Break] = &[
    Break {
        name: "unformatted-line",
        step: "fmt",
        evidence: "prove_ci",
        edit: |specimen| specimen.append(LIB, "\nfn  prove_ci( ){}\n"),
    },
    Break {
        name: "clippy-warning",
        step: "clippy",
        evidence: "needless_return",
        edit: |specimen| {
            specimen.append(
                LIB,
                "\n/// Breaks.\npub fn prove_ci(x: u8) -> u8 {\n    return x;\n}\n",
            )
        },
    },
    Break {
        name: "banned-call-in-pure-crate",
        step: "clippy",
        evidence: "disallowed method `std::path::Path::exists`",
        edit: |specimen| {
            let text = "\n/// Breaks.\npub fn prove_ci(path: &std::path::Path) -> bool {\n    path.exists()\n}\n";
            specimen.append(LIB, text)
        },
    },
    Break {
        name: "undocumented-item",
        step: "clippy",
        evidence: "missing documentation",
        edit: |specimen| specimen.append(LIB, "\npub fn prove_ci() {}\n"),
    },
    Break {
        name: "failing-unit-test",
        step: "test",
        evidence: "prove_ci::fails",
        edit: |specimen| {
            let text = "\n#[cfg(test)]\nmod prove_ci {\n    #[test]\n    fn fails() {\n        assert_eq!(1, 2);\n    }\n}\n";
            specimen.append(LIB, text)
        },
    },
    Break {
        name: "stale-snapshot",
        step: "test",
        evidence: "prove_ci was here",
        edit: |specimen| {
            specimen.append(
                &specimen.first_file("crates", ".snap")?,
                "prove_ci was here\n",
            )
        },
    },
    Break {
        name: "test-that-needs-root",
        step: "unprivileged",
        evidence: "prove_ci::only_root",
        edit: |specimen| {
            let text = "\nmod prove_ci {\n    #[test]\n    fn only_root() {\n        assert!(rustix::process::geteuid().is_root());\n    }\n}\n";
            specimen.append(AS_NOBODY, text)
        },
    },
    Break {
        name: "protected-paths-writable",
        step: "escapes",
        evidence: "deviation: library, full: git-hooks-write (Write)",
        edit: |specimen| {
            specimen.replace(
                "crates/linux-landlock/src/init/mounts.rs",
                "mount_on_itself(path, READ_ONLY)",
                "mount_on_itself(path, 0)",
            )
        },
    },
    Break {
        name: "system-call-let-through",
        step: "escapes",
        evidence: "deviation: library, full: krn-keyctl (Write)",
        edit: |specimen| {
            specimen.replace(
                "crates/linux-landlock/src/seccomp/rules.rs",
                "profile.blocks(name);",
                "name != \"keyctl\" && profile.blocks(name);",
            )
        },
    },
    Break {
        name: "probe-expected-to-escape",
        step: "escapes",
        evidence: "deviation: library, full: krn-setns (Write)",
        edit: |specimen| {
            specimen.replace(
                "crates/probes/src/registry/kernel.rs",
                "attempt!(attempts::kernel::setns),\n    )",
                "attempt!(attempts::kernel::setns),\n    )\n    .full(crate::probe::Expected::Residue(\"prove_ci\"))",
            )
        },
    },
    Break {
        name: "placeholders-in-the-way-of-git",
        step: "useful",
        evidence: "command (full) git-clean: broken",
        edit: |specimen| {
            specimen.replace(
                "crates/linux-landlock/src/init/mounts.rs",
                "super::unseen::hide(plan, self.scratch()?);",
                "self.scratch()?;",
            )
        },
    },
    Break {
        name: "working-command-said-not-to",
        step: "useful",
        evidence: "command (full) gcc-run: works, though declared not to",
        edit: |specimen| {
            specimen.replace(
                "crates/conformance/src/useful/commands/c.toml",
                "name = \"gcc-run\"\n",
                "name = \"gcc-run\"\nnever = \"prove_ci\"\n",
            )
        },
    },
    Break {
        name: "deny-left-out-of-a-profile",
        step: "cross:models",
        evidence: "every_half_of_a_profile_is_enough ... FAILED",
        edit: |specimen| {
            specimen.replace(
                "crates/seatbelt/src/lower/files.rs",
                "rules.deny_writing(region, place.origin.tag());",
                "let _ = region;",
            )
        },
    },
    Break {
        name: "rules-of-a-profile-swapped",
        step: "cross:models",
        evidence: "every_half_of_a_profile_is_enough ... FAILED",
        edit: |specimen| {
            specimen.replace(
                "crates/seatbelt/src/lower/mod.rs",
                "[rules.allows, rules.denies].concat()",
                "[rules.denies, rules.allows].concat()",
            )
        },
    },
    Break {
        name: "parent-left-unpinned",
        step: "cross:models",
        evidence: "no_sequence_of_calls_reaches_what_is_denied ... FAILED",
        edit: |specimen| {
            specimen.replace(
                "crates/seatbelt/src/lower/files.rs",
                "if guarded || !places.may_replace(&above.path) {",
                "if !guarded && !places.may_replace(&above.path) {",
            )
        },
    },
    Break {
        name: "entry-left-out-of-a-plan",
        step: "cross:models",
        evidence: "what_is_denied_cannot_be_done ... FAILED",
        edit: |specimen| {
            specimen.replace(
                "crates/windows-token/src/lower/edits.rs",
                "capabilities.into_iter().map(deny).collect();",
                "capabilities.into_iter().skip(1).map(deny).collect();",
            )
        },
    },
    Break {
        name: "warning-on-windows-only",
        step: "cross:windows",
        evidence: "needless_return",
        edit: |specimen| {
            let text = "\n/// Breaks.\n#[cfg(windows)]\npub fn prove_ci(x: u8) -> u8 {\n    return x;\n}\n";
            specimen.append(LIB, text)
        },
    },
    Break {
        name: "warning-on-macos-only",
        step: "cross:macos",
        evidence: "needless_return",
        edit: |specimen| {
            let text = "\n/// Breaks.\n#[cfg(target_os = \"macos\")]\npub fn prove_ci(x: u8) -> u8 {\n    return x;\n}\n";
            specimen.append(LIB, text)
        },
    },
    Break {
        name: "error-on-msvc-only",
        step: "cross:msvc",
        evidence: "prove_ci was here",
        edit: |specimen| {
            let text = "\n#[cfg(target_env = \"msvc\")]\ncompile_error!(\"prove_ci was here\");\n";
            specimen.append(LIB, text)
        },
    },
    Break {
        name: "failing-test-under-wine",
        step: "cross:wine",
        evidence: "prove_ci::fails",
        edit: |specimen| {
            let text = "\n#[cfg(all(test, windows))]\nmod prove_ci {\n    #[test]\n    fn fails() {\n        assert_eq!(1, 2);\n    }\n}\n";
            specimen.append(WINDOWS, text)
        },
    },
    Break {
        name: "skip-under-wine",
        step: "cross:wine",
        evidence: "`skipped: prove_ci` is not a skip that is known under Wine",
        edit: |specimen| {
            let text = "\n#[cfg(all(test, windows))]\nmod prove_ci {\n    #[test]\n    fn skips() {\n        eprintln!(\"skipped: prove_ci\");\n    }\n}\n";
            specimen.append(WINDOWS, text)
        },
    },
    Break {
        name: "failing-doctest",
        step: "doctest",
        evidence: "prove_ci",
        edit: |specimen| {
            let text = "\n/// ```\n/// assert_eq!(1, 2);\n/// ```\npub fn prove_ci() {}\n";
            specimen.append(LIB, text)
        },
    },
    Break {
        name: "broken-doc-link",
        step: "docs",
        evidence: "unresolved link to `NoSuchItem`",
        edit: |specimen| specimen.append(LIB, "\n/// See [`NoSuchItem`].\npub fn prove_ci() {}\n"),
    },
    Break {
        name: "stale-generated-page",
        step: "generated",
        evidence: "docs/ci-steps.md is stale",
        edit: |specimen| specimen.append("docs/ci-steps.md", "By hand.\n"),
    },
    Break {
        name: "pending-snapshot",
        step: "snapshots",
        evidence: "prove_ci.snap.new: awaits review",
        edit: |specimen| {
            specimen.write(
                "crates/policy/src/snapshots/prove_ci.snap.new",
                "---\n---\n",
            )
        },
    },
    Break {
        name: "orphaned-snapshot",
        step: "snapshots",
        evidence: "there is no crates/policy/src/gone.rs",
        edit: |specimen| {
            let text = "---\nsource: crates/policy/src/gone.rs\n---\ntext\n";
            specimen.write("crates/policy/src/snapshots/prove_ci.snap", text)
        },
    },
    Break {
        name: "forbidden-licence",
        step: "licences",
        evidence: "is not allowed by deny.toml",
        edit: |specimen| specimen.replace("deny.toml", "\"Unicode-3.0\",", ""),
    },
    Break {
        name: "unsafe-in-pure-crate",
        step: "tidy",
        evidence: "`unsafe` outside of a `sys` module",
        edit: |specimen| specimen.append(LIB, "\nfn prove_ci() {\n    unsafe {}\n}\n"),
    },
    Break {
        name: "unsafe-not-forbidden",
        step: "tidy",
        evidence: "lacks `#![forbid(unsafe_code)]`",
        edit: |specimen| specimen.replace(LIB, "#![forbid(unsafe_code)]", ""),
    },
    Break {
        name: "std-fs-in-pure-crate",
        step: "tidy",
        evidence: "`std::fs` in a pure crate",
        edit: |specimen| specimen.append(LIB, "\nuse std::{fmt, fs};\n"),
    },
    Break {
        name: "std-fs-in-a-lowering",
        step: "tidy",
        evidence: "`std::fs` in a pure module",
        edit: |specimen| {
            specimen.append(
                "crates/seatbelt/src/lower/mod.rs",
                "\nuse std::{fmt, fs};\n",
            )
        },
    },
    Break {
        name: "bans-that-differ",
        step: "tidy",
        evidence: "must repeat `allow-panic-in-tests = true`",
        edit: |specimen| {
            specimen.replace(
                "crates/policy/clippy.toml",
                "allow-panic-in-tests = true",
                "",
            )
        },
    },
    Break {
        name: "missing-module-doc",
        step: "tidy",
        evidence: "prove_ci.rs:1: starts without a module doc",
        edit: |specimen| specimen.write(EXTRA, "fn prove_ci() {}\n"),
    },
    Break {
        name: "oversized-file",
        step: "tidy",
        evidence: "701 lines outside of tests",
        edit: |specimen| {
            specimen.write(EXTRA, &format!("//! Breaks.\n{}", "// More.\n".repeat(700)))
        },
    },
    Break {
        name: "unfinished-work",
        step: "tidy",
        evidence: "`todo!` is unfinished work",
        edit: |specimen| specimen.append(LIB, "\nfn prove_ci() {\n    todo!()\n}\n"),
    },
    Break {
        name: "checklist-without-its-test",
        step: "tidy",
        evidence: "no test `crates/policy/tests/it/mapping.rs::prove_ci`",
        edit: |specimen| {
            specimen.replace(
                "docs/checklist.md",
                "mapping.rs::read_only_full_maps_to_full_network",
                "mapping.rs::prove_ci",
            )
        },
    },
    Break {
        name: "ignored-test",
        step: "tidy",
        evidence: "an ignored test guards nothing",
        edit: |specimen| specimen.append(LIB, "\n#[test]\n#[ignore]\nfn prove_ci() {}\n"),
    },
    Break {
        name: "part-that-nobody-starts",
        step: "tidy",
        evidence: "no other test of this file starts `prove_ci`",
        edit: |specimen| {
            let text = "\n#[test]\n#[ignore = \"a part of other tests\"]\nfn prove_ci() {}\n";
            specimen.append(LIB, text)
        },
    },
    Break {
        name: "printing-library",
        step: "tidy",
        evidence: "`println!` in a library",
        edit: |specimen| specimen.append(LIB, "\nfn prove_ci() {\n    println!();\n}\n"),
    },
    Break {
        name: "front-page-without-terms",
        step: "tidy",
        evidence: "lacks a section `# Terms`",
        edit: |specimen| specimen.replace(LIB, "//! # Terms", "//! # Words"),
    },
    Break {
        name: "unexplained-member",
        step: "tidy",
        evidence: "a member without a comment",
        edit: |specimen| {
            specimen.replace(
                "Cargo.toml",
                "members = [\n",
                "members = [\n    \"crates/policy\",\n",
            )
        },
    },
    Break {
        name: "lints-not-inherited",
        step: "tidy",
        evidence: "lacks `[lints] workspace = true`",
        edit: |specimen| {
            specimen.replace("crates/policy/Cargo.toml", "[lints]\nworkspace = true", "")
        },
    },
    Break {
        name: "folder-of-one-machine",
        step: "tidy",
        evidence: "a folder of one machine",
        edit: |specimen| specimen.write("docs/prove_ci.md", &format!("See /ro{}x.\n", "ot/")),
    },
    Break {
        name: "third-party-type",
        step: "public-api",
        evidence: "palisade_policy::prove_ci names serde_json",
        edit: |specimen| {
            // Already a dependency of its tests, so the lock file stays as it is.
            let manifest = "crates/policy/Cargo.toml";
            specimen.replace(
                manifest,
                "[dependencies]\n",
                "[dependencies]\nserde_json.workspace = true\n",
            )?;
            specimen.append(
                LIB,
                "\n/// Leaks.\npub fn prove_ci(_: serde_json::Value) {}\n",
            )
        },
    },
    Break {
        name: "broken-fuzz-target",
        step: "fuzz",
        evidence: "prove_ci was here",
        edit: |specimen| {
            let target = specimen.first_file("fuzz/fuzz_targets", ".rs")?;
            specimen.append(&target, "compile_error!(\"prove_ci was here\");\n")
        },
    },
    Break {
        name: "seed-that-breaks-a-law",
        step: "fuzz",
        evidence: "prove_ci was here",
        edit: |specimen| {
            specimen.replace(
                "fuzz/src/policy_json.rs",
                "    survives::<SandboxPolicy>(data);\n",
                "    assert!(data.is_empty(), \"prove_ci was here\");\n    survives::<SandboxPolicy>(data);\n",
            )
        },
    },
    Break {
        name: "broken-benchmark",
        step: "bench",
        evidence: "prove_ci was here",
        edit: |specimen| {
            let benchmark = specimen.first_file("crates/policy/benches", ".rs")?;
            specimen.append(&benchmark, "compile_error!(\"prove_ci was here\");\n")
        },
    },
];
