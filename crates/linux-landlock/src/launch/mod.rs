//! The caller's side: from a plan to a session, and from a command to a child.
