//! Windows: a command without a sandbox, in a job; and what every command there has in common.

pub(in crate::os) mod bare;
pub(in crate::os) mod hold;
pub(in crate::os) mod signals;
mod sys;
#[cfg(test)]
mod tests;
