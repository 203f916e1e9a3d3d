//! Lists of hosts that other tools allow and deny, as one list of hosts to allow.

use super::draft::Draft;
use super::render::reads_back;
use crate::authoring::toml_text;

/// A host of somebody's list.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) line: usize,
    pub(crate) what: String,
    pub(crate) host: String,
}

/// Adds the hosts that are allowed and not denied. What is not listed is denied here anyway.
pub(crate) fn add(draft: &mut Draft, allowed: Vec<Listed>, denied: &[Listed], note: &str) {
    let hosts = draft.hosts.get_or_insert_default();
    let mut kept = Vec::new();
    for entry in allowed {
        let text = toml_text::string(&entry.host);
        if let Err(why) = reads_back(&format!("[network]\nallow = [{text}]\n")) {
            draft.not_carried.push(super::report::NotCarried {
                line: entry.line,
                what: entry.what,
                why,
                weakens: false,
            });
            continue;
        }
        match denied.iter().find(|denied| meet(&entry.host, &denied.host)) {
            Some(denied) => draft.not_carried.push(super::report::NotCarried {
                line: entry.line,
                what: entry.what,
                why: format!("the denial of line {} takes it back", denied.line),
                weakens: false,
            }),
            None => {
                if !hosts.contains(&entry.host) {
                    hosts.push(entry.host.clone());
                }
                kept.push(entry);
            }
        }
    }
    for entry in kept {
        draft.carry(entry.line, entry.what, note);
    }
    for entry in denied {
        draft.carry(
            entry.line,
            entry.what.clone(),
            "denied, because only listed hosts are allowed",
        );
    }
}

/// Whether two host patterns have a host in common, whatever the ports.
fn meet(one: &str, other: &str) -> bool {
    let (one, other) = (folded(one), folded(other));
    if one == "*" || other == "*" || one == other {
        return true;
    }
    match (one.strip_prefix("*."), other.strip_prefix("*.")) {
        (Some(one), Some(other)) => below(one, other) || below(other, one) || one == other,
        (Some(one), None) => below(&other, one),
        (None, Some(other)) => below(&one, other),
        (None, None) => false,
    }
}

fn below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain)
        .is_some_and(|rest| rest.ends_with('.'))
}

/// Without port, trailing dot and case.
fn folded(host: &str) -> String {
    let host = match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.chars().all(|c| c.is_ascii_digit()) => {
            name
        }
        _ => host,
    };
    host.trim_end_matches('.').to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_meet_where_a_host_could_match_both() {
        for (one, other, expected) in [
            ("example.com", "EXAMPLE.com.", true),
            ("example.com:8080", "example.com", true),
            ("*.example.com", "a.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "*.a.example.com", true),
            ("*.example.com", "badexample.com", false),
            ("example.com", "example.org", false),
            ("*", "example.org", true),
            ("[::1]", "[::1]", true),
        ] {
            assert_eq!(meet(one, other), expected, "{one} {other}");
            assert_eq!(meet(other, one), expected, "{other} {one}");
        }
    }
}
