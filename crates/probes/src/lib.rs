//! Small attempts to escape a sandbox, and useful acts that must work in one.
