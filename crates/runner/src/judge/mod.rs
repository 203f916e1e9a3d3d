//! From a command to the one decision.
