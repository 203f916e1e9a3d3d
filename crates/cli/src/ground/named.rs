//! Paths that a person types: from the current directory, with `..` where it leads.

use std::path::{Component, Path, PathBuf};

use crate::complaint::Complaint;

/// The absolute path that a flag names. A policy knows no `..`, so each is followed as the kernel would follow it: from
/// where the links before it lead. Links without a `..` behind them stay as they are.
///
/// # Errors
/// What stands before a `..` is not there, so nobody can tell where that leads.
pub(crate) fn absolute(flag: &str, path: &Path, cwd: &Path) -> Result<PathBuf, Complaint> {
    let mut found = PathBuf::new();
    for component in cwd.join(path).components() {
        match component {
            Component::ParentDir => {
                let real = std::fs::canonicalize(&found).map_err(|error| {
                    Complaint::usage(format!(
                        "{flag} {}: where `..` leads cannot be told: {}: {error}",
                        path.display(),
                        found.display()
                    ))
                    .help("name the directory without `..`, or make what stands before it")
                })?;
                if !real.is_dir() {
                    return Err(Complaint::usage(format!(
                        "{flag} {}: where `..` leads cannot be told: {} is no directory",
                        path.display(),
                        found.display()
                    )));
                }
                found = real.parent().unwrap_or(&real).to_owned();
            }
            Component::CurDir => {}
            other => found.push(other),
        }
    }
    Ok(found)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn it_leads_where_the_kernel_would_go() {
        let stage = tempfile::tempdir().unwrap();
        let stage = std::fs::canonicalize(stage.path()).unwrap();
        let project = stage.join("project");
        std::fs::create_dir_all(stage.join("far/away")).unwrap();
        std::fs::create_dir(&project).unwrap();
        std::fs::write(project.join("file"), "").unwrap();
        std::os::unix::fs::symlink(stage.join("far/away"), project.join("link")).unwrap();
        let led = |path: &str| absolute("-w", Path::new(path), &project).map_err(|why| why.what);
        for (path, leads) in [
            ("../x", "x"),
            ("..", ""),
            ("./a/./b", "project/a/b"),
            ("../project/../x/y", "x/y"),
            ("link", "project/link"),
            ("link/../x", "far/x"),
        ] {
            let leads = stage.join(leads);
            assert_eq!(
                led(path).unwrap(),
                leads.components().collect::<PathBuf>(),
                "{path}"
            );
        }
        assert_eq!(led("/../..").unwrap(), Path::new("/"));
        for path in ["missing/../x", "file/../x"] {
            let why = led(path).unwrap_err();
            assert!(
                why.starts_with(&format!("-w {path}: where `..` leads")),
                "{why}"
            );
        }
    }
}
