//! Who the command is: the user's own token, with less.

use crate::acl::{Ace, AceKind, Rights};
use crate::host::WindowsHost;
use crate::plan::TokenPlan;
use crate::sid::Sid;

/// The privilege to pass through directories on the way to something. Everybody has it, and nothing works without it.
const TRAVERSE: &str = "SeChangeNotifyPrivilege";

/// The token for these capabilities. `own` are those that no other session has.
pub(super) fn plan(host: &WindowsHost, capabilities: &[Sid], own: &[Sid]) -> TokenPlan {
    let restricting: Vec<Sid> = capabilities.iter().chain([&host.logon]).cloned().collect();
    // What the command makes where nothing is inherited, such as its pipes, must pass both checks: the first knows the
    // user, the second only the restricting identifiers. One that other sessions have as well would open it to them: the
    // processes of a session are among what it makes, and whoever changes one writes what it may write.
    let system = Sid::local_system();
    let known = match own {
        [] => restricting.as_slice(),
        own => own,
    };
    let default_dacl = [&host.user, &system]
        .into_iter()
        .chain(known)
        .map(|sid| Ace::new(AceKind::Allow, Rights::GENERIC_ALL, sid.clone()))
        .collect();
    TokenPlan {
        disable_max_privilege: true,
        lua_token: true,
        write_restricted: true,
        restricting,
        disable: host.powerful_groups.clone(),
        delete_privileges: host
            .privileges
            .iter()
            .filter(|name| !name.eq_ignore_ascii_case(TRAVERSE))
            .cloned()
            .collect(),
        default_dacl,
        must_refuse: match host.second_check {
            // What the report then claims is tried on the very token.
            Some(seen) if seen.contains(Rights::CHANGES) => Rights::CHANGES,
            _ => Rights::CHANGES & !Rights::DELETE_CHILD,
        },
    }
}
