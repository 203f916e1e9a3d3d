//! Names that stand for addresses that they should not stand for.

use palisade_egress_proxy::{AddressProblem, Refusal};

use crate::stage::{FINE, PUBLIC, Web, get, plan};

#[test]
fn a_name_for_an_inner_address_is_refused_untried() {
    for (address, problem) in [
        ("127.0.0.1", AddressProblem::Loopback),
        ("::1", AddressProblem::Loopback),
        ("10.0.0.1", AddressProblem::Private),
        ("192.168.0.1", AddressProblem::Private),
        ("169.254.169.254", AddressProblem::Metadata),
        ("::ffff:169.254.169.254", AddressProblem::Metadata),
        ("::ffff:10.0.0.1", AddressProblem::Private),
        ("64:ff9b::a00:1", AddressProblem::Private),
        ("2002:7f00:1::", AddressProblem::Loopback),
        ("fe80::1", AddressProblem::LinkLocal),
        ("fd00:ec2::254", AddressProblem::Metadata),
        ("100.64.0.1", AddressProblem::Shared),
        ("0.0.0.0", AddressProblem::Unspecified),
        ("224.0.0.1", AddressProblem::Multicast),
        ("255.255.255.255", AddressProblem::Broadcast),
        ("203.0.113.7", AddressProblem::Documentation),
    ] {
        // Alone, and beside a good one.
        for addresses in [&[address][..], &[PUBLIC, address]] {
            let stage = plan()
                .allow("docs.test", 80)
                .name("docs.test", addresses)
                .start();
            let answer = stage.ask_text(&get("docs.test"));
            assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
            let parsed = address.parse::<std::net::IpAddr>().unwrap().to_canonical();
            assert_eq!(
                stage.refusal(),
                Refusal::Address {
                    address: parsed,
                    problem
                }
            );
            assert!(stage.tried().is_empty());
        }
    }
}

#[test]
fn what_was_judged_is_what_is_reached() {
    let web = Web::new(FINE);
    // Good when asked first, loopback when asked again.
    let stage = plan()
        .open("docs.test", 80, web.address)
        .name("docs.test", &["127.0.0.1"])
        .road("127.0.0.1", 80, web.address)
        .start();
    assert!(stage.ask_text(&get("docs.test")).ends_with("fine\n"));
    assert_eq!(
        stage.names.asked.lock().unwrap().len(),
        1,
        "it is resolved once"
    );
    assert_eq!(stage.tried(), [format!("{PUBLIC}:80").parse().unwrap()]);
    // The next connection is judged by the next answer.
    assert!(
        stage
            .ask_text(&get("docs.test"))
            .starts_with("HTTP/1.1 403 ")
    );
    assert_eq!(stage.tried().len(), 1);
}

#[test]
fn a_listed_inner_address_may_be_reached_by_a_listed_name() {
    let web = Web::new(FINE);
    let stage = plan()
        .allow("registry.test", 80)
        .allow("10.0.0.9", 80)
        .name("registry.test", &["10.0.0.9"])
        .road("10.0.0.9", 80, web.address)
        .start();
    assert!(stage.ask_text(&get("registry.test")).ends_with("fine\n"));
    assert!(stage.ask_text(&get("10.0.0.9")).ends_with("fine\n"));
}

#[test]
fn a_listed_name_does_not_open_its_address() {
    let stage = plan().open("docs.test", 80, Web::new(FINE).address).start();
    stage.ask_text(&get(PUBLIC));
    assert_eq!(stage.refusal(), Refusal::NotListed);
}
