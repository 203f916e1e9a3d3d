//! The sandbox helper as an executable of its own.

fn main() {}
