//! The hosts that a line names.

use std::ffi::OsString;

use palisade_policy::HostName;

use super::refusal::lower;

const HTTPS: u16 = 443;
const HTTP: u16 = 80;
const SSH: u16 = 22;
const GIT: u16 = 9418;

/// Programs that mean another port than that of the web.
const PORTS: &[(&str, u16)] = &[
    ("ssh", SSH),
    ("scp", SSH),
    ("sftp", SSH),
    ("psql", 5432),
    ("pg_dump", 5432),
    ("mysql", 3306),
    ("redis-cli", 6379),
];

/// How much of a command is searched.
const MOST_WORDS: usize = 64;
const LONGEST_WORD: usize = 2048;

/// How many hosts of a line are considered.
const MOST: usize = 4;

/// Words after which a host is named.
const INTRODUCTIONS: &[&str] = &[
    "host",
    "hostname",
    "name",
    "lookup",
    "resolve",
    "resolving",
    "enotfound",
    "eai_again",
    "unknownhostexception",
    "address",
    "to",
    "domain",
    "econnrefused",
    "enetunreach",
    "host=",
    "eacces",
];

/// The hosts that a refusal is about: named in its line, else around it, else in the command.
pub(super) fn named(
    line: &str,
    before: &[String],
    after: Option<&String>,
    argv: &[OsString],
) -> Vec<(HostName, u16)> {
    let command: Vec<String> = argv
        .iter()
        .filter(|word| word.len() < LONGEST_WORD)
        .take(MOST_WORDS)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let command = command.join(" ");
    let mut hosts = in_line(line);
    // `socket: Operation not permitted` comes before the line that says where to.
    if let Some(after) = after.filter(|after| hosts.is_empty() && after.contains("connect to host"))
    {
        hosts = in_line(after);
    }
    for above in before.iter().rev().take(2) {
        if hosts.is_empty() {
            hosts = addressed(above);
        }
    }
    if hosts.is_empty() {
        hosts = addressed(&command);
    }
    let mut found: Vec<(HostName, u16)> = Vec::new();
    for (host, port) in hosts {
        let port = port
            .or_else(|| {
                let mut wanted = addressed(&command).into_iter();
                wanted.find(|(other, _)| *other == host)?.1
            })
            .unwrap_or_else(|| usual_port(line, &command));
        if !found.contains(&(host.clone(), port)) {
            found.push((host, port));
        }
    }
    found.truncate(MOST);
    found
}

/// The port that a program means if nobody says another.
fn usual_port(line: &str, command: &str) -> u16 {
    let program = |text: &str| {
        let first = text.split([' ', ':']).next().unwrap_or_default();
        let name = first.rsplit('/').next().unwrap_or_default();
        PORTS
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, port)| *port)
    };
    program(&lower(line))
        .or_else(|| program(command))
        .unwrap_or(HTTPS)
}

/// Hosts in any form in which a line about a failure names them.
fn in_line(line: &str) -> Vec<(HostName, Option<u16>)> {
    let mut found = addressed(line);
    let words: Vec<&str> = line
        .split(|character: char| {
            character.is_whitespace() || matches!(character, '(' | ')' | '=' | ',')
        })
        .filter(|word| !word.is_empty())
        .collect();
    for (at, word) in words.iter().enumerate() {
        let introduced = at
            .checked_sub(1)
            .and_then(|before| words.get(before))
            .map(|word| lower(word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_')))
            .is_some_and(|word| {
                let last = word.rsplit('.').next().unwrap_or_default();
                INTRODUCTIONS.contains(&last)
            });
        let plain = word.trim_matches(|character: char| {
            !character.is_ascii_alphanumeric() && !matches!(character, '[' | ']')
        });
        let Some((host, port)) = host_and_port(plain) else {
            continue;
        };
        let certain = host.address().is_some() || host.is_loopback() || port.is_some();
        let dotted = host.to_string().contains('.');
        if !(certain || introduced && (dotted || word.starts_with(['\'', '"']))) {
            continue;
        }
        // `a port 80`, and Python's `port=80`.
        let next = |offset: usize| {
            words
                .get(at + offset)
                .map(|word| word.trim_end_matches([':', ';', '.']))
        };
        let port = port.or_else(|| match next(1) {
            Some("port") => next(2)?.parse().ok(),
            _ => None,
        });
        match found.iter_mut().find(|(known, _)| *known == host) {
            Some((_, known)) => *known = known.or(port),
            None => found.push((host, port)),
        }
    }
    found
}

/// Hosts of addresses: `https://host:port/x`, `git@host:x`, `user@host`.
fn addressed(text: &str) -> Vec<(HostName, Option<u16>)> {
    let mut found = Vec::new();
    for word in
        text.split(|character: char| character.is_whitespace() || "\"'`<>(),".contains(character))
    {
        if let Some((scheme, rest)) = word.split_once("://") {
            let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
            let place = authority.rsplit('@').next().unwrap_or_default();
            let usual = match scheme.rsplit(|c: char| !c.is_ascii_alphanumeric()).next() {
                Some("http" | "ws") => Some(HTTP),
                Some("https" | "wss") => Some(HTTPS),
                Some("ssh") => Some(SSH),
                Some("git") => Some(GIT),
                _ => None,
            };
            if let Some((host, port)) = host_and_port(place.trim_end_matches([':', '.', ';'])) {
                found.push((host, port.or(usual)));
            }
        } else if let Some((user, rest)) = word.split_once('@')
            && !user.is_empty()
            && !user.contains('/')
        {
            let name = rest.split(':').next().unwrap_or_default();
            if name.contains('.')
                && let Ok(host) = HostName::parse(name)
            {
                found.push((host, Some(SSH)));
            }
        }
    }
    found
}

fn host_and_port(text: &str) -> Option<(HostName, Option<u16>)> {
    if let Ok(host) = HostName::parse(text) {
        return Some((host, None));
    }
    let (name, port) = text.rsplit_once(':')?;
    let port = port.parse().ok().filter(|port| *port != 0)?;
    // A name before a number is a line of a file as often as a port.
    let host = HostName::parse(name).ok()?;
    let likely = host.address().is_some() || host.is_loopback() || has_domain(name);
    likely.then_some((host, Some(port)))
}

/// Whether the last part of a name can be a domain, and is no ending of files that messages name with a line number.
fn has_domain(name: &str) -> bool {
    let endings = [
        "rs", "py", "js", "ts", "go", "c", "h", "java", "rb", "sh", "pl", "cc", "cpp", "hpp",
        "mjs", "cjs", "json", "toml", "yml", "yaml",
    ];
    name.rsplit_once('.').is_some_and(|(_, last)| {
        last.len() > 1
            && last.bytes().all(|byte| byte.is_ascii_alphabetic())
            && !endings.contains(&last)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_where_programs_put_them() {
        for (line, argv, expected) in [
            (
                "curl: (6) Could not resolve host: example.com",
                "curl http://example.com/x",
                "example.com 80",
            ),
            (
                "curl: (6) Could not resolve host: example.com",
                "curl example.com",
                "example.com 443",
            ),
            (
                "curl: (7) Failed to connect to 192.0.2.1 port 8080 after 0 ms: Couldn't connect to server",
                "x",
                "192.0.2.1 8080",
            ),
            (
                "wget: unable to resolve host address ‘example.com’",
                "x",
                "example.com 443",
            ),
            (
                "ssh: Could not resolve hostname example.com: Temporary failure in name resolution",
                "x",
                "example.com 22",
            ),
            (
                "ssh: connect to host 192.0.2.1 port 22: Network is unreachable",
                "x",
                "192.0.2.1 22",
            ),
            (
                "fatal: unable to access 'https://github.com/x/y/': Could not resolve host: github.com",
                "x",
                "github.com 443",
            ),
            (
                "Error: getaddrinfo EAI_AGAIN registry.example.org",
                "x",
                "registry.example.org 443",
            ),
            (
                "Error: connect ENETUNREACH 192.0.2.1:443 - Local (0.0.0.0:0)",
                "x",
                "192.0.2.1 443",
            ),
            (
                "dial tcp: lookup proxy.golang.org: no such host",
                "x",
                "proxy.golang.org 443",
            ),
            (
                "java.net.UnknownHostException: repo.maven.org",
                "x",
                "repo.maven.org 443",
            ),
            (
                "HTTPSConnectionPool(host='simple.example.net', port=8443): Failed to resolve",
                "x",
                "simple.example.net 8443",
            ),
            (
                "socket.gaierror: [Errno -3] Temporary failure in name resolution",
                "python3 f.py https://a.example.org:444/",
                "a.example.org 444",
            ),
        ] {
            let argv: Vec<OsString> = argv.split(' ').map(OsString::from).collect();
            let found: Vec<_> = named(line, &[], None, &argv)
                .into_iter()
                .map(|(host, port)| format!("{host} {port}"))
                .collect();
            assert!(found.contains(&expected.to_owned()), "{line}: {found:?}");
        }
    }
}
