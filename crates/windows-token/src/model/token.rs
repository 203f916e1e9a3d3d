//! Who asks: a token, as far as the access check looks at it.

use super::check::check;
use super::descriptor::Descriptor;
use super::switches::Switches;
use crate::acl::{Ace, AceKind, Rights};
use crate::host::WindowsHost;
use crate::plan::TokenPlan;
use crate::sid::Sid;

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Token {
    /// Who it is; the owner of what it makes.
    pub user: Sid,
    /// The user, unless that is disabled, and the groups that allow and deny.
    pub enabled: Vec<Sid>,
    /// What may only deny from now on.
    pub deny_only: Vec<Sid>,
    /// The second check, if there is one.
    pub restriction: Option<Restriction>,
    /// What overrides lists.
    pub privileges: Vec<Privilege>,
    /// The list of what it makes where nothing is inherited.
    pub default_dacl: Vec<Ace>,
}

/// The second check of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Restriction {
    /// The only identifiers that it knows.
    pub sids: Vec<Sid>,
    /// Whether it is for writing only.
    pub writes_only: bool,
}

/// A privilege that overrides the list of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Privilege {
    /// `SeBackupPrivilege`: reads everything.
    Backup,
    /// `SeRestorePrivilege`: writes everything.
    Restore,
    /// `SeTakeOwnershipPrivilege`: becomes the owner of everything.
    TakeOwnership,
}

impl Privilege {
    /// By its name on Windows, if it is one that overrides lists of files.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "SeBackupPrivilege" => Some(Self::Backup),
            "SeRestorePrivilege" => Some(Self::Restore),
            "SeTakeOwnershipPrivilege" => Some(Self::TakeOwnership),
            _ => None,
        }
    }
}

impl Token {
    /// A user with these groups, and nothing that restricts it.
    #[must_use]
    pub fn of(user: Sid, groups: impl IntoIterator<Item = Sid>) -> Self {
        let enabled = [user.clone()].into_iter().chain(groups).collect();
        Self {
            user,
            enabled,
            deny_only: Vec::new(),
            restriction: None,
            privileges: Vec::new(),
            default_dacl: Vec::new(),
        }
    }

    /// The user of a host, as every program of his that we did not start: with the groups that all users have.
    #[must_use]
    pub fn of_user(host: &WindowsHost) -> Self {
        let everybody = ["S-1-1-0", "S-1-5-11", "S-1-5-32-545"];
        let groups = everybody
            .iter()
            .filter_map(|text| text.parse().ok())
            .chain([host.logon.clone()])
            .chain(host.powerful_groups.iter().cloned());
        let mut token = Self::of(host.user.clone(), groups);
        token.privileges = host
            .privileges
            .iter()
            .filter_map(|name| Privilege::named(name))
            .collect();
        token
    }

    /// What a plan makes of the token of the user.
    ///
    /// `DISABLE_MAX_PRIVILEGE` drops what overrides lists (Microsoft Learn, CreateRestrictedToken: it keeps only the
    /// privilege to pass through directories, and then ignores the list of privileges to delete). What `LUA_TOKEN` does
    /// to groups is not documented in full, so only the groups that the plan disables by name count as disabled.
    #[must_use]
    pub fn of_plan(plan: &TokenPlan, host: &WindowsHost) -> Self {
        let mut token = Self::of_user(host);
        let disabled = |sid: &Sid| plan.disable.contains(sid);
        token.deny_only = token
            .enabled
            .iter()
            .filter(|sid| disabled(sid))
            .cloned()
            .collect();
        token.enabled.retain(|sid| !disabled(sid));
        token.privileges.retain(|privilege| {
            let deleted = plan
                .delete_privileges
                .iter()
                .any(|name| Privilege::named(name) == Some(*privilege));
            !plan.disable_max_privilege && !deleted
        });
        // A token that is restricted for writing and names nobody writes nothing; without the flag it is not restricted.
        if plan.write_restricted || !plan.restricting.is_empty() {
            token = token.restricted(plan.restricting.iter().cloned(), plan.write_restricted);
        }
        token.default_dacl.clone_from(&plan.default_dacl);
        token
    }

    /// The same token with a second check.
    #[must_use]
    pub fn restricted(self, sids: impl IntoIterator<Item = Sid>, writes_only: bool) -> Self {
        let restriction = Restriction {
            sids: sids.into_iter().collect(),
            writes_only,
        };
        Self {
            restriction: Some(restriction),
            ..self
        }
    }

    /// The same token with one of its identifiers for denials only.
    #[must_use]
    pub fn with_deny_only(mut self, sid: Sid) -> Self {
        self.enabled.retain(|enabled| *enabled != sid);
        self.deny_only.push(sid);
        self
    }

    /// The same token with a privilege.
    #[must_use]
    pub fn with_privilege(mut self, privilege: Privilege) -> Self {
        self.privileges.push(privilege);
        self
    }

    /// The same token with this list for what it makes.
    #[must_use]
    pub fn with_default_dacl(self, default_dacl: Vec<Ace>) -> Self {
        Self {
            default_dacl,
            ..self
        }
    }
}

/// Whether a token would be used at all: of what a plan says that it must be refused, each by itself, on a file of the
/// user's own and on the directory that holds it, it is refused everything. The directory counts for the file, and the one
/// above for the directory: whoever may remove what it holds may open that to remove it.
#[must_use]
pub fn passes_self_check(plan: &TokenPlan, host: &WindowsHost, switches: Switches) -> bool {
    let token = Token::of_plan(plan, host);
    let with = |rights| {
        let his = Ace::new(AceKind::Allow, rights, host.user.clone());
        Descriptor::new(host.user.clone(), [his])
    };
    let above = with(Rights::FILE_ALL & !Rights::DELETE_CHILD);
    let directory = with(plan.canary_rights());
    let file = directory.clone();
    let gets = |object, right| check(&token, object, right, switches).is_ok();
    let granted = |right: Rights| {
        [(&file, &directory), (&directory, &above)]
            .into_iter()
            .any(|(object, holder)| {
                gets(object, right) || right == Rights::DELETE && gets(holder, Rights::DELETE_CHILD)
            })
    };
    (0..u32::BITS)
        .map(|bit| Rights(1 << bit))
        .filter(|right| plan.must_refuse.contains(*right))
        .all(|right| !granted(right))
}
