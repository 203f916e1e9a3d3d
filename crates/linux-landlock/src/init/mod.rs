//! What runs in the helper: sets the session up once, then starts commands on request.
