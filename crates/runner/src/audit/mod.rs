//! What happened, for those who look later.
