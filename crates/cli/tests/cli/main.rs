//! `palisade` as people call it: the real program, real sandboxes, real terminals.

mod first;
mod run;
mod support;
#[cfg(unix)]
mod terminal;
