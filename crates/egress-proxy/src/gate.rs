//! The decision: host and port against the list, addresses against the list and against what is public. Pure.

use std::net::{IpAddr, SocketAddr};

use palisade_policy::{HostName, NetworkAllowlistEntry, Protocol};

use crate::address::address_problem;
use crate::refusal::Refusal;

/// What the list says about a host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new outcome must break the builds of those who judge by it"
)]
pub enum Listing {
    /// This entry opens it.
    Listed(NetworkAllowlistEntry),
    /// No entry does; a person may.
    Askable,
    /// No entry does, and nobody is asked.
    Refused(Refusal),
}

/// The list of a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gate {
    entries: Vec<NetworkAllowlistEntry>,
}

impl Gate {
    /// Opens what these entries name, and nothing if there are none.
    #[must_use]
    pub const fn new(entries: Vec<NetworkAllowlistEntry>) -> Self {
        Self { entries }
    }

    /// What the list says about this host and port.
    #[must_use]
    pub fn judge(&self, host: &HostName, port: u16) -> Listing {
        // Before the list: what `localhost` means depends on who is asked, and inside it is not this machine.
        if host.address().is_none() && host.is_loopback() {
            return Listing::Refused(Refusal::LocalName);
        }
        if let Some(entry) = self.entry(host, port) {
            return Listing::Listed(entry.clone());
        }
        match host.address().and_then(address_problem) {
            Some(problem) => Listing::Refused(Refusal::Literal { problem }),
            None => Listing::Askable,
        }
    }

    /// Where to connect for a host that may be reached, given the addresses of its name.
    ///
    /// # Errors
    /// One of the addresses must not be reached by this name. Then none is: whoever answers for a name with an address
    /// of each kind chooses which one is tried.
    pub fn pin(
        &self,
        host: &HostName,
        port: u16,
        addresses: &[IpAddr],
    ) -> Result<Vec<SocketAddr>, Refusal> {
        let mut pinned: Vec<SocketAddr> = Vec::new();
        for &address in addresses {
            let address = address.to_canonical();
            let is_meant = host.address() == Some(address) || self.lists_address(address, port);
            if !is_meant && let Some(problem) = address_problem(address) {
                return Err(Refusal::Address { address, problem });
            }
            let socket = SocketAddr::new(address, port);
            if !pinned.contains(&socket) {
                pinned.push(socket);
            }
        }
        Ok(pinned)
    }

    /// Whether an entry names this very address.
    #[must_use]
    pub fn lists_address(&self, address: IpAddr, port: u16) -> bool {
        self.entry(&HostName::from(address), port).is_some()
    }

    fn entry(&self, host: &HostName, port: u16) -> Option<&NetworkAllowlistEntry> {
        let mut entries = self.entries.iter();
        entries.find(|entry| entry.matches(host, port, Protocol::Tcp))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::AddressProblem;

    fn gate(entries: &[(&str, u16)]) -> Gate {
        let entry = |(host, port): &(&str, u16)| {
            NetworkAllowlistEntry::with_port(host, *port).expect("an entry")
        };
        Gate::new(entries.iter().map(entry).collect())
    }

    fn host(text: &str) -> HostName {
        HostName::parse(text).expect("a host")
    }

    fn ips(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn an_empty_list_opens_nothing() {
        assert_eq!(
            Gate::default().judge(&host("example.com"), 443),
            Listing::Askable
        );
    }

    #[test]
    fn host_and_port_must_both_be_listed() {
        let gate = gate(&[("example.com", 443), ("*.example.org", 80)]);
        let listed = |name: &str, port| matches!(gate.judge(&host(name), port), Listing::Listed(_));
        assert!(listed("example.com", 443));
        assert!(listed("EXAMPLE.com.", 443));
        assert!(listed("a.b.example.org", 80));
        for (name, port) in [
            ("example.com", 80),
            ("www.example.com", 443),
            ("example.org", 80),
            ("badexample.org", 80),
            ("example.com.evil.test", 443),
        ] {
            assert_eq!(gate.judge(&host(name), port), Listing::Askable, "{name}");
        }
    }

    #[test]
    fn local_names_stay_inside_even_if_listed() {
        let gate = gate(&[("localhost", 80), ("*.localhost", 80)]);
        for name in ["localhost", "LOCALHOST.", "api.localhost"] {
            let refused = Listing::Refused(Refusal::LocalName);
            assert_eq!(gate.judge(&host(name), 80), refused, "{name}");
        }
    }

    #[test]
    fn addresses_must_be_listed_as_such() {
        let open = gate(&[("127.0.0.1", 8080), ("93.184.216.34", 443)]);
        assert!(matches!(
            open.judge(&host("::ffff:127.0.0.1"), 8080),
            Listing::Listed(_)
        ));
        assert_eq!(
            open.judge(&host("127.0.0.1"), 80),
            Listing::Refused(Refusal::Literal {
                problem: AddressProblem::Loopback
            })
        );
        assert_eq!(
            open.judge(&host("169.254.169.254"), 80),
            Listing::Refused(Refusal::Literal {
                problem: AddressProblem::Metadata
            })
        );
        assert_eq!(open.judge(&host("1.1.1.1"), 443), Listing::Askable);
    }

    #[test]
    fn one_bad_address_refuses_the_name() {
        let gate = gate(&[("example.com", 443)]);
        let name = host("example.com");
        let good = ips(&["93.184.216.34", "2606:4700::1111", "93.184.216.34"]);
        assert_eq!(
            gate.pin(&name, 443, &good).map(|pinned| pinned.len()),
            Ok(2)
        );
        for bad in ["10.0.0.1", "::1", "::ffff:127.0.0.1", "169.254.169.254"] {
            for answers in [[bad, "93.184.216.34"], ["93.184.216.34", bad]] {
                assert!(
                    matches!(
                        gate.pin(&name, 443, &ips(&answers)),
                        Err(Refusal::Address { .. })
                    ),
                    "{answers:?}"
                );
            }
        }
    }

    #[test]
    fn a_listed_address_may_have_a_name() {
        let gate = gate(&[("registry.test", 8080), ("127.0.0.1", 8080)]);
        let answers = ips(&["127.0.0.1"]);
        assert!(gate.pin(&host("registry.test"), 8080, &answers).is_ok());
        assert!(gate.pin(&host("registry.test"), 81, &answers).is_err());
    }
}
