//! The model of the access check: what it says about published observations, and about our own plans.
#![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]

mod attacks;
mod inheritance;
mod judge;
mod mutations;
mod properties;
mod published;
mod support;
mod world;
