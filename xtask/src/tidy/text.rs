//! Rules for every text file: it names no host and no folder that only one machine knows.

use super::Finding;

/// Each in two pieces, so that this file does not name what it forbids.
///
/// Where packages come from is for Cargo's configuration, so that a mirror can take the registry's place.
const HOSTS: &[(&str, &str)] = &[
    ("static.", "crates.io"),
    ("index.", "crates.io"),
    ("registry.", "npmjs"),
    ("pypi", ".org"),
    ("deb.", "debian.org"),
];

/// The beginnings of absolute paths.
const FOLDERS: &[(&str, &str)] = &[("/wo", "rk/"), ("/ro", "ot/"), ("/tmp", "/wt")];

pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        for host in joined(HOSTS).filter(|host| line.contains(host)) {
            findings.push(Finding::new(
                path,
                number,
                format!("names the host `{host}`: leave that to configuration"),
            ));
        }
        for folder in joined(FOLDERS).filter(|folder| names_folder(line, folder)) {
            findings.push(Finding::new(
                path,
                number,
                format!("names `{folder}`, a folder of one machine"),
            ));
        }
    }
    findings
}

fn joined(pieces: &[(&str, &str)]) -> impl Iterator<Item = String> {
    pieces.iter().map(|(start, end)| format!("{start}{end}"))
}

/// Whether an absolute path starts with the folder, as opposed to having it somewhere inside.
fn names_folder(line: &str, folder: &str) -> bool {
    let continues_a_path = |char: char| char.is_alphanumeric() || "_-.~*$)}>]".contains(char);
    line.match_indices(folder).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        !before.is_some_and(continues_a_path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        check("docs/page.md", text)
            .iter()
            .map(Finding::to_string)
            .collect()
    }

    #[test]
    fn hosts_are_found() {
        let text = format!("a\nsee https://pypi{}/x\n", ".org");
        let expected = format!(
            "docs/page.md:2: names the host `pypi{}`: leave that to configuration",
            ".org"
        );
        assert_eq!(messages(&text), [expected]);
    }

    #[test]
    fn folders_are_found_only_at_the_start_of_a_path() {
        let folder = format!("/wo{}", "rk/");
        for start in ["", "`", "\"", "path=", "file://", "a "] {
            assert_eq!(messages(&format!("{start}{folder}x")).len(), 1, "{start}");
        }
        for start in ["/home/me", "$HOME", "..", "~", "{root}"] {
            assert!(messages(&format!("{start}{folder}x")).is_empty(), "{start}");
        }
    }
}
