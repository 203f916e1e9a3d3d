//! Windows: a command without a sandbox, in a job.

pub(in crate::os) mod bare;
mod command_line;
mod environment;
mod sys;
