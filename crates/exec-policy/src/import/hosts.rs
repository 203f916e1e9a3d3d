//! Lists of hosts that other tools allow and deny, as one list of hosts to allow.

use std::collections::{HashMap, HashSet};

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
    let mut listed: HashSet<String> = hosts.iter().cloned().collect();
    let folded_denials: Vec<String> = denied.iter().map(|entry| folded(&entry.host)).collect();
    let denials = Denials::new(&folded_denials);
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
        let taken_back = denials
            .first(&entry.host)
            .and_then(|index| denied.get(index));
        match taken_back {
            Some(denied) => draft.not_carried.push(super::report::NotCarried {
                line: entry.line,
                what: entry.what,
                why: format!("the denial of line {} takes it back", denied.line),
                weakens: false,
            }),
            None => {
                if listed.insert(entry.host.clone()) {
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

/// Folded patterns of denied hosts by what they can be looked up with, each with the first position in the list.
#[derive(Debug, Default)]
struct Denials<'a> {
    /// Patterns as they are.
    whole: HashMap<&'a str, usize>,
    /// Domains of the patterns that begin with `*.`.
    domains: HashMap<&'a str, usize>,
    /// Domains that something denied is below of.
    above: HashMap<&'a str, usize>,
    /// The first of all.
    any: Option<usize>,
}

impl<'a> Denials<'a> {
    fn new(folded: &'a [String]) -> Self {
        let mut denials = Self::default();
        for (index, pattern) in folded.iter().enumerate() {
            denials.any.get_or_insert(index);
            denials.whole.entry(pattern).or_insert(index);
            let domain = pattern.strip_prefix("*.");
            if let Some(domain) = domain {
                denials.domains.entry(domain).or_insert(index);
            }
            for above in above(domain.unwrap_or(pattern)) {
                denials.above.entry(above).or_insert(index);
            }
        }
        denials
    }

    /// The first denied pattern that has a host in common with this one, whatever the ports.
    fn first(&self, host: &str) -> Option<usize> {
        let host = folded(host);
        if host == "*" {
            return self.any;
        }
        let domain = host.strip_prefix("*.");
        let wider = above(domain.unwrap_or(&host)).filter_map(|above| self.domains.get(above));
        let narrower = domain.and_then(|domain| self.above.get(domain));
        wider
            .chain(narrower)
            .chain(self.whole.get("*"))
            .chain(self.whole.get(host.as_str()))
            .min()
            .copied()
    }
}

/// The domains that a host is below of. Those that are longer than any name can be are left out.
fn above(host: &str) -> impl Iterator<Item = &str> {
    const LONGEST: usize = 255;
    host.rmatch_indices('.')
        .filter_map(|(dot, _)| host.get(dot.saturating_add(1)..))
        .take_while(|domain| domain.len() <= LONGEST)
}

/// Without blanks around it, port, trailing dot and case.
fn folded(host: &str) -> String {
    let host = host.trim();
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
            ("example.com", " example.com ", true),
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

    fn meet(one: &str, other: &str) -> bool {
        let folded = [folded(other)];
        Denials::new(&folded).first(one).is_some()
    }

    #[test]
    fn the_first_denial_of_the_list_is_named() {
        let folded = ["x.org", "*.b.com", "a.b.com", "*.com", "*"].map(str::to_owned);
        let denials = Denials::new(&folded);
        for (host, expected) in [
            ("x.org", Some(0)),
            ("a.b.com", Some(1)),
            ("*.b.com", Some(1)),
            ("*.com", Some(1)),
            ("*.c.com", Some(3)),
            ("com", Some(4)),
            ("*", Some(0)),
        ] {
            assert_eq!(denials.first(host), expected, "{host}");
        }
        assert_eq!(Denials::new(&[]).first("*"), None);
    }

    /// Every host against every denial would be four hundred million comparisons.
    #[test]
    fn long_lists_are_looked_up_and_not_compared() {
        const MANY: usize = 20_000;
        let folded: Vec<String> = (0..MANY).map(|n| format!("*.d{n}.example.org")).collect();
        let denials = Denials::new(&folded);
        for n in 0..MANY {
            let host = format!("a.d{n}.example.org");
            assert_eq!(denials.first(&host), Some(n));
            let host = format!("a.e{n}.example.org");
            assert_eq!(denials.first(&host), None);
        }
    }
}
