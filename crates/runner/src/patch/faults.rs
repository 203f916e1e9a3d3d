//! A fault at each step of applying a patch: the tree is as before, or as the patch says, and nothing else.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, HostFacts, Os, PolicyContext, WorkspaceRoot,
};

use super::apply::{Applied, apply_with};
use super::{Patch, PatchError};
use crate::files::{GuardedFiles, Step, Strength};

const PATCH: &[u8] = b"\
--- a/one
+++ b/one
@@ -1 +1 @@
-1
+one
--- /dev/null
+++ b/deep/er/new
@@ -0,0 +1 @@
+new
--- a/two
+++ b/two
@@ -1 +1 @@
-2
+two
diff --git a/three b/moved/three
rename from three
rename to moved/three
diff --git a/four b/four
deleted file mode 100644
--- a/four
+++ /dev/null
@@ -1 +0,0 @@
-4
";

struct Stage {
    directory: tempfile::TempDir,
    files: GuardedFiles,
    base: AbsolutePath,
}

fn stage(strength: Strength) -> Stage {
    let directory = tempfile::Builder::new()
        .prefix("palisade-faults-")
        .tempdir_in("/var/tmp")
        .unwrap();
    let path = directory.path().canonicalize().unwrap();
    for (name, content) in [
        ("one", "1\n"),
        ("two", "2\n"),
        ("three", "3\n"),
        ("four", "4\n"),
    ] {
        std::fs::write(path.join(name), content).unwrap();
    }
    let root = WorkspaceRoot::new(&path).unwrap();
    let home = AbsolutePath::new("/home/dev").unwrap();
    let context = PolicyContext::new(HostFacts::new(Os::Linux).with_home(home), root.clone());
    let policy = CanonicalSandboxPolicy::workspace_write([root.clone()]).resolve(&context);
    Stage {
        directory,
        files: GuardedFiles::new(policy.unwrap()).at_most(strength),
        base: root.path().clone(),
    }
}

fn tree(path: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        let content = path.is_file().then(|| std::fs::read(&path).unwrap());
        if content.is_none() {
            all.extend(tree(&path));
        }
        all.insert(path, content);
    }
    all
}

/// Applies the patch; the steps with these numbers fail.
fn apply_failing(stage: &Stage, fails: &[usize]) -> (Result<Applied, PatchError>, Vec<Step>) {
    let mut steps = Vec::new();
    let patch = Patch::parse(PATCH).unwrap();
    let result = apply_with(&patch, &stage.files, &stage.base, &mut |step| {
        steps.push(step);
        match fails.contains(&(steps.len() - 1)) {
            true => Err(io::Error::other("injected")),
            false => Ok(()),
        }
    });
    (result, steps)
}

fn below(stage: &Stage) -> BTreeMap<String, Option<Vec<u8>>> {
    let top = stage.directory.path().canonicalize().unwrap();
    let name = |path: PathBuf| path.strip_prefix(&top).unwrap().display().to_string();
    tree(&top)
        .into_iter()
        .map(|(path, content)| (name(path), content))
        .collect()
}

#[test]
fn a_fault_at_any_step_leaves_all_or_nothing() {
    // Six names change.
    fails_everywhere(Strength::Kernel, 6);
}

#[test]
fn a_fault_at_any_step_leaves_all_or_nothing_where_names_cannot_be_exchanged() {
    // Two of them in two steps.
    fails_everywhere(Strength::Checked, 8);
}

fn fails_everywhere(strength: Strength, commits: usize) {
    let whole = stage(strength);
    let before = below(&whole);
    let (result, steps) = apply_failing(&whole, &[]);
    result.unwrap();
    let after = below(&whole);
    let names: Vec<&String> = after.keys().collect();
    assert_eq!(
        names,
        [
            "deep",
            "deep/er",
            "deep/er/new",
            "moved",
            "moved/three",
            "one",
            "two"
        ]
    );
    // Three directories, four new files, four old files to forget.
    let count = |wanted: Step| steps.iter().filter(|step| **step == wanted).count();
    assert_eq!(count(Step::MakeDirectory), 3);
    assert_eq!(count(Step::Stage), 4);
    assert_eq!(count(Step::Commit), commits);
    assert_eq!(count(Step::Forget), 4);

    for (fail, step) in steps.iter().enumerate() {
        let stage = stage(strength);
        let (result, _) = apply_failing(&stage, &[fail]);
        if *step == Step::Forget {
            // Everything is done; what could not be removed is said.
            let applied = result.unwrap();
            assert_eq!(applied.leftovers.len(), 1);
            std::fs::remove_file(applied.leftovers[0].as_path()).unwrap();
            assert_eq!(below(&stage), after, "step {fail}");
        } else {
            let error = result.unwrap_err();
            assert!(matches!(error, PatchError::File(_)), "{error}");
            assert!(error.to_string().contains("injected"), "{error}");
            assert_eq!(below(&stage), before, "step {fail}: {step:?}");
        }
    }
}

#[test]
fn what_cannot_be_undone_is_named_with_its_old_content() {
    let (_, steps) = apply_failing(&stage(Strength::Kernel), &[]);
    let last = steps
        .iter()
        .rposition(|step| *step == Step::Commit)
        .unwrap();
    let stage = stage(Strength::Kernel);
    // The last rename fails, and then the first undoing.
    let (result, _) = apply_failing(&stage, &[last, last + 1]);
    let Err(PatchError::NotUndone { left, .. }) = result else {
        panic!("{result:?}");
    };
    assert_eq!(left.len(), 1);
    let (path, old) = &left[0];
    let name = path.as_path().file_name().unwrap().to_str().unwrap();
    let expected: &[u8] = match name {
        "four" => b"4\n",
        "three" => b"3\n",
        other => panic!("{other}"),
    };
    assert_eq!(std::fs::read(old.as_path()).unwrap(), expected);
}

#[test]
fn a_file_that_changes_meanwhile_is_noticed() {
    let stage = stage(Strength::Kernel);
    let victim = stage.directory.path().join("two");
    let patch = Patch::parse(PATCH).unwrap();
    let mut commits = 0;
    let result = apply_with(&patch, &stage.files, &stage.base, &mut |step| {
        commits += usize::from(step == Step::Commit);
        if commits == 1 {
            std::fs::write(&victim, "somebody else\n")?;
        }
        Ok(())
    });
    assert!(matches!(result, Err(PatchError::File(_))), "{result:?}");
    assert_eq!(std::fs::read(&victim).unwrap(), b"somebody else\n");
    let names: Vec<String> = below(&stage).into_keys().collect();
    assert_eq!(names, ["four", "one", "three", "two"]);
}
