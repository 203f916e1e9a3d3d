//! Patches, applied by the helper in the sandbox.
