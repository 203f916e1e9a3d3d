//! `palisade` as people call it: the real program, real sandboxes, real terminals.

#[cfg(unix)]
mod events;
mod first;
#[cfg(unix)]
mod sh;
mod support;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod told;
