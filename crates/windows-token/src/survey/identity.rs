//! Who runs the command: the user, his logon session, and what makes him more than a user.

use std::io;

use crate::sid::Sid;
use crate::sys::token::Token;

/// Groups of this machine that can do what a user cannot, by their last number: administrators, power users, operators
/// of accounts, servers, printers, backups and replication, network configuration, cryptography, Hyper-V, remote
/// management, and the administrators of storage.
const OF_THE_MACHINE: [u32; 13] = [
    544, 547, 548, 549, 550, 551, 552, 556, 569, 578, 579, 580, 582,
];

/// Groups of a domain that can do what a user cannot: read-only and other domain controllers, administrators of domain,
/// schema, enterprise and policy, publishers of certificates, key administrators.
const OF_A_DOMAIN: [u32; 10] = [498, 512, 516, 517, 518, 519, 520, 521, 526, 527];

/// What the token of this process says about its user.
pub(super) struct Identity {
    pub(super) user: Sid,
    pub(super) logon: Option<Sid>,
    pub(super) powerful_groups: Vec<Sid>,
    pub(super) privileges: Vec<String>,
}

pub(super) fn identity() -> io::Result<Identity> {
    let token = Token::own()?;
    let groups = token.groups()?;
    let logon = groups.iter().find(|group| group.is_logon());
    Ok(Identity {
        user: token.user()?,
        logon: logon.map(|group| group.sid.clone()),
        powerful_groups: groups
            .iter()
            .map(|group| &group.sid)
            .filter(|sid| is_powerful(sid))
            .cloned()
            .collect(),
        privileges: token
            .privileges()?
            .into_iter()
            .map(|privilege| privilege.name)
            .collect(),
    })
}

fn is_powerful(sid: &Sid) -> bool {
    let bytes = sid.to_bytes();
    let numbers: Vec<u32> = bytes
        .get(8..)
        .unwrap_or_default()
        .chunks_exact(4)
        .map(|chunk| {
            chunk
                .iter()
                .rev()
                .fold(0, |value, byte| value << 8 | u32::from(*byte))
        })
        .collect();
    let of_windows = bytes.get(2..8) == Some(&[0, 0, 0, 0, 0, 5]);
    of_windows
        && match numbers.as_slice() {
            [32, last] => OF_THE_MACHINE.contains(last),
            [21, _, _, _, last] => OF_A_DOMAIN.contains(last),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn administrators_are_powerful_and_users_are_not() {
        let powerful = |sid: &str| is_powerful(&sid.parse().unwrap());
        for sid in ["S-1-5-32-544", "S-1-5-32-551", "S-1-5-21-1-2-3-512"] {
            assert!(powerful(sid), "{sid}");
        }
        for sid in [
            "S-1-1-0",
            "S-1-5-32-545",
            "S-1-5-21-1-2-3-513",
            "S-1-5-21-1-2-512",
            "S-1-3-32-544",
            "S-1-5-5-0-544",
        ] {
            assert!(!powerful(sid), "{sid}");
        }
    }

    #[test]
    fn this_process_has_a_user_and_a_logon_session() {
        let identity = identity().unwrap();
        assert!(identity.user.to_string().starts_with("S-1-5-21-"));
        let logon = identity.logon.unwrap().to_string();
        assert!(logon.starts_with("S-1-5-5-"), "{logon}");
        let pass_through = crate::sys::token::PASS_THROUGH;
        assert!(identity.privileges.iter().any(|name| name == pass_through));
    }
}
