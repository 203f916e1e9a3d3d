//! What a sandboxed command may touch.
#![forbid(unsafe_code)]
