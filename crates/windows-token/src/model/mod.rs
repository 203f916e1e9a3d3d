//! What a plan permits: the access check of Windows as a function, with files to try it on.
//!
//! Nothing on a Linux machine enforces an access list of Windows, and emulators ignore most of one. So the check itself
//! is here, written from documentation and published observations, with a small file system around it. It is for tests
//! and for those who check us; nothing in a session uses it.
//!
//! What is not documented is a [switch](Switches). Whoever claims that a plan keeps something tries it with
//! [all of them](Switches::all).
//!
//! ```
//! use palisade_windows_token::acl::{Ace, AceKind, Rights};
//! use palisade_windows_token::model::{Descriptor, Pass, Switches, Token, check};
//! use palisade_windows_token::Sid;
//!
//! let user: Sid = "S-1-5-21-1-2-3-1001".parse()?;
//! let capability = Sid::capability([1, 2, 3, 4]);
//! let his = Ace::new(AceKind::Allow, Rights::FILE_ALL, user.clone());
//! let document = Descriptor::new(user.clone(), [his.clone()]);
//! let opened = Ace::new(AceKind::Allow, Rights::WRITABLE_ROOT, capability.clone());
//! let workspace = Descriptor::new(user.clone(), [opened, his]);
//!
//! let token = Token::of(user, [Sid::everyone()]).restricted([capability], true);
//! let asks = |object, rights| check(&token, object, rights, Switches::PUBLISHED);
//! assert!(asks(&document, Rights::GENERIC_READ).is_ok());
//! assert_eq!(asks(&document, Rights::GENERIC_WRITE).unwrap_err().pass, Pass::Restriction);
//! assert!(asks(&workspace, Rights::GENERIC_WRITE).is_ok());
//! # Ok::<(), palisade_windows_token::SidError>(())
//! ```
//!
//! # Not modelled
//!
//! Integrity levels, audit and conditional entries, object types, share modes, the read-only attribute, reparse points,
//! streams, volumes without lists, CREATOR OWNER, handles that stay open.

mod apply;
mod check;
mod claims;
mod descriptor;
mod files;
mod operations;
mod survey;
mod switches;
mod token;
pub mod vectors;

pub use apply::{Applied, ApplyError, apply};
pub use check::{Pass, Refused, check, mapped};
pub use claims::{broken_inside, is_inside, opened};
pub use descriptor::{Descriptor, Kind, inherited};
pub use files::{FileSystem, Object, ObjectId};
pub use operations::{Demand, Failed, Operation, everything_for};
pub use survey::survey;
pub use switches::{MixedRequest, OwnerCheck, Switches, WriteType};
pub use token::{Privilege, Restriction, Token, passes_self_check};
