//! The cases of the model, put to the system itself.

use super::harmless;
use crate::acl::Dacl;
use crate::model::vectors::{Asks, Case, People, normal_cases, restricted_cases};
use crate::plan::TokenPlan;
use crate::sid::Sid;
use crate::sys::for_tests::{access_check, is_wine, skipped_on_wine};
use crate::sys::token::Token;

fn people() -> People {
    People {
        user: Token::own().unwrap().user().unwrap(),
        group: Sid::everyone(),
        // Users: everybody who logs on is one.
        deny_only: Sid::new(5, [32, 545]).unwrap(),
        stranger: Sid::capability([11, 12, 13, 14]),
        capability: Sid::capability([1, 2, 3, 4]),
    }
}

/// The names of the cases that the system decides otherwise.
fn otherwise(cases: Vec<Case>) -> Vec<&'static str> {
    let people = people();
    let mut otherwise = Vec::new();
    for case in cases {
        let plan = TokenPlan {
            disable: vec![people.deny_only.clone()],
            restricting: match case.asks {
                Asks::Normal => Vec::new(),
                Asks::WriteRestricted | Asks::Restricted => vec![people.capability.clone()],
            },
            write_restricted: case.asks == Asks::WriteRestricted,
            ..harmless()
        };
        let token = Token::own().unwrap().restrict(&plan).unwrap();
        let acting = token.impersonation().unwrap();
        let descriptor = case.descriptor(&people);
        let bytes = match &descriptor.dacl {
            Dacl::Null => None,
            Dacl::List(list) => Some(list.to_bytes().unwrap()),
        };
        let said = access_check(
            bytes.as_deref(),
            &people.sid(case.owner),
            &acting,
            case.desired,
        );
        if said.unwrap() != case.granted {
            otherwise.push(case.name);
        }
    }
    otherwise
}

#[test]
fn the_system_and_the_model_agree_on_the_first_check() {
    // What Wine does not know: that a group for denials denies, who may take what he owns, and rights of owners.
    let expected: &[&str] = match is_wine() {
        true => &[
            "a group for denials denies",
            "an owner does not take",
            "owner rights hold an owner back",
            "owner rights allow an owner",
        ],
        false => &[],
    };
    assert_eq!(otherwise(normal_cases()), expected);
}

#[test]
fn the_system_and_the_model_agree_on_the_second_check() {
    if skipped_on_wine("does not restrict") {
        return;
    }
    assert_eq!(otherwise(restricted_cases()), [] as [&str; 0]);
}
