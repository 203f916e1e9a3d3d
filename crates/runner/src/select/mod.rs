//! Which sandbox a run gets.
