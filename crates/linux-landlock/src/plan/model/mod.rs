//! What the kernel makes of a plan, as a model: what a command finds after the mounts, and what its Landlock rules grant.
//!
//! For tests, and for those who check us. Nothing here knows how plans are made: the rules are those of the kernel, and
//! any plan is judged by them.

mod landlock;
mod mounts;

pub use landlock::{Move, Moved, grants, is_granted, may_move};
pub use mounts::{View, is_mount_point, mount_of, target, view};
