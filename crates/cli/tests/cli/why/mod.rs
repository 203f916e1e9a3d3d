//! `why`: whether a command could touch something, and that a real one agrees.

mod agree;
mod last;
mod texts;
