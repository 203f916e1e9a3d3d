//! Asking a person: prompter, caches and keys.
