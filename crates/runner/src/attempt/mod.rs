//! First attempt, narrower retry, retry without sandbox: one engine, generic over what is run.
