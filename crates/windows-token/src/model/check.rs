//! The access check: a token asks for rights on an object, and its list answers.
//!
//! | fact | source |
//! |---|---|
//! | entries are looked at in order; one that denies something still open refuses all of it | Microsoft, [MS-DTYP] 2.5.3.2 "Access Check Algorithm Pseudocode" |
//! | no list allows everything, an empty one nothing | the same |
//! | an owner has `READ_CONTROL` and `WRITE_DAC`, unless the list has an entry for OWNER RIGHTS | the same; Microsoft Learn, "Well-known SIDs" |
//! | restricted: the enabled identifiers and the restricting ones must both allow it; denials count in both | Microsoft Learn, "Restricted Tokens"; Forshaw, *Windows Security Internals*, chapter 7 |
//! | an identifier for denials only does not allow | Microsoft Learn, "SID Attributes in an Access Token" |
//! | what the generic rights are for files | Microsoft Learn, "File Security and Access Rights" |
//! | backup reads, restore writes, whatever lists say | Microsoft Learn, "Privilege Constants", "File Security and Access Rights" |

use super::descriptor::Descriptor;
use super::switches::{MixedRequest, OwnerCheck, Switches};
use super::token::{Privilege, Token};
use crate::acl::{Ace, AceFlags, AceKind, Dacl, Rights};
use crate::sid::Sid;

/// Why a token does not get what it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// Which of the two passes refused.
    pub pass: Pass,
    /// The entry that denied, by its place in the list; `None` if no entry allowed.
    pub entry: Option<usize>,
    /// What was denied, or what nobody allowed.
    pub rights: Rights,
}

/// One pass over a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are two")]
pub enum Pass {
    /// With what the token is.
    Identity,
    /// With what restricts it.
    Restriction,
}

/// Whether a token gets all these rights on an object.
///
/// # Errors
/// It does not: which pass refused, and by which entry.
pub fn check(
    token: &Token,
    descriptor: &Descriptor,
    desired: Rights,
    switches: Switches,
) -> Result<(), Refused> {
    if descriptor.dacl == Dacl::Null {
        return Ok(());
    }
    let open = by_privilege(token, mapped(desired));
    let owner = &descriptor.owner;
    let owner_rights = Sid::owner_rights();
    let is_one_of = |ace: &Ace, sids: &[Sid]| {
        // What OWNER RIGHTS says is said about the owner.
        let whom = match ace.sid == owner_rights {
            true => owner,
            false => &ace.sid,
        };
        sids.contains(whom)
    };
    let owner_decides = !descriptor
        .list()
        .any(|ace| is_effective(ace) && ace.sid == owner_rights);

    let restricting = token.restriction.as_ref();
    let owns = token.enabled.contains(owner);
    let owns_restricted = restricting.is_none_or(|restriction| restriction.sids.contains(owner));
    let implicit = |owns: bool| match owner_decides && owns {
        true => Rights::READ_CONTROL | Rights::WRITE_DAC,
        false => Rights::NONE,
    };
    let (first, second) = match switches.owner {
        OwnerCheck::BothLists => {
            let both = implicit(owns && owns_restricted);
            (both, both)
        }
        OwnerCheck::EachPass => (implicit(owns), implicit(owns_restricted)),
    };

    pass(descriptor, open & !first, |ace| match ace.kind {
        AceKind::Allow => is_one_of(ace, &token.enabled),
        AceKind::Deny => is_one_of(ace, &token.enabled) || is_one_of(ace, &token.deny_only),
    })
    .map_err(|refused| refused.in_pass(Pass::Identity))?;

    let Some(restriction) = restricting else {
        return Ok(());
    };
    let writes = open & switches.write_type.rights();
    let asked = match (restriction.writes_only, switches.mixed) {
        (true, _) if writes == Rights::NONE => return Ok(()),
        (true, MixedRequest::WritePart) => writes,
        (true, MixedRequest::Whole) | (false, _) => open,
    };
    pass(descriptor, asked & !second, |ace| {
        is_one_of(ace, &restriction.sids)
    })
    .map_err(|refused| refused.in_pass(Pass::Restriction))
}

/// Rights with the generic ones replaced by what they are for a file.
#[must_use]
pub fn mapped(rights: Rights) -> Rights {
    let generic = [
        (Rights::GENERIC_READ, Rights::FILE_READ),
        (Rights::GENERIC_WRITE, Rights::FILE_WRITE),
        (Rights::GENERIC_EXECUTE, Rights::FILE_EXECUTE),
        (Rights::GENERIC_ALL, Rights::FILE_ALL),
    ];
    generic
        .into_iter()
        .filter(|(from, _)| rights.contains(*from))
        .fold(rights, |rights, (from, to)| (rights & !from) | to)
}

/// Whether an entry speaks about the object itself.
pub(crate) const fn is_effective(ace: &Ace) -> bool {
    !ace.flags.contains(AceFlags::INHERIT_ONLY)
}

/// What is left to ask for after privileges.
fn by_privilege(token: &Token, rights: Rights) -> Rights {
    token
        .privileges
        .iter()
        .map(|privilege| match privilege {
            Privilege::Backup => Rights::FILE_READ | Rights::FILE_EXECUTE,
            Privilege::Restore => {
                Rights::FILE_WRITE | Rights::WRITE_DAC | Rights::WRITE_OWNER | Rights::DELETE
            }
            Privilege::TakeOwnership => Rights::WRITE_OWNER,
        })
        .fold(rights, |rights, granted| rights & !granted)
}

/// One pass over the entries that match.
fn pass(
    descriptor: &Descriptor,
    asked: Rights,
    matches: impl Fn(&Ace) -> bool,
) -> Result<(), Refused> {
    let mut open = asked;
    for (place, ace) in descriptor.list().enumerate() {
        if open == Rights::NONE {
            break;
        }
        if !is_effective(ace) || !matches(ace) {
            continue;
        }
        let said = mapped(ace.rights);
        match ace.kind {
            AceKind::Deny if open.intersects(said) => {
                return Err(Refused {
                    pass: Pass::Identity,
                    entry: Some(place),
                    rights: open & said,
                });
            }
            AceKind::Deny => {}
            AceKind::Allow => open = open & !said,
        }
    }
    match open {
        Rights::NONE => Ok(()),
        rights => Err(Refused {
            pass: Pass::Identity,
            entry: None,
            rights,
        }),
    }
}

impl Refused {
    const fn in_pass(self, pass: Pass) -> Self {
        Self { pass, ..self }
    }
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pass = match self.pass {
            Pass::Identity => "who it is",
            Pass::Restriction => "what restricts it",
        };
        match self.entry {
            Some(entry) => write!(f, "{} denied by entry {entry}, for {pass}", self.rights),
            None => write!(f, "{} allowed by no entry, for {pass}", self.rights),
        }
    }
}

impl std::error::Error for Refused {}
