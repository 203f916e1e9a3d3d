//! Tokens: read, restricted, and given less.

use super::{allow, bytes_of, harmless};
use crate::acl::Rights;
use crate::plan::TokenPlan;
use crate::sid::Sid;
use crate::sys::for_tests::{access_check, is_member, is_wine, skipped_on_wine};
use crate::sys::thread::acting_as;
use crate::sys::token::{PASS_THROUGH, Token};

fn own() -> Token {
    Token::own().unwrap()
}

#[test]
fn the_own_token_is_not_restricted_and_has_a_logon_session() {
    let token = own();
    assert!(!token.is_restricted());
    let groups = token.groups().unwrap();
    let logons: Vec<_> = groups.iter().filter(|group| group.is_logon()).collect();
    assert_eq!(logons.len(), 1, "{groups:?}");
    assert!(logons[0].is_enabled());
    let everyone = groups.iter().find(|group| group.sid == Sid::everyone());
    assert!(everyone.is_some_and(|group| group.is_enabled() && !group.is_deny_only()));
}

#[test]
fn a_default_list_is_set_and_read_back() {
    let token = own().restrict(&harmless()).unwrap();
    let user = token.user().unwrap();
    let capability = Sid::capability([7, 8, 9, 10]);
    let list = bytes_of([
        allow(Rights::GENERIC_ALL, &user),
        allow(Rights::GENERIC_ALL, &capability),
    ]);
    token.set_default_dacl(&list).unwrap();
    assert_eq!(token.default_dacl().unwrap(), Some(list));
    // The token that it was made from is another one.
    assert_ne!(own().default_dacl().unwrap(), token.default_dacl().unwrap());
}

#[test]
fn a_default_list_that_is_none_is_refused() {
    let token = own().restrict(&harmless()).unwrap();
    let before = token.default_dacl().unwrap();
    let good = bytes_of([allow(Rights::GENERIC_ALL, &Sid::everyone())]);
    for bad in [
        vec![],
        vec![2, 0, 8, 0, 0, 0],
        good[..good.len() - 4].to_vec(),
        [&good[..], &[0; 4]].concat(),
    ] {
        assert!(token.set_default_dacl(&bad).is_err(), "{bad:02x?}");
    }
    assert_eq!(token.default_dacl().unwrap(), before);
}

#[test]
fn privileges_are_deleted_by_name_and_do_not_come_back() {
    let token = own().restrict(&harmless()).unwrap();
    let names: Vec<String> = token
        .privileges()
        .unwrap()
        .into_iter()
        .map(|privilege| privilege.name)
        .filter(|name| name != PASS_THROUGH)
        .collect();
    assert!(!names.is_empty());
    token.remove_privileges(&names).unwrap();
    let left: Vec<String> = token
        .privileges()
        .unwrap()
        .into_iter()
        .map(|privilege| privilege.name)
        .collect();
    assert_eq!(left, [PASS_THROUGH]);
    for name in &names {
        assert!(token.enable_privilege(name).is_err(), "{name}");
    }
    token.enable_privilege(PASS_THROUGH).unwrap();
    // Deleting what is gone changes nothing, and a name that nobody has is refused.
    token.remove_privileges(&names).unwrap();
    assert!(token.enable_privilege("SeNoSuchPrivilege").is_err());
}

#[test]
fn disabled_groups_only_deny() {
    let mut plan = harmless();
    plan.disable = vec![Sid::administrators(), Sid::everyone()];
    let token = own().restrict(&plan).unwrap();
    let groups = token.groups().unwrap();
    let mut seen = 0;
    for group in groups
        .iter()
        .filter(|group| plan.disable.contains(&group.sid))
    {
        assert!(group.is_deny_only() && !group.is_enabled(), "{group:?}");
        seen += 1;
    }
    assert!(seen > 0, "{groups:?}");

    // An entry that allows everybody does not count for it any more, and one that denies still does.
    let acting = token.impersonation().unwrap();
    let others = own().impersonation().unwrap();
    let list = bytes_of([allow(Rights::FILE_READ, &Sid::everyone())]);
    let owner = Sid::local_system();
    let may = |token| access_check(Some(&list), &owner, token, Rights::READ_DATA).unwrap();
    assert!(may(&others));
    assert!(!may(&acting));
    assert!(is_member(&others, &Sid::everyone()).unwrap());
    assert!(!is_member(&acting, &Sid::everyone()).unwrap());
}

#[test]
fn a_thread_acts_as_a_token_and_stops() {
    let mut plan = harmless();
    plan.disable = vec![Sid::everyone()];
    let token = own().restrict(&plan).unwrap().impersonation().unwrap();
    let list = bytes_of([allow(Rights(0x001F_0003), &Sid::everyone())]);
    let name = format!("palisade-acting-{}", std::process::id());
    let _event = crate::sys::for_tests::make_event(&name, &list).unwrap();
    let open = || crate::sys::for_tests::open_event(&name, 0x0002).is_ok();
    assert!(open());
    assert!(!acting_as(&token, open).unwrap());
    assert!(open(), "this thread never was anybody else");
}

fn restricted() -> TokenPlan {
    let logon = own()
        .groups()
        .unwrap()
        .into_iter()
        .find(|group| group.is_logon())
        .unwrap();
    TokenPlan {
        disable_max_privilege: true,
        lua_token: true,
        write_restricted: true,
        restricting: vec![Sid::capability([1, 2, 3, 4]), logon.sid],
        ..harmless()
    }
}

#[test]
fn restriction_is_seen_where_it_is_real() {
    let token = own().restrict(&restricted()).unwrap();
    // This is what the self-check relies on: Wine takes the call, drops the restriction, and does not claim otherwise.
    assert_eq!(token.is_restricted(), !is_wine());
}

#[test]
fn the_second_check_is_for_writing() {
    if skipped_on_wine("does not restrict") {
        return;
    }
    let plan = restricted();
    let token = own().restrict(&plan).unwrap();
    assert_eq!(token.privileges().unwrap().len(), 1);
    let acting = token.impersonation().unwrap();
    let user = token.user().unwrap();
    let [capability, _] = plan.restricting.as_slice() else {
        panic!("two were asked for");
    };
    let may = |list: &[u8], rights| access_check(Some(list), &user, &acting, rights).unwrap();
    let users = bytes_of([allow(Rights::FILE_ALL, &user)]);
    assert!(may(&users, Rights::READ_DATA));
    for bit in 0..20 {
        let right = Rights(1 << bit);
        // Whether removing children counts is documented nowhere: a start tries it, and the report says what it saw.
        if Rights::CHANGES.contains(right) && right != Rights::DELETE_CHILD {
            assert!(!may(&users, right), "{right}");
        }
    }
    let both = bytes_of([
        allow(Rights::FILE_ALL, &user),
        allow(Rights::WRITABLE_ROOT, capability),
    ]);
    assert!(may(&both, Rights::WRITE_DATA));
    assert!(may(&both, Rights::DELETE));
    assert!(!may(&both, Rights::WRITE_DAC));
    let alone = bytes_of([allow(Rights::WRITABLE_ROOT, capability)]);
    assert!(
        !may(&alone, Rights::WRITE_DATA),
        "the first check needs the user"
    );
}
