//! Step `snapshots`: none awaits review, none has outlived its test.

use std::path::Path;

use anyhow::Result;

use super::Outcome;
use crate::files;
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let mut failures = String::new();
    let mut reviewed = 0;
    for path in files::all(workspace.root())? {
        let name = files::relative(workspace.root(), &path);
        let complaint = if is_pending(&name) {
            Some("awaits review: `cargo insta review`, or delete it".to_owned())
        } else if name.ends_with(".snap") {
            reviewed += 1;
            orphaned(&files::read(&path)?, workspace.root())
        } else {
            None
        };
        if let Some(complaint) = complaint {
            failures.push_str(&format!("{name}: {complaint}\n"));
        }
    }
    if failures.is_empty() {
        Ok(Outcome::passed_with(format!("{reviewed} snapshots")))
    } else {
        Ok(Outcome::Failed(failures))
    }
}

/// Inline snapshots leave `.NAME.rs.pending-snap`, the others `NAME.snap.new`.
fn is_pending(name: &str) -> bool {
    name.ends_with(".snap.new") || name.ends_with(".pending-snap")
}

/// A snapshot names, from the root, the file whose test made it.
fn orphaned(snapshot: &str, root: &Path) -> Option<String> {
    match source(snapshot) {
        None => Some("names no `source:` in its header".to_owned()),
        Some(source) if root.join(source).is_file() => None,
        Some(source) => Some(format!("its test is gone: there is no {source}")),
    }
}

fn source(snapshot: &str) -> Option<&str> {
    let mut header = snapshot.lines().skip(1).take_while(|line| *line != "---");
    let source = header.find_map(|line| line.strip_prefix("source: "))?;
    Some(source.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNAPSHOT: &str = "---\nsource: src/main.rs\nexpression: text\n---\nsource: none\n";

    #[test]
    fn the_source_is_read_from_the_header_alone() {
        assert_eq!(source(SNAPSHOT), Some("src/main.rs"));
        assert_eq!(source("---\nexpression: text\n---\nsource: none\n"), None);
    }

    #[test]
    fn a_snapshot_without_its_source_is_an_orphan() {
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(orphaned(SNAPSHOT, package), None);
        assert_eq!(
            orphaned(SNAPSHOT, &package.join("src")).unwrap(),
            "its test is gone: there is no src/main.rs"
        );
    }

    #[test]
    fn both_kinds_of_pending_snapshots_are_known() {
        assert!(is_pending("crates/a/src/snapshots/x.snap.new"));
        assert!(is_pending("crates/a/src/.lib.rs.pending-snap"));
        assert!(!is_pending("crates/a/src/snapshots/x.snap"));
    }
}
