//! What policy authors read.

use palisade_linux_landlock::seccomp::{Arch, Namespaces, Sockets, compile, compile_for};
use palisade_policy::SeccompProfile;

#[test]
fn strict_with_pairs_only() {
    let strict = SeccompProfile::strict();
    let filter = compile(&strict, Sockets::PairsOnly, Arch::X86_64).unwrap();
    insta::assert_snapshot!("strict_pairs_x86_64", filter);
    let filter = compile(&strict, Sockets::PairsOnly, Arch::Aarch64).unwrap();
    insta::assert_snapshot!("strict_pairs_aarch64", filter);
}

#[test]
fn strict_with_a_network_of_its_own() {
    let strict = SeccompProfile::strict();
    let filter = compile(&strict, Sockets::OwnNetwork, Arch::X86_64).unwrap();
    insta::assert_snapshot!("strict_own_x86_64", filter);
    let filter = compile(&strict, Sockets::OwnNetwork, Arch::Aarch64).unwrap();
    insta::assert_snapshot!("strict_own_aarch64", filter);
}

#[test]
fn strict_on_the_network_of_the_host() {
    let network = SeccompProfile::strict().with_network();
    let none = Namespaces::Host;
    let filter = compile_for(&network, Sockets::HostNetwork, none, Arch::X86_64).unwrap();
    insta::assert_snapshot!("network_host_bare_x86_64", filter);
    let filter = compile(&network, Sockets::HostNetwork, Arch::X86_64).unwrap();
    insta::assert_snapshot!("network_host_x86_64", filter);
}

#[test]
fn permissive() {
    let permissive = SeccompProfile::permissive();
    let filter = compile(&permissive, Sockets::HostNetwork, Arch::X86_64).unwrap();
    insta::assert_snapshot!("permissive_host_x86_64", filter);
}

#[test]
fn logging() {
    let logging = SeccompProfile::logging();
    let filter = compile(&logging, Sockets::OwnNetwork, Arch::X86_64).unwrap();
    insta::assert_snapshot!("logging_own_x86_64", filter);
}
