//! Policies, and what becomes of them.

use palisade_exec_policy::language::{
    Layer, LoadedPolicy, PolicyFile, Source, load_sources, parse,
};

/// A policy that uses every key at least once.
pub(crate) const FULL: &str = include_str!("full.toml");

/// The errors of a system source of this text.
#[track_caller]
pub(crate) fn errors(text: impl AsRef<[u8]>) -> String {
    let source = Source::new(Layer::System, "policy.toml", text.as_ref());
    match parse(&source) {
        Ok(file) => panic!("no error in {file:?}"),
        Err(errors) => errors.to_string(),
    }
}

#[track_caller]
pub(crate) fn file(layer: Layer, text: &str) -> PolicyFile {
    match parse(&Source::new(layer, "policy.toml", text)) {
        Ok(file) => file,
        Err(errors) => panic!("{errors}\n{text}"),
    }
}

/// What these layers mean together, each under a name of its own; the project is not trusted.
#[track_caller]
pub(crate) fn loaded(layers: &[(Layer, &str)]) -> LoadedPolicy {
    let sources = layers.iter().map(|(layer, text)| {
        let name = format!("{layer:?}.toml").to_lowercase();
        Source::new(*layer, name, *text)
    });
    match load_sources(sources) {
        Ok(policy) => policy,
        Err(errors) => panic!("{errors}"),
    }
}
