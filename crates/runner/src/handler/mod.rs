//! The vocabulary of tool handlers over the one attempt engine.
