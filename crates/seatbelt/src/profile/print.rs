//! A profile as the text that `sandbox-exec` compiles.
