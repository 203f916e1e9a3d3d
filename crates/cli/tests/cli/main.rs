//! `palisade` as people call it: the real program, real sandboxes, real terminals.

mod first;
mod policy;
mod support;
