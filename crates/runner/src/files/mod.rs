//! Guarded access to files, for the edit tools of agents.
