//! Every unsafe block of the crate: system calls without a safe wrapper elsewhere.
