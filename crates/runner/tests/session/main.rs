//! Sessions on the real kernel: judged, asked about, contained, watched, told the truth about.
#![cfg(all(target_os = "linux", feature = "linux-landlock"))]
#![expect(clippy::unwrap_used, reason = "a test ends where its assumption fails")]

mod approvals;
mod hosts;
mod hosts_ends;
mod hosts_shapes;
mod hosts_tools;
mod hosts_whose;
mod made_up_net;
#[cfg(feature = "intercept")]
mod opened;
mod outcomes;
mod records;
mod support;
mod talking;
