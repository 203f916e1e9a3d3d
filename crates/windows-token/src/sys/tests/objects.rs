//! Objects with names: their access lists are enforced, also by Wine.

use super::{allow, bytes_of};
use crate::acl::{Ace, AceKind, Rights};
use crate::sid::Sid;
use crate::sys::for_tests::{make_event, open_event};
use crate::sys::token::Token;

/// `EVENT_MODIFY_STATE`.
const MODIFY: u32 = 0x0002;
const ALL: Rights = Rights(0x001F_0003);

fn opens(name: &str, list: impl IntoIterator<Item = Ace>) -> Result<(), Option<i32>> {
    let name = format!("palisade-{name}-{}", std::process::id());
    let _event = make_event(&name, &bytes_of(list)).unwrap();
    open_event(&name, MODIFY)
        .map(drop)
        .map_err(|error| error.raw_os_error())
}

#[test]
fn an_event_opens_for_whom_its_list_names() {
    let user = Token::own().unwrap().user().unwrap();
    assert_eq!(opens("allowed", [allow(ALL, &user)]), Ok(()));
    assert_eq!(opens("everyone", [allow(ALL, &Sid::everyone())]), Ok(()));
}

#[test]
fn an_event_stays_closed_to_all_others() {
    let user = Token::own().unwrap().user().unwrap();
    let deny = Ace::new(AceKind::Deny, Rights(MODIFY), user.clone());
    assert_eq!(opens("denied", [deny, allow(ALL, &user)]), Err(Some(5)));
    assert_eq!(opens("empty", []), Err(Some(5)));
    let capability = Sid::capability([5, 6, 7, 8]);
    assert_eq!(opens("capability", [allow(ALL, &capability)]), Err(Some(5)));
}
