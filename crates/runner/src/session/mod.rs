//! What the facade shows: a policy, a sandbox, a session, its commands.
