//! A profile as the text that `sandbox-exec` compiles.

use std::ffi::OsString;
use std::fmt;

use super::{
    Decision, Endpoint, EndpointHost, Filter, Modifier, PathValue, Profile, Rule, Target, VnodeType,
};

/// The longest line that is not broken.
const WIDTH: usize = 100;

impl Profile {
    /// The text: the base, then the rules. It holds no path of the host.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text =
            String::from("(version 1)\n(deny default (with message \"palisade:default\"))\n");
        for part in &self.base {
            text.push('\n');
            text.push_str(part.text());
        }
        if !self.rules.is_empty() {
            text.push_str("\n; What the policy comes to.\n");
        }
        for rule in &self.rules {
            Form::of_rule(rule).print(0, &mut text);
            text.push('\n');
        }
        text
    }

    /// The words that pass the parameters to `sandbox-exec`.
    #[must_use]
    pub fn arguments(&self) -> Vec<OsString> {
        self.parameters.arguments()
    }
}

/// The rules without the base, and what the parameters stand for: what is worth reading.
impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "(version 1)")?;
        writeln!(f, "(deny default (with message \"palisade:default\"))")?;
        for part in &self.base {
            writeln!(f, "; base/{part}.sbpl")?;
        }
        for rule in &self.rules {
            writeln!(f, "{rule}")?;
        }
        for (name, path) in self.parameters.iter() {
            writeln!(f, "; {name} = {}", path.to_string().escape_debug())?;
        }
        Ok(())
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        Form::of_rule(self).print(0, &mut text);
        f.write_str(&text)
    }
}

/// An expression.
enum Form {
    Atom(String),
    List(Vec<Form>),
}

impl Form {
    fn word(word: &str) -> Self {
        Self::Atom(word.to_owned())
    }

    fn list(head: &str, rest: impl IntoIterator<Item = Self>) -> Self {
        Self::List(std::iter::once(Self::word(head)).chain(rest).collect())
    }

    fn string(text: &str) -> Self {
        let mut quoted = String::with_capacity(text.len() + 2);
        quoted.push('"');
        for character in text.chars() {
            if matches!(character, '"' | '\\') {
                quoted.push('\\');
            }
            quoted.push(character);
        }
        quoted.push('"');
        Self::Atom(quoted)
    }

    fn of_rule(rule: &Rule) -> Self {
        let head = match rule.decision {
            Decision::Allow => "allow",
            Decision::Deny => "deny",
        };
        let operations = rule
            .operations
            .iter()
            .map(|operation| Self::word(operation.name()));
        let filters = rule.filters.iter().map(Self::of_filter);
        let modifiers = rule.modifiers.iter().map(Self::of_modifier);
        Self::list(head, operations.chain(filters).chain(modifiers))
    }

    fn of_modifier(modifier: &Modifier) -> Self {
        let rest = match modifier {
            Modifier::Message(text) => vec![Self::word("message"), Self::string(text)],
            Modifier::NoLog => vec![Self::word("no-log")],
            Modifier::Report => vec![Self::word("report")],
        };
        Self::list("with", rest)
    }

    fn of_filter(filter: &Filter) -> Self {
        let all = |filters: &[Filter]| filters.iter().map(Self::of_filter).collect::<Vec<_>>();
        let named = |head: &str, name: &str| Self::list(head, [Self::string(name)]);
        match filter {
            Filter::Literal(path) => Self::list("literal", [Self::of_path(path)]),
            Filter::Subpath(path) => Self::list("subpath", [Self::of_path(path)]),
            Filter::PathAncestors(path) => Self::list("path-ancestors", [Self::of_path(path)]),
            Filter::Regex(pattern) => {
                Self::list("regex", [Self::Atom(format!("#\"{}\"", pattern.as_str()))])
            }
            Filter::VnodeType(kind) => Self::list("vnode-type", [Self::word(vnode_type(*kind))]),
            Filter::All(filters) => Self::list("require-all", all(filters)),
            Filter::Any(filters) => Self::list("require-any", all(filters)),
            Filter::Not(filter) => Self::list("require-not", [Self::of_filter(filter)]),
            Filter::Remote(end) => Self::list("remote", Self::of_endpoint(end)),
            Filter::Local(end) => Self::list("local", Self::of_endpoint(end)),
            Filter::GlobalName(name) => named("global-name", name),
            Filter::GlobalNamePrefix(name) => named("global-name-prefix", name),
            Filter::LocalName(name) => named("local-name", name),
            Filter::SysctlName(name) => named("sysctl-name", name),
            Filter::SysctlNamePrefix(name) => named("sysctl-name-prefix", name),
            Filter::IpcPosixName(name) => named("ipc-posix-name", name),
            Filter::IpcPosixNamePrefix(name) => named("ipc-posix-name-prefix", name),
            Filter::IokitRegistryEntryClass(name) => named("iokit-registry-entry-class", name),
            Filter::IokitUserClientClass(name) => named("iokit-user-client-class", name),
            Filter::PreferenceDomain(name) => named("preference-domain", name),
            Filter::Extension(name) => named("extension", name),
            Filter::Target(target) => Self::list("target", [Self::word(target_word(*target))]),
            Filter::SocketDomain(domain) => Self::list("socket-domain", [Self::word(domain)]),
        }
    }

    fn of_path(path: &PathValue) -> Self {
        match path {
            PathValue::Parameter(name) => Self::list("param", [Self::string(name.as_str())]),
            PathValue::Fixed(path) => Self::string(path),
        }
    }

    fn of_endpoint(end: &Endpoint) -> Vec<Self> {
        let address = |transport: &str, host: &EndpointHost, port: &Option<u16>| {
            let host = match host {
                EndpointHost::Any => "*",
                EndpointHost::Localhost => "localhost",
            };
            let port = port.map_or_else(|| "*".to_owned(), |port| port.to_string());
            vec![
                Self::word(transport),
                Self::string(&format!("{host}:{port}")),
            ]
        };
        match end {
            Endpoint::Ip { host, port } => address("ip", host, port),
            Endpoint::Tcp { host, port } => address("tcp", host, port),
            Endpoint::Udp { host, port } => address("udp", host, port),
            Endpoint::UnixSocket(filters) => std::iter::once(Self::word("unix-socket"))
                .chain(filters.iter().map(Self::of_filter))
                .collect(),
        }
    }

    /// How long it is on one line.
    fn length(&self) -> usize {
        match self {
            Self::Atom(text) => text.len(),
            Self::List(forms) => 1 + forms.iter().map(|form| form.length() + 1).sum::<usize>(),
        }
    }

    /// On one line if it fits; otherwise the words at the start stay, and everything else has a line of its own.
    fn print(&self, indent: usize, text: &mut String) {
        let forms = match self {
            Self::Atom(atom) => return text.push_str(atom),
            Self::List(forms) => forms,
        };
        let fits = indent + self.length() <= WIDTH;
        let mut words = true;
        text.push('(');
        for (i, form) in forms.iter().enumerate() {
            words &= matches!(form, Self::Atom(_));
            if i > 0 && (fits || words) {
                text.push(' ');
            } else if i > 0 {
                text.push('\n');
                text.extend(std::iter::repeat_n(' ', indent + 2));
            }
            form.print(indent + 2, text);
        }
        text.push(')');
    }
}

const fn vnode_type(kind: VnodeType) -> &'static str {
    match kind {
        VnodeType::RegularFile => "REGULAR-FILE",
        VnodeType::Directory => "DIRECTORY",
        VnodeType::Symlink => "SYMLINK",
        VnodeType::CharacterDevice => "CHARACTER-DEVICE",
        VnodeType::BlockDevice => "BLOCK-DEVICE",
        VnodeType::Fifo => "FIFO",
        VnodeType::Socket => "SOCKET",
        VnodeType::Tty => "TTY",
    }
}

const fn target_word(target: Target) -> &'static str {
    match target {
        Target::Itself => "self",
        Target::SameSandbox => "same-sandbox",
        Target::Children => "children",
        Target::ProcessGroup => "pgrp",
        Target::Others => "others",
    }
}

#[cfg(test)]
mod tests {
    use super::super::Operation;
    use super::*;

    #[test]
    fn strings_cannot_end_early() {
        let rule = Rule::deny([Operation::FILE_READ])
            .at(Filter::Literal(PathValue::Fixed("/a\"b\\c".to_owned())))
            .with(Modifier::Message("x\")(allow default)".to_owned()));
        assert_eq!(
            rule.to_string(),
            r#"(deny file-read* (literal "/a\"b\\c") (with message "x\")(allow default)"))"#
        );
    }

    #[test]
    fn long_rules_are_broken_into_lines() {
        let path = |name: &str| Filter::Subpath(PathValue::Fixed(format!("/{name}/").repeat(4)));
        let rule =
            Rule::allow([Operation::FILE_READ, Operation::FILE_WRITE]).at(Filter::All(vec![
                path("somewhere"),
                Filter::Not(Box::new(path("elsewhere"))),
            ]));
        let text = rule.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert_eq!(lines.first(), Some(&"(allow file-read* file-write*"));
        assert!(lines.iter().skip(2).all(|line| line.starts_with("    (")));
    }
}
