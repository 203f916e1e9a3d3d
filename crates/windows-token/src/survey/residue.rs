//! What earlier commands left in what a policy closes: objects whose own access lists open them.

use std::os::windows::io::AsHandle as _;

use palisade_policy::{AbsolutePath, Access, ResolvedPolicy};

use super::look::SurveyOptions;
use crate::acl::{Acl, Rights};
use crate::host::{Entry, Residue, WindowsHost};
use crate::sid::Sid;
use crate::sys::file::{LastName, open};
use crate::sys::security::file_dacl;

/// Looks below everything that a policy closes inside a place that it opens. The capabilities of the places are known by
/// now. Links are not followed: what they lead to is not below.
pub(crate) fn residue(
    policy: &ResolvedPolicy,
    host: &WindowsHost,
    options: &SurveyOptions,
) -> Residue {
    let case = policy.context().facts.case;
    let to: Vec<Sid> = host
        .capabilities
        .values()
        .chain([&host.logon])
        .cloned()
        .chain([Sid::restricted_code(), Sid::write_restricted()])
        .collect();
    let is_closed = |path: &AbsolutePath| policy.place(&Access::Write(path.clone())).is_none();
    let mut pending: Vec<AbsolutePath> = host
        .places
        .iter()
        .filter(|(name, located)| located.entry == Entry::Directory && is_closed(name))
        .map(|(_, located)| located.real.clone())
        .filter(|real| {
            host.capabilities
                .keys()
                .any(|place| place.covers(real, case))
        })
        .collect();
    // A directory below another one is looked at once.
    pending.sort();
    let mut tops: Vec<AbsolutePath> = Vec::new();
    for path in pending {
        if !tops.iter().any(|top| top.covers(&path, case)) {
            tops.push(path);
        }
    }
    let mut pending = tops;
    let mut left = options.max_entries;
    let (mut count, mut example, mut certain) = (0, None, true);
    while let Some(directory) = pending.pop() {
        let Ok(entries) = std::fs::read_dir(directory.as_path()) else {
            certain = false;
            continue;
        };
        for entry in entries {
            let (Some(fewer), Ok(entry)) = (left.checked_sub(1), entry) else {
                certain = false;
                break;
            };
            left = fewer;
            let Ok(path) = AbsolutePath::new(entry.path()) else {
                certain = false;
                continue;
            };
            match opens(&path, &to) {
                Some(true) if is_closed(&path) => {
                    count += 1;
                    example.get_or_insert_with(|| path.clone());
                }
                Some(_) => {}
                None => certain = false,
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push(path),
                Ok(_) => {}
                Err(_) => certain = false,
            }
        }
    }
    match example {
        Some(example) => Residue::Found { count, example },
        None if certain => Residue::None,
        None => Residue::Unknown,
    }
}

/// Whether the list of an object opens it by itself; `None` if nobody lets us look.
fn opens(path: &AbsolutePath, to: &[Sid]) -> Option<bool> {
    let object = open(path.as_path(), Rights::READ_CONTROL, LastName::Itself).ok()?;
    let dacl = file_dacl(object.as_handle()).ok()?;
    let Some(bytes) = dacl.bytes else {
        // No list at all: open to everybody.
        return Some(true);
    };
    let list = Acl::from_bytes(&bytes).ok()?;
    Some(list.opens_by_itself(dacl.protected, to))
}
