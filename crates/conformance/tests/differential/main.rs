//! One random policy and one random access, put to the oracle and to everything that is compiled from the policy.
//!
//! A case is a tree of files that is really made, a policy about it, and every access that can be tried there. The
//! policy is lowered for each backend, and each judge says what becomes of each access:
//!
//! | module | judge |
//! |---|---|
//! | `calls` | the seccomp program of the plan, run in an interpreter over every number of both processors, x32 and i386 |
//! | `predict` | a model of the mounts and of the Landlock rules of the plan |
//! | `mac` | an evaluator for the printed Seatbelt profile |
//! | `windows` | the access check of Windows, over the token and the lists of the plan |
//! | `kernel` | the kernel: the access is tried in a real session, in both tiers, by whoever runs the tests |
//!
//! What the oracle denies must fail if the plan's report calls the guarantee enforced, and what it allows must work, but
//! for the reasons in [`oracle::Excuse`]. A disagreement prints the shrunken policy as JSON, the access, and what each
//! said. `mutations` shows that the check can fail: it takes one rule, mount, entry or instruction out of a plan.
//!
//! `PALISADE_DIFFERENTIAL_CASES` multiplies the number of cases, `PALISADE_DIFFERENTIAL_SEED` says where they start.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends where its assumption fails"
)]
#![expect(clippy::print_stdout, reason = "a test says what it compared")]

mod attempt;
mod calls;
mod case;
mod inside;
mod kernel;
mod lowered;
mod mac;
mod meaning;
mod mutations;
mod oracle;
mod predict;
mod random;
mod stage;
mod sys;
mod tries;
mod windows;
