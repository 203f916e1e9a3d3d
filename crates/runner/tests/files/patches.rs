//! Patches as people, `git` and `diff` write them, applied to real files.

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use palisade_policy::Clause;
use palisade_runner::files::FileError;
use palisade_runner::patch::{Applied, ConflictProblem, ParseProblem, Patch, PatchError, apply};

use crate::support::{Stage, contents, refused, tree};

fn apply_to(stage: &Stage, patch: &[u8]) -> Result<Applied, PatchError> {
    apply(&Patch::parse(patch)?, &stage.files(), &stage.path(""))
}

fn put(stage: &Stage, name: &str, content: &[u8]) {
    let path = stage.workspace.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn get(stage: &Stage, name: &str) -> Vec<u8> {
    std::fs::read(stage.workspace.join(name)).unwrap()
}

fn problem(patch: &[u8]) -> ParseProblem {
    Patch::parse(patch).unwrap_err().problem
}

#[test]
fn a_plain_diff_changes_a_file() {
    let stage = Stage::new();
    put(&stage, "notes", b"one\ntwo\nthree\n");
    let patch = b"some text\n--- notes\t2020-01-01\n+++ notes\t2020-01-02\n@@ -1,3 +1,3 @@ title\n one\n-two\n+2\n three\n";
    let applied = apply_to(&stage, patch).unwrap();
    assert_eq!(applied.to_string(), "M notes\n");
    assert_eq!(get(&stage, "notes"), b"one\n2\nthree\n");
}

#[test]
fn lines_that_moved_are_found_and_reported() {
    let stage = Stage::new();
    put(&stage, "notes", b"new\nnew\none\ntwo\nthree\n");
    let patch = b"--- a/notes\n+++ b/notes\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    let applied = apply_to(&stage, patch).unwrap();
    assert_eq!(applied.to_string(), "M notes; hunk 1 at line 3 (+2)\n");
    assert_eq!(applied.files[0].hunks[0].offset, 2);
    assert_eq!(get(&stage, "notes"), b"new\nnew\none\n2\nthree\n");
}

#[test]
fn context_is_never_fuzzy() {
    let stage = Stage::new();
    let patch = b"--- a/notes\n+++ b/notes\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    let nearly: [&[u8]; 5] = [
        b"one \ntwo\nthree\n",
        b"one\r\ntwo\r\nthree\r\n",
        b"one\ntwo\nthree",
        b"one\ntwo\n",
        b"",
    ];
    for content in nearly {
        put(&stage, "notes", content);
        match apply_to(&stage, patch) {
            Err(PatchError::Conflict(conflict)) => {
                assert_eq!(conflict.problem, ConflictProblem::NotFound);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(get(&stage, "notes"), content);
    }
}

#[test]
fn two_places_equally_near_are_refused() {
    let stage = Stage::new();
    put(&stage, "notes", b"a\nx\nb\nx\nc\n");
    let patch = b"--- a/notes\n+++ b/notes\n@@ -3 +3 @@\n-x\n+y\n";
    match apply_to(&stage, patch) {
        Err(PatchError::Conflict(conflict)) => {
            assert_eq!(
                conflict.problem,
                ConflictProblem::Ambiguous {
                    first: 2,
                    second: 4
                }
            );
            assert!(
                conflict.to_string().contains("line 3 of the patch"),
                "{conflict}"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn bytes_stay_bytes() {
    let stage = Stage::new();
    put(&stage, "notes", b"caf\xe9\r\nkeep\r\n\x00end");
    let patch = b"--- a/notes\n+++ b/notes\n@@ -1,3 +1,3 @@\n-caf\xe9\r\n+caf\xc3\xa9\r\n keep\r\n-\x00end\n\\ No newline at end of file\n+\x00END\n\\ No newline at end of file\n";
    apply_to(&stage, patch).unwrap();
    assert_eq!(get(&stage, "notes"), b"caf\xc3\xa9\r\nkeep\r\n\x00END");
}

#[test]
fn a_line_is_never_joined_to_one_without_an_end() {
    let stage = Stage::new();
    put(&stage, "notes", b"one");
    let patch = b"--- a/notes\n+++ b/notes\n@@ -1,0 +2 @@\n+two\n";
    match apply_to(&stage, patch) {
        Err(PatchError::Conflict(conflict)) => {
            assert_eq!(conflict.problem, ConflictProblem::JoinsLines)
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(get(&stage, "notes"), b"one");
}

#[test]
fn git_headers_make_remove_rename_copy_and_change_modes() {
    let stage = Stage::new();
    put(&stage, "old", b"one\n");
    put(&stage, "gone", b"x\n");
    put(&stage, "empty", b"");
    put(&stage, "tool", b"#!/bin/sh\n");
    put(&stage, "swap1", b"1\n");
    put(&stage, "swap2", b"2\n");
    std::fs::set_permissions(
        stage.workspace.join("old"),
        std::fs::Permissions::from_mode(0o600),
    )
    .unwrap();
    let patch = b"\
diff --git a/old b/deep/er/new name
similarity index 50%
rename from old
rename to deep/er/new name
--- a/old\t
+++ b/deep/er/new name\t
@@ -1 +1,2 @@
 one
+two
diff --git a/gone b/gone
deleted file mode 100644
index 587be6b..0000000
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/empty b/empty
deleted file mode 100644
index e69de29..0000000
diff --git a/made empty b/made empty
new file mode 100644
index 0000000..e69de29
diff --git a/script b/script
new file mode 100755
--- /dev/null
+++ b/script
@@ -0,0 +1 @@
+#!/bin/sh
diff --git a/tool b/tool
old mode 100644
new mode 100755
diff --git a/swap1 b/swap2
similarity index 100%
rename from swap1
rename to swap2
diff --git a/swap2 b/swap1
similarity index 100%
rename from swap2
rename to swap1
diff --git a/tool b/tool copy
similarity index 100%
copy from tool
copy to tool copy
diff --git \"a/tab\\there\" \"b/tab\\there\"
new file mode 100644
--- /dev/null
+++ \"b/tab\\there\"
@@ -0,0 +1 @@
+quoted
-- \n2.47.3

";
    let parsed = Patch::parse(patch).unwrap();
    let paths: Vec<String> = parsed.paths().map(ToString::to_string).collect();
    assert_eq!(
        paths,
        [
            "deep/er/new name",
            "empty",
            "gone",
            "made empty",
            "old",
            "script",
            "swap1",
            "swap2",
            "tab\there",
            "tool",
            "tool copy",
        ],
    );
    let applied = apply_to(&stage, patch).unwrap();
    assert!(
        applied.to_string().starts_with(
            "R old -> deep/er/new name\nD gone\nD empty\nA made empty\nA script\nM tool\n"
        ),
        "{applied}"
    );
    assert_eq!(get(&stage, "deep/er/new name"), b"one\ntwo\n");
    assert_eq!(get(&stage, "made empty"), b"");
    assert_eq!(
        (get(&stage, "swap1"), get(&stage, "swap2")),
        (b"2\n".to_vec(), b"1\n".to_vec())
    );
    assert_eq!(get(&stage, "tab\there"), b"quoted\n");
    assert_eq!(get(&stage, "tool copy"), b"#!/bin/sh\n");
    for name in ["old", "gone", "empty"] {
        assert!(!stage.workspace.join(name).exists(), "{name}");
    }
    let mode = |name: &str| {
        stage
            .workspace
            .join(name)
            .metadata()
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(mode("deep/er/new name"), 0o600);
    assert_eq!(mode("tool") & 0o100, 0o100);
    assert_eq!(mode("script") & 0o100, 0o100);
    assert_eq!(
        std::fs::read_dir(stage.workspace.join("deep/er"))
            .unwrap()
            .count(),
        1
    );
}

#[test]
fn what_is_no_patch_or_no_patch_of_ours_says_so() {
    assert_eq!(problem(b""), ParseProblem::Empty);
    assert_eq!(problem(b"hello\n"), ParseProblem::Empty);
    assert_eq!(problem(b"@@ -1 +1 @@\n-a\n+b\n"), ParseProblem::StrayHunk);
    let file = |rest: &str| format!("--- a/x\n+++ b/x\n{rest}").into_bytes();
    assert_eq!(
        problem(&file("@@ -1,2 +1 @@\n-a\n+b\n")),
        ParseProblem::Counts("fewer")
    );
    assert_eq!(
        problem(&file("@@ -1 +1 @@\n-a\n+b\n+c\n")),
        ParseProblem::Counts("more")
    );
    assert_eq!(
        problem(&file("@@ -1 +1 @@\n-a\n+b\n\n c\n")),
        ParseProblem::Counts("more")
    );
    assert_eq!(
        problem(&file("@@ -1 +1,2 @@\n-a\n+b\nc\n")),
        ParseProblem::BadLine
    );
    assert_eq!(
        problem(&file(
            "@@ -1 +1,2 @@\n-a\n+b\n\\ No newline at end of file\n+c\n"
        )),
        ParseProblem::MisplacedMarker
    );
    assert_eq!(
        problem(&file("@@ -5 +5 @@\n-a\n+b\n@@ -2 +2 @@\n-a\n+b\n")),
        ParseProblem::Order
    );
    assert!(matches!(
        problem(&file("@@ -x +1 @@\n-a\n+b\n")),
        ParseProblem::BadHeader { .. }
    ));
    assert!(matches!(problem(&file("")), ParseProblem::BadHeader { .. }));
    for name in [
        "/etc/passwd",
        "../up",
        "a/../../up",
        "x/..",
        ".",
        "\"nul\\000\"",
    ] {
        let text = format!("--- /dev/null\n+++ {name}\n@@ -0,0 +1 @@\n+x\n");
        assert!(
            matches!(problem(text.as_bytes()), ParseProblem::BadName { .. }),
            "{name}"
        );
    }
    assert_eq!(
        problem(b"diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 1\n"),
        ParseProblem::Binary
    );
    assert_eq!(
        problem(b"diff --git a/x b/x\nBinary files a/x and b/x differ\n"),
        ParseProblem::Binary
    );
    assert_eq!(
        problem(b"Binary files x and y differ\n"),
        ParseProblem::Binary
    );
    assert!(matches!(problem(b"diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of file\n"), ParseProblem::Unsupported { what: "symbolic links" }));
    assert!(matches!(
        problem(b"diff --git a/x b/x\nindex 1..2 160000\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"),
        ParseProblem::Unsupported { what: "submodules" }
    ));
    assert!(matches!(
        problem(b"diff --cc x\n"),
        ParseProblem::Unsupported { what: "merges" }
    ));
    assert!(matches!(
        problem(b"diff --git a/x b/x\nnew file mode 104755\n"),
        ParseProblem::BadHeader { .. }
    ));
    assert!(matches!(problem(b"diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/z\n@@ -1 +1 @@\n-a\n+b\n"), ParseProblem::BadHeader { .. }));
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    let twice = format!("--- a/x\n+++ b/x\n{hunk}--- a/x\n+++ b/x\n{hunk}");
    assert!(matches!(problem(twice.as_bytes()), ParseProblem::Twice(_)));
    let large = vec![b'x'; Patch::MAX_BYTES + 1];
    assert!(matches!(problem(&large), ParseProblem::TooLarge { .. }));
    assert_eq!(
        Patch::parse(&file("@@ -1 +1 @@\n-a\n+b\n?\n@@ -2 +2 @@\n"))
            .unwrap_err()
            .line,
        7
    );
}

#[test]
fn one_path_that_the_policy_refuses_refuses_all() {
    let stage = Stage::new();
    symlink(&stage.outside, stage.workspace.join("out")).unwrap();
    let before = tree(&stage.top);
    for name in [
        ".git/hooks/pre-commit",
        ".palisade/x",
        "out/new",
        "out/below/new",
    ] {
        let patch = format!(
            "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1 +1 @@\n-inside\n+changed\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+x\n",
        );
        match apply_to(&stage, patch.as_bytes()) {
            Err(PatchError::File(error)) => {
                let refusal = refused::<()>(Err(error));
                assert!(
                    matches!(
                        refusal.clause(),
                        Clause::Protected(_) | Clause::OutsideRoots
                    ),
                    "{refusal}"
                );
            }
            other => panic!("{name}: {other:?}"),
        }
        assert_eq!(tree(&stage.top), before, "{name}");
    }
}

#[test]
fn a_file_that_is_a_link_missing_or_there_already_refuses_all() {
    let stage = Stage::new();
    symlink("src/lib.rs", stage.workspace.join("link")).unwrap();
    put(&stage, "there", b"x\n");
    let before = tree(&stage.top);
    let first = "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1 +1 @@\n-inside\n+changed\n";
    let tail = |text: &str| apply_to(&stage, format!("{first}{text}").as_bytes());
    assert!(matches!(
        tail("--- a/link\n+++ b/link\n@@ -1 +1 @@\n-inside\n+x\n"),
        Err(PatchError::File(FileError::LinkAtEnd { .. }))
    ));
    assert!(matches!(
        tail("--- a/none\n+++ b/none\n@@ -1 +1 @@\n-inside\n+x\n"),
        Err(PatchError::File(FileError::Missing { .. }))
    ));
    assert!(matches!(
        tail("--- /dev/null\n+++ b/there\n@@ -0,0 +1 @@\n+x\n"),
        Err(PatchError::File(FileError::Exists { .. }))
    ));
    let copy = "diff --git a/there b/src/lib.rs\ncopy from there\ncopy to src/lib.rs\n";
    assert!(matches!(
        apply_to(&stage, copy.as_bytes()),
        Err(PatchError::File(FileError::Exists { .. }))
    ));
    match tail("--- a/there\n+++ /dev/null\n@@ -2 +0,0 @@\n-y\n") {
        Err(PatchError::Conflict(conflict)) => {
            assert_eq!(conflict.problem, ConflictProblem::NotFound)
        }
        other => panic!("{other:?}"),
    }
    // Two names for the same file in one patch: neither is changed.
    symlink("src", stage.workspace.join("second")).unwrap();
    let twice = tail("--- a/second/lib.rs\n+++ b/second/lib.rs\n@@ -1 +1 @@\n-inside\n+other\n");
    assert!(
        matches!(twice, Err(PatchError::File(FileError::Unstable { .. }))),
        "{twice:?}"
    );
    std::fs::remove_file(stage.workspace.join("second")).unwrap();
    assert_eq!(tree(&stage.top), before);
}

/// What the real git says, and what it would apply.
fn git(directory: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = std::process::Command::new("git")
        .current_dir(directory)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", "/nonexistent")
        .args(["-c", "user.name=Dev", "-c", "user.email=dev@example.org"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        output.status.code() < Some(2),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

#[test]
fn a_patch_series_of_git_applies_as_git_applies_it() {
    let stage = Stage::new();
    let work = stage.top.join("work");
    std::fs::create_dir(&work).unwrap();
    std::fs::remove_dir_all(stage.workspace.join("src")).unwrap();
    git(&work, &["init", "-q"]);
    let write = |name: &[u8], content: &[u8]| {
        let path = work.join(Path::new(std::ffi::OsStr::from_bytes(name)));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    };
    let lines: Vec<u8> = (0..60)
        .flat_map(|i| format!("line {i}\n").into_bytes())
        .collect();
    write(b"dir/long", &lines);
    write(b"sp ace", b"x\n");
    write(b"b/a/b", b"x\n");
    write(b"caf\xe9 \"q\"", b"latin\n");
    write(b"crlf", b"a\r\nb\r\n");
    git(&work, &["add", "-A"]);
    git(
        &work,
        &["-c", "core.autocrlf=false", "commit", "-qm", "one"],
    );
    for (name, content) in contents(&work) {
        if !name.starts_with(".git") {
            let to = stage.workspace.join(&name);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::write(to, content).unwrap();
        }
    }
    let changed = String::from_utf8(lines)
        .unwrap()
        .replace("line 7\n", "")
        .replace("line 50\n", "fifty\n50\n");
    write(b"dir/moved", changed.as_bytes());
    std::fs::remove_file(work.join("dir/long")).unwrap();
    write(b"sp ace", b"x\ny");
    write(b"b/a/b", b"");
    write(b"caf\xe9 \"q\"", b"latin\xff\n");
    write(b"crlf", b"a\r\nB\r\n");
    write(b"new\nline", b"n\n");
    git(&work, &["add", "-A"]);
    git(
        &work,
        &["commit", "-qm", "two\n\n+not a hunk\n--- nor this\n"],
    );
    let patch = git(&work, &["format-patch", "--stdout", "-M", "-1"]);
    let applied = apply_to(&stage, &patch)
        .unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&patch)));
    assert!(
        applied.to_string().contains("R dir/long -> dir/moved"),
        "{applied}"
    );
    let without_git = |directory: &Path| {
        let mut all = contents(directory);
        all.retain(|name, _| !name.starts_with(".git"));
        all
    };
    assert_eq!(without_git(&stage.workspace), without_git(&work));
}
