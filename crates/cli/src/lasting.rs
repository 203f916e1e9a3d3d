//! What gives a grant, once and for good: the options, and the lines for the user's policy file. `run` says them after a
//! denial and `why` when it is asked, so they come from one place.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use palisade::runner::approve::visible;
use palisade::runner::config::{self, ConfigPaths};
use palisade::runner::evidence::{grant_words, shell_line};
use palisade::runner::exec_policy::language::NetworkSetting;
use palisade::runner::host::Host;
use palisade::runner::policy::{Access, Clause, GitAccess, NetworkScope};
use palisade::{Grant, Policy};

use crate::ground::now;

/// What is said where no policy file can keep a grant.
const APPROVAL_ONLY: &str =
    "kept by an approval only: run it with --approval on-failure, and keep the grant when asked";
/// What is said where the administrator's floor is in the way of every file.
const CLOSED: &str = "no policy file of yours opens it here";
/// What stands for a command that is not known.
const ANY: &str = "CMD";

/// The options that give a grant, once. Where this machine alone cannot be opened, or no single host, those that work open
/// all.
pub(crate) fn words(grant: &Grant) -> Vec<OsString> {
    match grant {
        Grant::Host(_) if cfg!(windows) => vec!["--net".into()],
        Grant::HostLoopback if cfg!(target_os = "linux") => vec!["--net".into()],
        other => grant_words(other),
    }
}

/// The line that runs a command with a grant.
pub(crate) fn once(grant: &Grant, argv: &[OsString]) -> String {
    let mut line: Vec<OsString> = vec!["palisade".into(), "run".into()];
    line.extend(words(grant));
    line.push("--".into());
    line.extend(argv.iter().cloned());
    shell_line(&line)
}

/// What the lines depend on besides the grants.
#[derive(Clone, Copy)]
pub(crate) struct Lasting<'a> {
    /// The user's policy file.
    pub(crate) file: Option<&'a Path>,
    /// What may be written already, as the file says it.
    pub(crate) write: &'a [String],
    /// What may be reached already, as the file says it.
    pub(crate) hosts: &'a [String],
    /// The command, for a rule about it; `None` where somebody asks about any command.
    pub(crate) argv: Option<&'a [OsString]>,
    /// Whether a policy with this text opens what a grant would: see [`Files::open`].
    pub(crate) helps: &'a dyn Fn(&str, &Grant) -> bool,
}

/// The files that a text would be read with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Files<'a> {
    pub(crate) paths: &'a ConfigPaths,
    pub(crate) host: &'a Host,
    pub(crate) project: &'a Path,
}

impl Files<'_> {
    /// Whether a policy with this text opens what a grant would: a root in a hidden place, for one, is no root, and the
    /// floor stands above every file.
    pub(crate) fn open(&self, text: &str, grant: &Grant) -> bool {
        let text = format!("version = 1\n{text}\n");
        let loaded = config::load(self.paths, self.host, self.project, Some(&text), now());
        let oracle = loaded
            .ok()
            .and_then(|loaded| Policy::configured(&loaded).oracle(self.host).ok());
        oracle.is_some_and(|oracle| match grant {
            Grant::Write(path) => oracle.permits(&Access::Write(path.clone())).is_allowed(),
            Grant::Git(access) => {
                let rules = oracle.canonical().rules();
                rules.is_none_or(|(rules, _)| rules.git >= *access)
            }
            Grant::Host(entry) => match oracle.canonical().network() {
                NetworkScope::Full => true,
                NetworkScope::Only(hosts) => hosts.contains(entry),
                NetworkScope::Off => false,
            },
            Grant::HostLoopback => oracle.canonical().has_full_network(),
            _ => false,
        })
    }
}

impl Lasting<'_> {
    /// Where the lines go.
    pub(crate) fn place(&self) -> String {
        match self.file {
            Some(file) => visible(&file.to_string_lossy()),
            None => "your policy file".to_owned(),
        }
    }

    /// What to write into the policy file, for grants and the clauses that each would turn around.
    pub(crate) fn lines(&self, wanted: &[(&Grant, &Clause)]) -> String {
        let mut lines = Vec::new();
        let mut filesystem = Vec::new();
        let mut write: Vec<String> = self.write.to_vec();
        let mut rule = Vec::new();
        let mut hosts: Vec<String> = Vec::new();
        for (grant, clause) in wanted {
            match grant {
                Grant::Write(path) => match path.as_path().to_str() {
                    None => lines.push(
                        "# a path that is not Unicode can be kept by an approval only".to_owned(),
                    ),
                    Some(path) => match self.of_write(path, grant, clause) {
                        Kept::Setting => write.push(path.to_owned()),
                        Kept::Rule => rule.push(format!("write = [{}]", quoted(path))),
                        Kept::Nowhere => lines.push(closed(grant)),
                    },
                },
                Grant::Git(access) => {
                    let line = format!("git = \"{}\"", git(*access));
                    match (self.helps)(&format!("[filesystem]\n{line}"), grant) {
                        true => filesystem.push(line),
                        false => lines.push(closed(grant)),
                    }
                }
                Grant::Host(entry) if !cfg!(windows) => hosts.push(entry.to_string()),
                // Nothing smaller opens it.
                Grant::Host(_) | Grant::HostLoopback => {
                    let text = ["[network]", "access = \"full\""];
                    match (self.helps)(&text.join("\n"), grant) {
                        true => lines.extend(text.map(str::to_owned)),
                        false => lines.push(closed(grant)),
                    }
                }
                Grant::Read(path) => match path.as_path().to_str() {
                    Some(path) => rule.push(format!("read = [{}]", quoted(path))),
                    None => lines.push(
                        "# a path that is not Unicode can be kept by an approval only".to_owned(),
                    ),
                },
                other => lines.push(format!(
                    "# {}: {APPROVAL_ONLY}",
                    visible(&other.to_string())
                )),
            }
        }
        if let Some(grant) = wanted.iter().find_map(|(grant, _)| of_host(grant))
            && !hosts.is_empty()
        {
            let all: Vec<String> = self.hosts.iter().cloned().chain(hosts).collect();
            let all: Vec<String> = all.iter().map(|host| quoted(host)).collect();
            let text = [
                "[network]".to_owned(),
                format!("allow = [{}]", all.join(", ")),
            ];
            match (self.helps)(&text.join("\n"), grant) {
                true => lines.extend(text),
                false => lines.push(closed(grant)),
            }
        }
        if write.len() > self.write.len() {
            filesystem.insert(0, roots(&write));
        }
        if !filesystem.is_empty() {
            lines.push("[filesystem]".to_owned());
            lines.extend(filesystem);
        }
        if !rule.is_empty() {
            lines.extend(of_rule(self.argv, &rule));
        }
        lines.join("\n")
    }

    /// What keeps a grant to write. What a guard keeps from all is never opened for all.
    fn of_write(&self, path: &str, grant: &Grant, clause: &Clause) -> Kept {
        if !matches!(clause, Clause::OutsideRoots | Clause::ReadOnlyMode) {
            return Kept::Rule;
        }
        let mut write = self.write.to_vec();
        write.push(path.to_owned());
        let setting = format!("[filesystem]\n{}", roots(&write));
        if (self.helps)(&setting, grant) {
            return Kept::Setting;
        }
        // If the preset is in the way, a rule can widen it for one command.
        let all = roots(&[".".to_owned(), path.to_owned()]);
        let other = format!("preset = \"workspace\"\n[filesystem]\n{all}");
        match (self.helps)(&other, grant) {
            true => Kept::Rule,
            false => Kept::Nowhere,
        }
    }
}

/// What keeps a grant.
enum Kept {
    /// A setting, for every command.
    Setting,
    /// A rule, for one.
    Rule,
    Nowhere,
}

const fn of_host<'a>(grant: &&'a Grant) -> Option<&'a Grant> {
    match grant {
        Grant::Host(_) => Some(grant),
        _ => None,
    }
}

/// The hosts that a setting lists, as a file says them.
pub(crate) fn listed(setting: &NetworkSetting) -> Vec<String> {
    match setting {
        NetworkSetting::Only(hosts) => hosts.iter().map(ToString::to_string).collect(),
        NetworkSetting::Off | NetworkSetting::Full => Vec::new(),
    }
}

fn closed(grant: &Grant) -> String {
    format!("# {}: {CLOSED}", visible(&grant.to_string()))
}

fn roots(write: &[String]) -> String {
    let all: Vec<String> = write.iter().map(|path| quoted(path)).collect();
    format!("write = [{}]", all.join(", "))
}

/// A rule that gives a command, word for word, what a guard keeps from all: never a program whatever it does.
fn of_rule(argv: Option<&[OsString]>, gives: &[String]) -> Vec<String> {
    let any = [OsString::from(ANY)];
    let argv = argv.unwrap_or(&any);
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
