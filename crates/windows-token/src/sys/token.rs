//! Tokens: who a process is. They are read, restricted, and given less.

use std::io;
use std::os::windows::io::{AsHandle as _, BorrowedHandle, OwnedHandle};
use std::ptr;

use windows_sys::Win32::Foundation::{ERROR_INSUFFICIENT_BUFFER, HANDLE, LUID};
use windows_sys::Win32::Security::{
    AdjustTokenPrivileges, CreateRestrictedToken, DISABLE_MAX_PRIVILEGE, DuplicateTokenEx,
    GetLengthSid, GetTokenInformation, IsTokenRestricted, LUA_TOKEN, LUID_AND_ATTRIBUTES,
    LookupPrivilegeNameW, LookupPrivilegeValueW, PSID, SE_PRIVILEGE_ENABLED, SE_PRIVILEGE_REMOVED,
    SID_AND_ATTRIBUTES, SecurityImpersonation, SetTokenInformation, TOKEN_ADJUST_DEFAULT,
    TOKEN_ADJUST_PRIVILEGES, TOKEN_ASSIGN_PRIMARY, TOKEN_DEFAULT_DACL, TOKEN_DUPLICATE,
    TOKEN_GROUPS, TOKEN_IMPERSONATE, TOKEN_INFORMATION_CLASS, TOKEN_PRIVILEGES, TOKEN_QUERY,
    TOKEN_USER, TokenDefaultDacl, TokenGroups, TokenImpersonation, TokenPrivileges,
    TokenRestrictedSids, TokenUser, WRITE_RESTRICTED,
};
use windows_sys::Win32::System::SystemServices::{
    SE_GROUP_ENABLED, SE_GROUP_LOGON_ID, SE_GROUP_USE_FOR_DENY_ONLY,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

use super::buffer::Buffer;
use super::{check, length, own, raw, security, text};
use crate::plan::TokenPlan;
use crate::sid::Sid;

/// A token of which nothing is known but that it exists.
#[derive(Debug)]
pub(crate) struct Token(OwnedHandle);

/// A token that a thread can act as.
#[derive(Debug)]
pub(crate) struct ImpersonationToken(OwnedHandle);

/// A group in a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) sid: Sid,
    attributes: u32,
}

impl Group {
    /// Whether entries that allow something to the group count.
    pub(crate) const fn is_enabled(&self) -> bool {
        self.attributes & SE_GROUP_ENABLED.cast_unsigned() != 0
    }

    /// Whether only entries that deny something to the group count.
    pub(crate) const fn is_deny_only(&self) -> bool {
        self.attributes & SE_GROUP_USE_FOR_DENY_ONLY.cast_unsigned() != 0
    }

    /// Whether it stands for the logon session.
    pub(crate) const fn is_logon(&self) -> bool {
        let mark = SE_GROUP_LOGON_ID.cast_unsigned();
        self.attributes & mark == mark
    }
}

/// A privilege in a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Privilege {
    pub(crate) name: String,
    pub(crate) enabled: bool,
}

/// The privilege to pass through directories that one may not list: without it hardly any program starts.
pub(crate) const PASS_THROUGH: &str = "SeChangeNotifyPrivilege";

impl Token {
    /// The token of this process.
    ///
    /// # Errors
    /// The system refused.
    pub(crate) fn own() -> io::Result<Self> {
        let access = TOKEN_QUERY
            | TOKEN_DUPLICATE
            | TOKEN_ASSIGN_PRIMARY
            | TOKEN_ADJUST_DEFAULT
            | TOKEN_ADJUST_PRIVILEGES;
        let mut handle: HANDLE = ptr::null_mut();
        // SAFETY: the pseudo handle of this process is always valid, and the place for the answer is ours.
        check(unsafe { OpenProcessToken(GetCurrentProcess(), access, &raw mut handle) })?;
        // SAFETY: the call succeeded, so the handle is ours.
        unsafe { own(handle) }.map(Self)
    }

    /// Who it is.
    ///
    /// # Errors
    /// The system refused, or answered nonsense.
    pub(crate) fn user(&self) -> io::Result<Sid> {
        let answer = self.ask(TokenUser)?;
        // SAFETY: any bytes are a `TOKEN_USER`; what its pointer says is trusted only after the length check in `sid_at`.
        let user: TOKEN_USER = unsafe { answer.read() }.ok_or_else(nonsense)?;
        sid_in(&answer, user.User.Sid)
    }

    /// Its groups.
    ///
    /// # Errors
    /// The system refused, or answered nonsense.
    pub(crate) fn groups(&self) -> io::Result<Vec<Group>> {
        self.groups_of(TokenGroups)
    }

    /// The identifiers that the second check knows; none if there is no second check.
    ///
    /// # Errors
    /// The system refused, or answered nonsense.
    pub(crate) fn restricting(&self) -> io::Result<Vec<Sid>> {
        let groups = self.groups_of(TokenRestrictedSids)?;
        Ok(groups.into_iter().map(|group| group.sid).collect())
    }

    fn groups_of(&self, class: TOKEN_INFORMATION_CLASS) -> io::Result<Vec<Group>> {
        let answer = self.ask(class)?;
        // SAFETY: any bytes are a count.
        let count: u32 = unsafe { answer.read() }.ok_or_else(nonsense)?;
        (0..count as usize)
            .map(|index| {
                // SAFETY: any bytes are a `SID_AND_ATTRIBUTES`.
                let group: SID_AND_ATTRIBUTES =
                    unsafe { answer.entry(std::mem::offset_of!(TOKEN_GROUPS, Groups), index) }
                        .ok_or_else(nonsense)?;
                Ok(Group {
                    sid: sid_in(&answer, group.Sid)?,
                    attributes: group.Attributes,
                })
            })
            .collect()
    }

    /// Its privileges, by name. One that has no name on this system is given by its number.
    ///
    /// # Errors
    /// The system refused, or answered nonsense.
    pub(crate) fn privileges(&self) -> io::Result<Vec<Privilege>> {
        let answer = self.ask(TokenPrivileges)?;
        // SAFETY: any bytes are a count.
        let count: u32 = unsafe { answer.read() }.ok_or_else(nonsense)?;
        (0..count as usize)
            .map(|index| {
                let offset = std::mem::offset_of!(TOKEN_PRIVILEGES, Privileges);
                // SAFETY: any bytes are a `LUID_AND_ATTRIBUTES`.
                let privilege: LUID_AND_ATTRIBUTES =
                    unsafe { answer.entry(offset, index) }.ok_or_else(nonsense)?;
                Ok(Privilege {
                    name: privilege_name(privilege.Luid),
                    enabled: privilege.Attributes & SE_PRIVILEGE_ENABLED != 0,
                })
            })
            .collect()
    }

    /// Whether it has a second check, by its own word.
    pub(crate) fn is_restricted(&self) -> bool {
        // SAFETY: the handle is open for queries.
        unsafe { IsTokenRestricted(raw(self.handle())) != 0 }
    }

    /// The access list of what it makes where nothing is inherited, as bytes.
    ///
    /// # Errors
    /// The system refused, or answered nonsense.
    #[cfg(test)]
    pub(crate) fn default_dacl(&self) -> io::Result<Option<Vec<u8>>> {
        let answer = self.ask(TokenDefaultDacl)?;
        // SAFETY: any bytes are a `TOKEN_DEFAULT_DACL`.
        let dacl: TOKEN_DEFAULT_DACL = unsafe { answer.read() }.ok_or_else(nonsense)?;
        if dacl.DefaultDacl.is_null() {
            return Ok(None);
        }
        // SAFETY: the system put the list into the buffer, which lives until the copy is made.
        unsafe { security::acl_bytes(dacl.DefaultDacl) }.map(Some)
    }

    /// Sets that list.
    ///
    /// # Errors
    /// The list is none, or the system refused.
    pub(crate) fn set_default_dacl(&self, acl: &[u8]) -> io::Result<()> {
        let mut acl = security::checked_acl(acl)?;
        let dacl = TOKEN_DEFAULT_DACL {
            DefaultDacl: acl.as_mut_ptr().cast(),
        };
        // SAFETY: the list is valid, as was checked, and lives until after the call, which copies it.
        check(unsafe {
            SetTokenInformation(
                raw(self.handle()),
                TokenDefaultDacl,
                (&raw const dacl).cast(),
                length(size_of::<TOKEN_DEFAULT_DACL>())?,
            )
        })
    }

    /// A copy with less, as the plan says: restricted, groups that only deny, fewer privileges. The list for new objects
    /// stays what it was.
    ///
    /// # Errors
    /// The system refused. In a process that is restricted itself it does so with error 87.
    pub(crate) fn restrict(&self, plan: &TokenPlan) -> io::Result<Self> {
        let mut flags = 0;
        for (flag, wanted) in [
            (DISABLE_MAX_PRIVILEGE, plan.disable_max_privilege),
            (LUA_TOKEN, plan.lua_token),
            (WRITE_RESTRICTED, plan.write_restricted),
        ] {
            flags |= if wanted { flag } else { 0 };
        }
        let mut disable = Identifiers::of(&plan.disable);
        let mut restricting = Identifiers::of(&plan.restricting);
        let (disable, restricting) = (disable.entries(), restricting.entries());
        let mut handle: HANDLE = ptr::null_mut();
        // SAFETY: the two arrays and the identifiers they point to live until after the call, and the counts are
        // theirs. No privileges are given here: `remove_privileges` deletes them one by one.
        check(unsafe {
            CreateRestrictedToken(
                raw(self.handle()),
                flags,
                length(disable.len())?,
                disable.as_ptr(),
                0,
                ptr::null(),
                length(restricting.len())?,
                restricting.as_ptr(),
                &raw mut handle,
            )
        })?;
        // SAFETY: the call succeeded, so the handle is ours.
        unsafe { own(handle) }.map(Self)
    }

    /// Deletes these privileges for good. One that the token does not have is gone already.
    ///
    /// # Errors
    /// A name is unknown, or the system refused.
    pub(crate) fn remove_privileges(&self, names: &[String]) -> io::Result<()> {
        let have = self.privileges()?;
        for name in names {
            if have.iter().any(|privilege| privilege.name == *name) {
                self.adjust(name, SE_PRIVILEGE_REMOVED)?;
            }
        }
        Ok(())
    }

    /// Switches a privilege on that the token has.
    ///
    /// # Errors
    /// The name is unknown, or the token does not have it.
    pub(crate) fn enable_privilege(&self, name: &str) -> io::Result<()> {
        self.adjust(name, SE_PRIVILEGE_ENABLED)
    }

    fn adjust(&self, name: &str, attributes: u32) -> io::Result<()> {
        let state = TOKEN_PRIVILEGES {
            PrivilegeCount: 1,
            Privileges: [LUID_AND_ATTRIBUTES {
                Luid: privilege_number(name)?,
                Attributes: attributes,
            }],
        };
        // SAFETY: the state is one whole structure; the old state is not asked for.
        check(unsafe {
            AdjustTokenPrivileges(
                raw(self.handle()),
                0,
                &raw const state,
                0,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        })?;
        // It also "succeeds" if nothing was changed; only the error code tells.
        match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(0) => Ok(()),
            error => Err(error),
        }
    }

    /// The same token for a thread to act as.
    ///
    /// # Errors
    /// The system refused.
    pub(crate) fn impersonation(&self) -> io::Result<ImpersonationToken> {
        let mut handle: HANDLE = ptr::null_mut();
        // SAFETY: the handle is open for duplication, and the place for the answer is ours.
        check(unsafe {
            DuplicateTokenEx(
                raw(self.handle()),
                TOKEN_QUERY | TOKEN_IMPERSONATE,
                ptr::null(),
                SecurityImpersonation,
                TokenImpersonation,
                &raw mut handle,
            )
        })?;
        // SAFETY: the call succeeded, so the handle is ours.
        unsafe { own(handle) }.map(ImpersonationToken)
    }

    pub(super) fn handle(&self) -> BorrowedHandle<'_> {
        self.0.as_handle()
    }

    /// What the system says about one of its sides.
    fn ask(&self, class: TOKEN_INFORMATION_CLASS) -> io::Result<Buffer> {
        let mut answer = Buffer::zeroed(256);
        loop {
            let mut needed = 0;
            // SAFETY: the buffer is ours and as long as is said.
            let asked = check(unsafe {
                GetTokenInformation(
                    raw(self.handle()),
                    class,
                    answer.as_mut_ptr(),
                    length(answer.length())?,
                    &raw mut needed,
                )
            });
            match asked {
                Ok(()) => return Ok(answer),
                Err(error) if is_too_short(&error) && needed as usize > answer.length() => {
                    answer = Buffer::zeroed(needed as usize);
                }
                Err(error) => return Err(error),
            }
        }
    }
}

impl ImpersonationToken {
    pub(super) fn handle(&self) -> BorrowedHandle<'_> {
        self.0.as_handle()
    }
}

/// Identifiers as Windows takes them: an array of pointers to bytes that this keeps alive.
struct Identifiers {
    bytes: Vec<Buffer>,
    entries: Vec<SID_AND_ATTRIBUTES>,
}

impl Identifiers {
    fn of(sids: &[Sid]) -> Self {
        Self {
            bytes: sids
                .iter()
                .map(|sid| Buffer::copy_of(&sid.to_bytes()))
                .collect(),
            entries: Vec::new(),
        }
    }

    fn entries(&mut self) -> &[SID_AND_ATTRIBUTES] {
        self.entries = self
            .bytes
            .iter_mut()
            .map(|sid| SID_AND_ATTRIBUTES {
                Sid: sid.as_mut_ptr(),
                Attributes: 0,
            })
            .collect();
        &self.entries
    }
}

fn is_too_short(error: &io::Error) -> bool {
    // Wine says "bad length" (24) for some questions.
    const BAD_LENGTH: u32 = 24;
    let code = error.raw_os_error().map(i32::cast_unsigned);
    matches!(code, Some(ERROR_INSUFFICIENT_BUFFER | BAD_LENGTH))
}

fn nonsense() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "the system described a token in a way that makes no sense",
    )
}

/// The identifier that an answer of the system points to. It lies in the answer itself.
fn sid_in(answer: &Buffer, sid: PSID) -> io::Result<Sid> {
    let start = answer.as_ptr().addr();
    let end = start + answer.length();
    // Revision, count and authority must be there before the count is believed.
    let at = sid.addr();
    if at < start || end.saturating_sub(at) < 8 {
        return Err(nonsense());
    }
    // SAFETY: the first eight bytes lie in the answer, and no more are looked at.
    let length = unsafe { GetLengthSid(sid) } as usize;
    if length > end - at {
        return Err(nonsense());
    }
    // SAFETY: all of these bytes lie in the answer, which the reference keeps alive.
    let bytes = unsafe { std::slice::from_raw_parts(sid.cast::<u8>(), length) };
    let (sid, _) = Sid::from_bytes(bytes).map_err(io::Error::other)?;
    Ok(sid)
}

fn privilege_name(luid: LUID) -> String {
    let mut name = [0_u16; 128];
    let mut count = 128;
    // SAFETY: the number and the buffer are ours, and the count is the buffer's.
    let found = unsafe {
        LookupPrivilegeNameW(
            ptr::null(),
            &raw const luid,
            name.as_mut_ptr(),
            &raw mut count,
        )
    };
    match check(found) {
        Ok(()) => text::narrow(&name).to_string_lossy().into_owned(),
        Err(_) => format!("{}:{}", luid.HighPart, luid.LowPart),
    }
}

fn privilege_number(name: &str) -> io::Result<LUID> {
    if let Some((high, low)) = name.split_once(':')
        && let (Ok(high), Ok(low)) = (high.parse(), low.parse())
    {
        return Ok(LUID {
            HighPart: high,
            LowPart: low,
        });
    }
    let name = text::wide(name.as_ref())?;
    let mut luid = LUID::default();
    // SAFETY: the name ends with a zero, and the place for the answer is ours.
    check(unsafe { LookupPrivilegeValueW(ptr::null(), name.as_ptr(), &raw mut luid) })?;
    Ok(luid)
}
