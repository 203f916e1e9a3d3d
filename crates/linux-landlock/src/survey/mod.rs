//! Looks at the host: the kernel's facts, and what exists at the paths that a policy names.
