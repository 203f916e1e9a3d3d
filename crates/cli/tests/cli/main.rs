//! `palisade` as people call it: the real program, real sandboxes, real terminals.

mod first;
mod support;
#[cfg(unix)]
mod terminal;
