//! Policies and facts that the tests share.

use palisade_exec_policy::language::{Layer, LoadedPolicy, Source, load_sources};
use palisade_exec_policy::matching::{PlaceFacts, builtin};
use palisade_policy::{AbsolutePath, HostFacts, Os};

/// A trusted project policy on top of the built-in rules.
pub(crate) fn project(name: &str, text: &str) -> LoadedPolicy {
    let built_in = builtin::SOURCES.map(|(name, text)| Source::new(Layer::BuiltIn, name, text));
    let project = Source::new(Layer::Project, name, text).trusted();
    load_sources(built_in.into_iter().chain([project])).unwrap_or_else(|errors| panic!("{errors}"))
}

/// A policy of one layer and nothing else.
pub(crate) fn alone(name: &str, text: &str) -> LoadedPolicy {
    load_sources([Source::new(Layer::User, name, text)]).unwrap_or_else(|errors| panic!("{errors}"))
}

pub(crate) fn place() -> PlaceFacts {
    let home = AbsolutePath::new("/home/user").unwrap();
    PlaceFacts::new(
        &AbsolutePath::new("/srv/app").unwrap(),
        &HostFacts::new(Os::Linux).with_home(home),
    )
}

/// The text without the lines of built-in rules, which move whenever one is added.
pub(crate) fn without_built_in_lines(text: &str) -> String {
    let mut parts = text.split("built-in/");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(".toml:").unwrap_or((part, ""));
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':');
        out.push_str(&format!("built-in/{name}.toml{rest}"));
    }
    out
}
