//! The vocabulary of the executor over the one attempt engine.
