//! Processes: a child in a session of the sandbox, or a bare one; terminals; ending a tree.
