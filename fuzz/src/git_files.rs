//! Files that a session leaves for others to read, and lists in which it chooses names: git's index, refs and logs, a
//! configuration, the kernel's lists of mounts and sockets.

use palisade_linux_landlock::untrusted::{
    head, hooks_in_configuration, index_paths, may_make_ref, mounts, packed_refs, reflog, sockets,
};

const MOST_REFS: usize = 100;

/// Reads the bytes as each of these files.
pub fn run(data: &[u8]) {
    for sha256 in [false, true] {
        index(data, sha256);
        if let Some(written) = reflog(data, sha256) {
            assert_eq!(
                reflog(written.as_bytes(), sha256),
                Some(written.clone()),
                "a log is written as it is read"
            );
            let lines = data.split(|byte| *byte == b'\n').count();
            assert!(written.lines().count() <= lines, "a line became two");
            assert!(!written.contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
        }
        if let Some(said) = head(data, sha256) {
            assert_eq!(head(said.as_bytes(), sha256), Some(said.clone()));
            assert!(!said.contains(char::is_control), "{said:?}");
        }
        let (names, _) = packed_refs(data, sha256, MOST_REFS);
        assert!(names.len() <= MOST_REFS);
        for name in names.iter().filter(|name| may_make_ref(name)) {
            safe_ref(name);
        }
    }
    if let Ok(name) = std::str::from_utf8(data)
        && may_make_ref(name)
    {
        safe_ref(name);
    }
    for path in hooks_in_configuration(data) {
        assert!(!path.is_empty() && !path.contains(&0));
    }
    let _ = mounts(data);
    let (paths, _) = sockets(data);
    assert!(paths.iter().all(|path| path.starts_with(b"/")));
}

/// What an index names is below the work tree and not in git's own directory, however that is spelled.
fn index(data: &[u8], sha256: bool) {
    for (path, stage) in index_paths(data, sha256).into_iter().flatten() {
        assert!(stage < 4);
        for part in path.split(|byte| *byte == b'/') {
            let lower = part.to_ascii_lowercase();
            assert!(!matches!(
                lower.as_slice(),
                b"" | b"." | b".." | b".git" | b"git~1"
            ));
            assert!(!part.contains(&0));
        }
    }
}

/// What a session may call a ref means nothing to a shell and leads to no other file.
fn safe_ref(name: &str) {
    assert!(name.starts_with("refs/"), "{name:?}");
    let parts: Vec<&str> = name.split('/').collect();
    assert!(
        !parts.contains(&"") && !parts.contains(&".") && !parts.contains(&".."),
        "{name:?}"
    );
    let means_something =
        |c: char| c.is_control() || c.is_whitespace() || "$`'\"\\;&|<>(){}[]*?~^:!".contains(c);
    assert!(!name.contains(means_something), "{name:?}");
    assert!(!name.ends_with(".lock") && !name.contains("/-"), "{name:?}");
}
