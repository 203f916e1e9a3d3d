//! Unified diffs, applied all or nothing.
