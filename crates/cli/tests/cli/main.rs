//! `palisade` as people call it: the real program, real sandboxes, real terminals.

mod first;
#[cfg(unix)]
mod judge;
#[cfg(unix)]
mod looked;
mod support;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod why;
