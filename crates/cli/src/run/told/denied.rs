//! What is said after the sandbox denied something: what, by which clause, how to run it again, how to keep it so.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use palisade::Evidence;
use palisade::runner::approve::visible;
use palisade::runner::evidence::grant_words;
use palisade::runner::policy::{Clause, GitAccess, Grant};

use super::line::Line;
use super::page::Page;
use crate::say::Tone;

/// What is said where no policy file can keep a grant.
const APPROVAL_ONLY: &str =
    "kept by an approval only: run it with --approval on-failure, and keep the grant when asked";

/// What keeps a grant is written into which file, and what stands there already.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lasting<'a> {
    /// The user's policy file.
    pub(crate) file: Option<&'a Path>,
    /// What may be written already, as the file says it.
    pub(crate) write: &'a [String],
    /// The command, for a rule about it.
    pub(crate) argv: &'a [OsString],
}

/// The page about a denial.
pub(crate) fn page(evidence: &[Evidence], line: &Line, lasting: &Lasting<'_>) -> Page {
    let mut lines = evidence.iter().map(said);
    let first = lines.next().unwrap_or_else(|| "something".to_owned());
    let mut page = Page::new("blocked", Tone::Careful, first);
    for line in lines {
        page = page.more(format!("and {line}"));
    }
    if evidence
        .iter()
        .any(|one| matches!(one, Evidence::Likely { .. }))
    {
        page = page.more("that is what the command itself named, so it is likely, not certain");
    }
    let grants = grants(evidence);
    if grants.is_empty() {
        return page.next(
            "nothing can be granted that would help; see why",
            "palisade why --last",
        );
    }
    let words: Vec<OsString> = grants.iter().flat_map(words).collect();
    let whole_network = grants.iter().any(|grant| matches!(grant, Grant::Host(_)));
    page = page.next(
        match whole_network {
            true => "run it again with the whole network (one host alone cannot be opened yet)",
            false => "run it again with just that",
        },
        line.with(&words),
    );
    page.next(
        match lasting.file {
            Some(file) => format!("keep it so, in {}", visible(&file.to_string_lossy())),
            None => "keep it so, in your policy file".to_owned(),
        },
        entries(&grants, evidence, lasting),
    )
}

/// One thing that was denied, and the clause.
fn said(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Likely {
            resource, clause, ..
        } => format!("{}: {}", visible(resource), visible(&clause.to_string())),
        Evidence::SystemCall => "a system call that the sandbox forbids".to_owned(),
        other => visible(&other.to_string()),
    }
}

/// The smallest grants that would help, each once.
fn grants(evidence: &[Evidence]) -> Vec<Grant> {
    let mut grants: Vec<Grant> = Vec::new();
    for one in evidence {
        if let Evidence::Likely {
            smallest_grant: Some(grant),
            ..
        } = one
            && !grants.contains(grant)
        {
            grants.push(grant.clone());
        }
    }
    // The wider access to git includes the narrower.
    let git = grants.iter().filter_map(|grant| match grant {
        Grant::Git(access) => Some(*access),
        _ => None,
    });
    if let Some(widest) = git.max() {
        grants.retain(|grant| !matches!(grant, Grant::Git(access) if *access < widest));
    }
    grants
}

/// The options that give a grant. One host cannot be opened alone yet, so the line that works opens all.
pub(super) fn words(grant: &Grant) -> Vec<OsString> {
    match grant {
        Grant::Host(_) => vec!["--net".into()],
        other => grant_words(other),
    }
}

/// What to write into a policy file.
fn entries(grants: &[Grant], evidence: &[Evidence], lasting: &Lasting<'_>) -> String {
    let mut lines = Vec::new();
    let guarded = |grant: &Grant| {
        evidence.iter().any(|one| {
            matches!(one, Evidence::Likely { clause, smallest_grant: Some(found), .. }
                if found == grant && !matches!(clause, Clause::OutsideRoots | Clause::ReadOnlyMode))
        })
    };
    let mut filesystem = Vec::new();
    let mut write: Vec<String> = lasting.write.to_vec();
    let mut rule = Vec::new();
    for grant in grants {
        match grant {
            Grant::Write(path) if !guarded(grant) => match path.as_path().to_str() {
                Some(path) => write.push(path.to_owned()),
                None => lines.push(
                    "# a path that is not Unicode can be kept by an approval only".to_owned(),
                ),
            },
            Grant::Git(access) => filesystem.push(format!("git = \"{}\"", git(*access))),
            Grant::Host(_) => {
                lines.extend(["[network]".to_owned(), "access = \"full\"".to_owned()])
            }
            Grant::Read(path) => rule.push(format!("read = [{}]", quoted(&path.to_string()))),
            Grant::Write(path) => rule.push(format!("write = [{}]", quoted(&path.to_string()))),
            _ => lines.push(format!(
                "# {}: {APPROVAL_ONLY}",
                visible(&grant.to_string())
            )),
        }
    }
    if write.len() > lasting.write.len() {
        let all: Vec<String> = write.iter().map(|path| quoted(path)).collect();
        filesystem.insert(0, format!("write = [{}]", all.join(", ")));
    }
    if !filesystem.is_empty() {
        lines.push("[filesystem]".to_owned());
        lines.extend(filesystem);
    }
    if !rule.is_empty() {
        lines.extend(of_rule(lasting.argv, &rule));
    }
    lines.join("\n")
}

/// A rule that gives a command, word for word, what a guard keeps from all: never a program whatever it does.
fn of_rule(argv: &[OsString], gives: &[String]) -> Vec<String> {
    let words: Option<Vec<&str>> = argv.iter().map(|word| word.to_str()).collect();
    let words = words.filter(|words| words.get(1).is_none_or(|word| *word != "-c"));
    let Some((program, words)) = words.as_deref().and_then(<[&str]>::split_first) else {
        return vec![format!("# {APPROVAL_ONLY}")];
    };
    let name = program.rsplit('/').next().unwrap_or(program);
    let prefix: Vec<String> = [program]
        .into_iter()
        .chain(words)
        .map(|word| quoted(word))
        .collect();
    vec![
        "[[rule]]".to_owned(),
        format!("id = {}", quoted(&format!("{name}-may"))),
        format!("prefix = [{}]", prefix.join(", ")),
        "decision = \"allow\"".to_owned(),
        format!("sandbox = {{ {} }}", gives.join(", ")),
    ]
}

const fn git(access: GitAccess) -> &'static str {
    match access {
        GitAccess::ReadOnly => "read-only",
        GitAccess::Commit => "commit",
        GitAccess::Full => "full",
    }
}

/// A TOML string in which nothing hides: the path in it is one that a command named.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            shown if visible(shown.encode_utf8(&mut [0; 4])).starts_with(shown) => {
                quoted.push(shown);
            }
            // Writing to a string cannot fail.
            hidden => {
                let _ = write!(quoted, "\\U{:08X}", u32::from(hidden));
            }
        }
    }
    quoted.push('"');
    quoted
}
