//! Filters, as they are written.

use super::error::{ReadError, ReadProblem};
use super::expression::{Expression, Node};
use crate::model::automaton::Automaton;
use crate::profile::{
    Endpoint, EndpointHost, Filter, ParameterName, PathValue, Pattern, Target, VnodeType,
};

/// Reads one filter. The depth of the expression is bounded, so this recursion is.
pub(super) fn filter(expression: &Expression) -> Result<Filter, ReadError> {
    let (name, values) = expression.form()?;
    let one = |what: &'static str| match values {
        [value] => Ok(value),
        _ => Err(expression.expected(what)),
    };
    let text = || Ok(one("one string")?.text("a string")?.to_owned());
    let path = || path_value(one("one path")?);
    let many = |what: &'static str| match values {
        [] => Err(expression.expected(what)),
        values => values.iter().map(filter).collect::<Result<Vec<_>, _>>(),
    };
    Ok(match name {
        "literal" | "path" => Filter::Literal(path()?),
        "subpath" => Filter::Subpath(path()?),
        "path-ancestors" => Filter::PathAncestors(path()?),
        "regex" => Filter::Regex(pattern(one("one raw string")?)?),
        "vnode-type" => Filter::VnodeType(vnode_type(one("one kind of entry")?)?),
        "require-all" => Filter::All(many("filters")?),
        "require-any" => Filter::Any(many("filters")?),
        "require-not" => Filter::Not(Box::new(filter(one("one filter")?)?)),
        "remote" => Filter::Remote(endpoint(expression, values)?),
        "local" => Filter::Local(endpoint(expression, values)?),
        "global-name" => Filter::GlobalName(text()?),
        "global-name-prefix" => Filter::GlobalNamePrefix(text()?),
        "local-name" => Filter::LocalName(text()?),
        "sysctl-name" => Filter::SysctlName(text()?),
        "sysctl-name-prefix" => Filter::SysctlNamePrefix(text()?),
        "ipc-posix-name" => Filter::IpcPosixName(text()?),
        "ipc-posix-name-prefix" => Filter::IpcPosixNamePrefix(text()?),
        "iokit-registry-entry-class" => Filter::IokitRegistryEntryClass(text()?),
        "iokit-user-client-class" => Filter::IokitUserClientClass(text()?),
        "preference-domain" => Filter::PreferenceDomain(text()?),
        "extension" => Filter::Extension(text()?),
        "target" => Filter::Target(target(one("one target")?)?),
        "socket-domain" => {
            Filter::SocketDomain(one("one domain")?.symbol("a domain of sockets")?.to_owned())
        }
        other => return Err(expression.error(ReadProblem::Filter(other.to_owned()))),
    })
}

fn path_value(expression: &Expression) -> Result<PathValue, ReadError> {
    const EXPECTED: &str = "a string or (param \"NAME\")";
    match &expression.node {
        Node::Text(text) => return Ok(PathValue::Fixed(text.clone())),
        Node::List(_) => {}
        Node::Symbol(_) | Node::Raw(_) => return Err(expression.expected(EXPECTED)),
    }
    match expression.form()? {
        ("param", [name]) => {
            let text = name.text("the name of a parameter, as a string")?;
            match parameter_name(text) {
                Some(name) => Ok(PathValue::Parameter(name)),
                None => Err(name.error(ReadProblem::ParameterName(text.to_owned()))),
            }
        }
        _ => Err(expression.expected(EXPECTED)),
    }
}

pub(crate) fn parameter_name(text: &str) -> Option<ParameterName> {
    let fits = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    (!text.is_empty() && text.chars().all(fits)).then(|| ParameterName(text.to_owned()))
}

fn pattern(expression: &Expression) -> Result<Pattern, ReadError> {
    let Node::Raw(text) = &expression.node else {
        return Err(expression.expected("a raw string, #\"...\""));
    };
    match Automaton::new(text) {
        Ok(_) => Ok(Pattern(text.clone())),
        Err(problem) => Err(expression.error(problem.into())),
    }
}

fn vnode_type(expression: &Expression) -> Result<VnodeType, ReadError> {
    Ok(match expression.symbol("a kind of entry")? {
        "REGULAR-FILE" => VnodeType::RegularFile,
        "DIRECTORY" => VnodeType::Directory,
        "SYMLINK" => VnodeType::Symlink,
        "CHARACTER-DEVICE" => VnodeType::CharacterDevice,
        "BLOCK-DEVICE" => VnodeType::BlockDevice,
        "FIFO" => VnodeType::Fifo,
        "SOCKET" => VnodeType::Socket,
        "TTY" => VnodeType::Tty,
        _ => return Err(expression.expected("a kind of entry")),
    })
}

fn target(expression: &Expression) -> Result<Target, ReadError> {
    Ok(match expression.symbol("a target")? {
        "self" => Target::Itself,
        "same-sandbox" => Target::SameSandbox,
        "children" => Target::Children,
        "pgrp" => Target::ProcessGroup,
        "others" => Target::Others,
        _ => return Err(expression.expected("a target")),
    })
}

fn endpoint(whole: &Expression, values: &[Expression]) -> Result<Endpoint, ReadError> {
    let (kind, rest) = match values.split_first() {
        Some((kind, rest)) => (kind.symbol("ip, tcp, udp or unix-socket")?, rest),
        None => return Err(whole.expected("ip, tcp, udp or unix-socket")),
    };
    if kind == "unix-socket" {
        let filters = rest.iter().map(socket_filter);
        return Ok(Endpoint::UnixSocket(filters.collect::<Result<_, _>>()?));
    }
    let [address] = rest else {
        return Err(whole.expected("one address, as a string"));
    };
    let text = address.text("an address, as a string")?;
    let Some((host, port)) = host_and_port(text) else {
        return Err(address.error(ReadProblem::Endpoint(text.to_owned())));
    };
    Ok(match kind {
        "ip" => Endpoint::Ip { host, port },
        "tcp" => Endpoint::Tcp { host, port },
        "udp" => Endpoint::Udp { host, port },
        _ => return Err(whole.expected("ip, tcp, udp or unix-socket")),
    })
}

/// A filter inside `unix-socket`: about paths, and nothing else.
fn socket_filter(expression: &Expression) -> Result<Filter, ReadError> {
    fn about_paths(filter: &Filter) -> bool {
        match filter {
            Filter::Literal(_) | Filter::Subpath(_) | Filter::Regex(_) => true,
            Filter::All(inner) | Filter::Any(inner) => inner.iter().all(about_paths),
            Filter::Not(inner) => about_paths(inner),
            _ => false,
        }
    }
    let filter = filter(expression)?;
    if about_paths(&filter) {
        Ok(filter)
    } else {
        Err(expression.expected("a filter about paths"))
    }
}

fn host_and_port(text: &str) -> Option<(EndpointHost, Option<u16>)> {
    let (host, port) = text.split_once(':')?;
    let host = match host {
        "*" => EndpointHost::Any,
        "localhost" => EndpointHost::Localhost,
        _ => return None,
    };
    let plain = |port: &str| port.bytes().all(|b| b.is_ascii_digit()) && !port.starts_with('0');
    match port {
        "*" => Some((host, None)),
        port if plain(port) => Some((host, Some(port.parse().ok()?))),
        _ => None,
    }
}
