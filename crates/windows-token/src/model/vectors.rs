//! Cases with known answers, for the model and for the real `AccessCheck`.
//!
//! Tokens cannot be made of any identifiers one likes, so a case speaks of [`Whom`], and whoever runs it says which
//! identifiers those are where it runs.

use super::descriptor::Descriptor;
use super::token::Token;
use crate::acl::{Ace, AceFlags, AceKind, Rights};
use crate::sid::Sid;

/// Whom a case speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "who runs the cases must know each")]
pub enum Whom {
    /// The user of the token.
    User,
    /// A group that is enabled in it, such as Everyone.
    Group,
    /// A group that it has for denials only.
    DenyOnly,
    /// Nobody that the token knows.
    Stranger,
    /// Somebody that only restricts it.
    Capability,
    /// OWNER RIGHTS.
    OwnerRights,
}

/// Which identifiers they are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "who runs the cases must fill in each"
)]
pub struct People {
    /// [`Whom::User`].
    pub user: Sid,
    /// [`Whom::Group`].
    pub group: Sid,
    /// [`Whom::DenyOnly`].
    pub deny_only: Sid,
    /// [`Whom::Stranger`].
    pub stranger: Sid,
    /// [`Whom::Capability`].
    pub capability: Sid,
}

/// What a token asks for, and whether it gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Case {
    /// What the case shows.
    pub name: &'static str,
    /// Who owns the object.
    pub owner: Whom,
    /// Its list; `None` for none.
    pub list: Option<Vec<Entry>>,
    /// What the token asks for, possibly generic.
    pub desired: Rights,
    /// Whether it gets all of it.
    pub granted: bool,
    /// Which token asks.
    pub asks: Asks,
}

/// Which token asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "who runs the cases must know each")]
pub enum Asks {
    /// The user with his group, and the group for denials only. Emulators get these right.
    Normal,
    /// The same, restricted for writing to the capability. Only real Windows gets these right.
    WriteRestricted,
    /// The same, restricted for everything.
    Restricted,
}

/// An entry of a case.
pub type Entry = (AceKind, AceFlags, Rights, Whom);

impl People {
    /// The identifier.
    #[must_use]
    pub fn sid(&self, whom: Whom) -> Sid {
        match whom {
            Whom::User => self.user.clone(),
            Whom::Group => self.group.clone(),
            Whom::DenyOnly => self.deny_only.clone(),
            Whom::Stranger => self.stranger.clone(),
            Whom::Capability => self.capability.clone(),
            Whom::OwnerRights => Sid::owner_rights(),
        }
    }
}

impl Case {
    /// The descriptor of the case.
    #[must_use]
    pub fn descriptor(&self, people: &People) -> Descriptor {
        let entry = |(kind, flags, rights, whom): &Entry| {
            Ace::new(*kind, *rights, people.sid(*whom)).with_flags(*flags)
        };
        let owner = people.sid(self.owner);
        match &self.list {
            Some(list) => Descriptor::new(owner, list.iter().map(entry)),
            None => Descriptor::without_list(owner),
        }
    }

    /// The token of the case.
    #[must_use]
    pub fn token(&self, people: &People) -> Token {
        let groups = [people.group.clone(), people.deny_only.clone()];
        let token = Token::of(people.user.clone(), groups).with_deny_only(people.deny_only.clone());
        match self.asks {
            Asks::Normal => token,
            Asks::WriteRestricted => token.restricted([people.capability.clone()], true),
            Asks::Restricted => token.restricted([people.capability.clone()], false),
        }
    }
}

const ALLOW: AceKind = AceKind::Allow;
const DENY: AceKind = AceKind::Deny;
const HERE: AceFlags = AceFlags::NONE;

/// The cases that one pass decides.
#[must_use]
pub fn normal_cases() -> Vec<Case> {
    use Whom::{DenyOnly, Group, OwnerRights, Stranger, User};
    let case = |name, list: &[Entry], desired, granted| Case {
        name,
        owner: Stranger,
        list: Some(list.to_vec()),
        desired,
        granted,
        asks: Asks::Normal,
    };
    let owned = |name, list: &[Entry], desired, granted| Case {
        owner: User,
        ..case(name, list, desired, granted)
    };
    let both = Rights::READ_DATA | Rights::WRITE_DATA;
    let only_below = AceFlags(AceFlags::TREE.0 | AceFlags::INHERIT_ONLY.0);
    vec![
        Case {
            list: None,
            ..case("no list allows everything", &[], Rights::FILE_ALL, true)
        },
        case(
            "an empty list allows nothing",
            &[],
            Rights::READ_DATA,
            false,
        ),
        case(
            "the user",
            &[(ALLOW, HERE, Rights::FILE_READ, User)],
            Rights::FILE_READ,
            true,
        ),
        case(
            "a group",
            &[(ALLOW, HERE, Rights::FILE_READ, Group)],
            Rights::READ_DATA,
            true,
        ),
        case(
            "somebody else",
            &[(ALLOW, HERE, Rights::FILE_ALL, Stranger)],
            Rights::READ_DATA,
            false,
        ),
        case(
            "not everything that was asked for",
            &[(ALLOW, HERE, Rights::FILE_READ, User)],
            both,
            false,
        ),
        case(
            "two entries together",
            &[
                (ALLOW, HERE, Rights::READ_DATA, User),
                (ALLOW, HERE, Rights::WRITE_DATA, Group),
            ],
            both,
            true,
        ),
        case(
            "a denial before what allows",
            &[
                (DENY, HERE, Rights::WRITE_DATA, Group),
                (ALLOW, HERE, Rights::FILE_ALL, User),
            ],
            Rights::WRITE_DATA,
            false,
        ),
        case(
            "a denial of something else",
            &[
                (DENY, HERE, Rights::WRITE_DATA, Group),
                (ALLOW, HERE, Rights::FILE_ALL, User),
            ],
            Rights::READ_DATA,
            true,
        ),
        case(
            "a denial behind what allows it all",
            &[
                (ALLOW, HERE, Rights::FILE_ALL, User),
                (DENY, HERE, Rights::WRITE_DATA, User),
            ],
            Rights::WRITE_DATA,
            true,
        ),
        case(
            "a denial between two that allow",
            &[
                (ALLOW, HERE, Rights::READ_DATA, User),
                (DENY, HERE, Rights::WRITE_DATA, User),
                (ALLOW, HERE, Rights::WRITE_DATA, User),
            ],
            both,
            false,
        ),
        case(
            "a denial for somebody else",
            &[
                (DENY, HERE, Rights::FILE_ALL, Stranger),
                (ALLOW, HERE, Rights::FILE_ALL, User),
            ],
            both,
            true,
        ),
        case(
            "a group for denials does not allow",
            &[(ALLOW, HERE, Rights::FILE_ALL, DenyOnly)],
            Rights::READ_DATA,
            false,
        ),
        case(
            "a group for denials denies",
            &[
                (DENY, HERE, Rights::READ_DATA, DenyOnly),
                (ALLOW, HERE, Rights::FILE_ALL, User),
            ],
            Rights::READ_DATA,
            false,
        ),
        case(
            "what is only for below does not allow",
            &[(ALLOW, only_below, Rights::FILE_ALL, User)],
            Rights::READ_DATA,
            false,
        ),
        case(
            "what is only for below does not deny",
            &[
                (DENY, only_below, Rights::FILE_ALL, User),
                (ALLOW, HERE, Rights::FILE_ALL, User),
            ],
            Rights::READ_DATA,
            true,
        ),
        case(
            "a generic right is asked for",
            &[(ALLOW, HERE, Rights::FILE_READ, User)],
            Rights::GENERIC_READ,
            true,
        ),
        case(
            "a generic right is more than its name",
            &[(ALLOW, HERE, Rights::WRITE_DATA, User)],
            Rights::GENERIC_WRITE,
            false,
        ),
        owned(
            "an owner reads and changes the list",
            &[],
            Rights::READ_CONTROL | Rights::WRITE_DAC,
            true,
        ),
        owned("an owner does not read", &[], Rights::READ_DATA, false),
        owned("an owner does not take", &[], Rights::WRITE_OWNER, false),
        owned(
            "a denial does not hold an owner back",
            &[(DENY, HERE, Rights::FILE_ALL, User)],
            Rights::WRITE_DAC,
            true,
        ),
        owned(
            "owner rights hold an owner back",
            &[(ALLOW, HERE, Rights::READ_CONTROL, OwnerRights)],
            Rights::WRITE_DAC,
            false,
        ),
        owned(
            "owner rights allow an owner",
            &[(ALLOW, HERE, Rights::WRITE_DATA, OwnerRights)],
            Rights::WRITE_DATA,
            true,
        ),
        case(
            "owner rights do not speak of others",
            &[(ALLOW, HERE, Rights::FILE_ALL, OwnerRights)],
            Rights::WRITE_DATA,
            false,
        ),
    ]
}

/// The cases that a second pass decides, as published observations and documentation have them.
#[must_use]
pub fn restricted_cases() -> Vec<Case> {
    use Whom::{Capability, Group, Stranger, User};
    let case = |asks, name, list: &[Entry], desired, granted| Case {
        name,
        owner: Stranger,
        list: Some(list.to_vec()),
        desired,
        granted,
        asks,
    };
    let writing = Asks::WriteRestricted;
    let user = (ALLOW, HERE, Rights::FILE_ALL, User);
    let root = (ALLOW, HERE, Rights::WRITABLE_ROOT, Capability);
    vec![
        case(
            writing,
            "reading is not restricted",
            &[user],
            Rights::FILE_READ,
            true,
        ),
        case(writing, "writing is", &[user], Rights::WRITE_DATA, false),
        case(writing, "removing is", &[user], Rights::DELETE, false),
        case(
            writing,
            "a capability alone is not enough",
            &[root],
            Rights::WRITE_DATA,
            false,
        ),
        case(
            writing,
            "the user and the capability",
            &[root, user],
            Rights::FILE_READ | Rights::FILE_WRITE | Rights::DELETE,
            true,
        ),
        case(
            writing,
            "a denial of the capability holds",
            &[(DENY, HERE, Rights::CHANGES, Capability), root, user],
            Rights::WRITE_DATA,
            false,
        ),
        case(
            writing,
            "a denial of reading does not",
            &[(DENY, HERE, Rights::FILE_READ, Capability), root, user],
            Rights::FILE_READ,
            true,
        ),
        case(
            writing,
            "what everybody may write stays closed",
            &[(ALLOW, HERE, Rights::FILE_ALL, Group)],
            Rights::WRITE_DATA,
            false,
        ),
        case(
            writing,
            "the user removes what his directory holds",
            &[user],
            Rights::DELETE_CHILD,
            true,
        ),
        case(
            Asks::Restricted,
            "restricted for everything: reading too",
            &[user],
            Rights::FILE_READ,
            false,
        ),
        case(
            Asks::Restricted,
            "restricted for everything: a denial of reading holds",
            &[(DENY, HERE, Rights::FILE_READ, Capability), root, user],
            Rights::FILE_READ,
            false,
        ),
        Case {
            list: None,
            ..case(
                writing,
                "no list restricts nobody",
                &[],
                Rights::FILE_ALL,
                true,
            )
        },
        Case {
            owner: User,
            ..case(
                writing,
                "an owner who is restricted is no owner",
                &[],
                Rights::WRITE_DAC,
                false,
            )
        },
    ]
}
