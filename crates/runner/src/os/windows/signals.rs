//! What the signals of other systems mean here.

/// Those that end a command, with all that it started. Windows knows none of them; others mean nothing here.
pub(in crate::os) const ENDING: [i32; 6] = [1, 2, 3, 6, KILL, 15];

/// The one that none survives.
pub(in crate::os) const KILL: i32 = 9;
