//! What comes back from a private `.git`: history, and nothing that git would execute.
