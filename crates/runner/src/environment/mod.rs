//! The environment of a command, always rebuilt.
