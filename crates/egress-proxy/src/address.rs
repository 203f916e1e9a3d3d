//! Which addresses nobody reaches by accident: everything that is not an ordinary public address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::Serialize;

/// Why an address is refused unless it is listed itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AddressProblem {
    /// The machine itself.
    #[error("it is loopback")]
    Loopback,
    /// No address at all; connecting to it reaches the machine itself.
    #[error("it is unspecified")]
    Unspecified,
    /// A network of its own (RFC 1918, unique local, site local).
    #[error("it is private")]
    Private,
    /// Shared by a provider's customers (100.64.0.0/10).
    #[error("it is shared address space of a provider")]
    Shared,
    /// The nearest network only.
    #[error("it is link-local")]
    LinkLocal,
    /// Where machines in a cloud get their credentials.
    #[error("it is a cloud's metadata service")]
    Metadata,
    /// Many receivers.
    #[error("it is multicast")]
    Multicast,
    /// Everybody on a network.
    #[error("it is broadcast")]
    Broadcast,
    /// For documentation and benchmarks.
    #[error("it is for documentation or benchmarks")]
    Documentation,
    /// Reserved, discarded, or not assigned to anybody.
    #[error("it is reserved")]
    Reserved,
    /// IPv6 that carries an IPv4 address through a mechanism that is no longer used.
    #[error("it belongs to an obsolete way from IPv6 to IPv4")]
    Transition,
}

/// What keeps an address from being an ordinary public one.
///
/// An IPv4 address in an IPv6 one that a translator would unpack is judged as the IPv4 address.
///
/// ```
/// use palisade_egress_proxy::{AddressProblem, address_problem};
///
/// assert_eq!(address_problem("93.184.216.34".parse()?), None);
/// assert_eq!(address_problem("::ffff:169.254.169.254".parse()?), Some(AddressProblem::Metadata));
/// assert_eq!(address_problem("64:ff9b::10.0.0.1".parse()?), Some(AddressProblem::Private));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[must_use]
pub fn address_problem(address: IpAddr) -> Option<AddressProblem> {
    match address.to_canonical() {
        IpAddr::V4(address) => v4(address),
        IpAddr::V6(address) => v6(address),
    }
}

fn v4(address: Ipv4Addr) -> Option<AddressProblem> {
    use AddressProblem as P;
    Some(match address.octets() {
        // Before the ranges that hold them: the name says more.
        [169, 254, 169, 254 | 253 | 123] | [169, 254, 170, 2 | 23] | [169, 254, 0, 23] => {
            P::Metadata
        }
        [168, 63, 129, 16] | [100, 100, 100, 200] | [192, 0, 0, 192] => P::Metadata,
        [0, 0, 0, 0] => P::Unspecified,
        [0, ..] => P::Reserved,
        [127, ..] => P::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => P::Private,
        [100, 64..=127, ..] => P::Shared,
        [169, 254, ..] => P::LinkLocal,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] | [198, 18..=19, ..] => {
            P::Documentation
        }
        [192, 88, 99, _] => P::Transition,
        [192, 0, 0, _] => P::Reserved,
        [224..=239, ..] => P::Multicast,
        [255, 255, 255, 255] => P::Broadcast,
        [240..=255, ..] => P::Reserved,
        _ => return None,
    })
}

fn v6(address: Ipv6Addr) -> Option<AddressProblem> {
    use AddressProblem as P;
    Some(match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => P::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => P::Loopback,
        // IPv4-compatible, and translated (SIIT): what they hold, and refused even if that is public.
        [0, 0, 0, 0, 0, 0, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => {
            v4(embedded(high, low)).unwrap_or(P::Transition)
        }
        // NAT64 is how networks without IPv4 reach it: as good as what it holds.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => return v4(embedded(high, low)),
        [0xfd00, 0xec2, ..] | [0xfd20, 0xce, ..] => P::Metadata,
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] => P::Private,
        [0xfe80..=0xfebf, ..] => P::LinkLocal,
        [0xff00..=0xffff, ..] => P::Multicast,
        [0x2001, 0xdb8, ..] | [0x2001, 0x2, 0, ..] | [0x3fff, 0..=0xfff, ..] => P::Documentation,
        // Teredo holds two, the second one inverted.
        [0x2001, 0, high, low, _, _, client_high, client_low] => v4(embedded(high, low))
            .or_else(|| v4(embedded(!client_high, !client_low)))
            .unwrap_or(P::Transition),
        [0x2002, high, low, ..] => v4(embedded(high, low)).unwrap_or(P::Transition),
        [0x2001, 0..=0x1ff, ..] => P::Reserved,
        [0x2000..=0x3fff, ..] => return None,
        // Nothing outside of 2000::/3 was ever handed out.
        _ => P::Reserved,
    })
}

fn embedded(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from(u32::from(high) << 16 | u32::from(low))
}

#[cfg(test)]
mod tests {
    use super::AddressProblem as P;
    use super::*;

    #[test]
    fn only_public_addresses_pass() {
        for (text, expected) in [
            ("1.1.1.1", None),
            ("93.184.216.34", None),
            ("172.15.255.255", None),
            ("172.32.0.1", None),
            ("100.63.255.255", None),
            ("100.128.0.1", None),
            ("192.167.255.255", None),
            ("223.255.255.255", None),
            ("0.0.0.0", Some(P::Unspecified)),
            ("0.1.2.3", Some(P::Reserved)),
            ("127.0.0.1", Some(P::Loopback)),
            ("127.255.255.254", Some(P::Loopback)),
            ("10.0.0.1", Some(P::Private)),
            ("172.16.0.1", Some(P::Private)),
            ("172.31.255.255", Some(P::Private)),
            ("192.168.1.1", Some(P::Private)),
            ("100.64.0.1", Some(P::Shared)),
            ("100.127.255.255", Some(P::Shared)),
            ("169.254.1.1", Some(P::LinkLocal)),
            ("169.254.169.254", Some(P::Metadata)),
            ("169.254.170.2", Some(P::Metadata)),
            ("100.100.100.200", Some(P::Metadata)),
            ("168.63.129.16", Some(P::Metadata)),
            ("192.0.0.192", Some(P::Metadata)),
            ("192.0.0.8", Some(P::Reserved)),
            ("192.0.2.1", Some(P::Documentation)),
            ("198.51.100.1", Some(P::Documentation)),
            ("203.0.113.1", Some(P::Documentation)),
            ("198.18.0.1", Some(P::Documentation)),
            ("198.19.255.255", Some(P::Documentation)),
            ("192.88.99.1", Some(P::Transition)),
            ("224.0.0.1", Some(P::Multicast)),
            ("239.255.255.255", Some(P::Multicast)),
            ("240.0.0.1", Some(P::Reserved)),
            ("255.255.255.255", Some(P::Broadcast)),
            ("2606:4700::1111", None),
            ("2a00:1450::1", None),
            ("::", Some(P::Unspecified)),
            ("::1", Some(P::Loopback)),
            ("::ffff:127.0.0.1", Some(P::Loopback)),
            ("::ffff:10.0.0.1", Some(P::Private)),
            ("::ffff:169.254.169.254", Some(P::Metadata)),
            ("::ffff:1.1.1.1", None),
            ("::127.0.0.1", Some(P::Loopback)),
            ("::1.1.1.1", Some(P::Transition)),
            ("::ffff:0:10.0.0.1", Some(P::Private)),
            ("64:ff9b::1.1.1.1", None),
            ("64:ff9b::127.0.0.1", Some(P::Loopback)),
            ("64:ff9b::a9fe:a9fe", Some(P::Metadata)),
            ("64:ff9b:1::1", Some(P::Reserved)),
            ("100::1", Some(P::Reserved)),
            ("2001:0:7f00:1::", Some(P::Loopback)),
            // The client's part is inverted: 10.0.0.1.
            ("2001:0:101:101:0:0:f5ff:fffe", Some(P::Private)),
            ("2001:0:101:101:0:0:fefe:fefe", Some(P::Transition)),
            ("2002:c0a8:101::1", Some(P::Private)),
            ("2002:101:101::1", Some(P::Transition)),
            ("2001:db8::1", Some(P::Documentation)),
            ("3fff::1", Some(P::Documentation)),
            ("2001:2::1", Some(P::Documentation)),
            ("2001:20::1", Some(P::Reserved)),
            ("fd00:ec2::254", Some(P::Metadata)),
            ("fc00::1", Some(P::Private)),
            ("fd12::1", Some(P::Private)),
            ("fec0::1", Some(P::Private)),
            ("fe80::1", Some(P::LinkLocal)),
            ("ff02::1", Some(P::Multicast)),
            ("4000::1", Some(P::Reserved)),
        ] {
            assert_eq!(address_problem(text.parse().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn whatever_the_standard_library_knows_is_refused_too() {
        // One address of every /16 of IPv4, against the predicates that are stable.
        for high in 0..=u16::MAX {
            let address = Ipv4Addr::from(u32::from(high) << 16 | 0x0101);
            let known = address.is_private()
                || address.is_loopback()
                || address.is_link_local()
                || address.is_multicast()
                || address.is_unspecified();
            if known {
                assert!(address_problem(address.into()).is_some(), "{address}");
            }
        }
    }
}
