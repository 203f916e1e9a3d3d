//! What the oracle says about the resources that a failed command named.
