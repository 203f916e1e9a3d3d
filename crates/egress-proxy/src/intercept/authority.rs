//! The certificate authority of one session: it vouches for the proxy to the clients inside, for a few hosts and days.
//!
//! Its key is made here and never leaves the memory of this process. The certificate says which hosts it is for, so that
//! it is worth nothing for others even to somebody who has the key.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use palisade_policy::{HostName, NetworkAllowlistEntry};
use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, Issuer, KeyPair, KeyUsagePurpose,
    NameConstraints,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::TlsAcceptor;

use super::{Problem, SPOKEN};

/// How long the certificates of a session are good for. A session that lasts longer opens no more TLS.
const LIFETIME: Duration = Duration::from_secs(48 * 3600);
/// A clock that is a little slow still takes them.
const BEFORE: Duration = Duration::from_secs(3600);
/// Certificates that are kept; where a pattern opens more hosts than that, they are made again.
const MOST_KEPT: usize = 64;

pub(super) struct SessionAuthority {
    certificate: String,
    issuer: Issuer<'static, KeyPair>,
    /// Of all the certificates for hosts: whoever has one of them has them all, and that is this process.
    key: KeyPair,
    made: SystemTime,
    kept: Mutex<HashMap<HostName, TlsAcceptor>>,
}

impl SessionAuthority {
    pub(super) fn new(hosts: &[NetworkAllowlistEntry]) -> Result<Self, Problem> {
        let made = SystemTime::now();
        let mut params = valid(made, "Palisade session authority")?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        params.name_constraints = Some(constraints(hosts));
        let own = KeyPair::generate()?;
        Ok(Self {
            certificate: params.self_signed(&own)?.pem(),
            issuer: Issuer::new(params, own),
            key: KeyPair::generate()?,
            made,
            kept: Mutex::default(),
        })
    }

    /// For those who are to trust it, in the format PEM.
    pub(super) fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Speaks TLS in the name of this host.
    pub(super) fn acceptor(&self, host: &HostName) -> Result<TlsAcceptor, Problem> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(acceptor) = kept.get(host) {
            return Ok(acceptor.clone());
        }
        let acceptor = self.make(host)?;
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(host.clone(), acceptor.clone());
        Ok(acceptor)
    }

    fn make(&self, host: &HostName) -> Result<TlsAcceptor, Problem> {
        let mut params = valid(self.made, "Palisade session")?;
        // An address is taken for one there too.
        params.subject_alt_names = CertificateParams::new([host.to_string()])?.subject_alt_names;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&self.key, &self.issuer)?;
        let key = PrivatePkcs8KeyDer::from(self.key.serialize_der());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::from(key))?;
        config.alpn_protocols = vec![SPOKEN.to_vec()];
        Ok(Arc::new(config).into())
    }
}

fn valid(made: SystemTime, name: &str) -> Result<CertificateParams, Problem> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = made.checked_sub(BEFORE).unwrap_or(made).into();
    params.not_after = made.checked_add(LIFETIME).unwrap_or(made).into();
    Ok(params)
}

/// What the authority may vouch for. A kind of name that no host has is forbidden as a whole: what is not mentioned would
/// be allowed. A certificate cannot tell a domain from its subdomains, so both are in.
fn constraints(hosts: &[NetworkAllowlistEntry]) -> NameConstraints {
    let everything = [
        GeneralSubtree::DnsName(String::new()),
        subnet(Ipv4Addr::UNSPECIFIED.into(), 0),
        subnet(Ipv6Addr::UNSPECIFIED.into(), 0),
    ];
    let (mut permitted, mut used) = (Vec::new(), [false; 3]);
    for entry in hosts {
        let text = entry.domain.to_string();
        let domain = text.strip_prefix("*.").unwrap_or(&text);
        let address = HostName::parse(domain).ok().and_then(|host| host.address());
        let (kind, subtree) = match address {
            None => (0, GeneralSubtree::DnsName(domain.to_owned())),
            Some(address @ IpAddr::V4(_)) => (1, subnet(address, 32)),
            Some(address @ IpAddr::V6(_)) => (2, subnet(address, 128)),
        };
        if let Some(used) = used.get_mut(kind) {
            *used = true;
        }
        if !permitted.contains(&subtree) {
            permitted.push(subtree);
        }
    }
    let unused = everything.into_iter().zip(used).filter(|(_, used)| !used);
    NameConstraints {
        permitted_subtrees: permitted,
        excluded_subtrees: unused.map(|(subtree, _)| subtree).collect(),
    }
}

fn subnet(address: IpAddr, prefix: u8) -> GeneralSubtree {
    GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(address, prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(host: &str) -> NetworkAllowlistEntry {
        NetworkAllowlistEntry::https(host).unwrap()
    }

    #[test]
    fn it_is_for_its_hosts_alone() {
        let found = constraints(&[entry("*.api.test"), entry("api.test"), entry("docs.test")]);
        let name = |name: &str| GeneralSubtree::DnsName(name.to_owned());
        assert_eq!(
            found.permitted_subtrees,
            [name("api.test"), name("docs.test")]
        );
        let all = |address: &str| subnet(address.parse().unwrap(), 0);
        assert_eq!(found.excluded_subtrees, [all("0.0.0.0"), all("::")]);

        let found = constraints(&[entry("127.0.0.1")]);
        assert_eq!(
            found.permitted_subtrees,
            [subnet(Ipv4Addr::LOCALHOST.into(), 32)]
        );
        assert_eq!(found.excluded_subtrees, [name(""), all("::")]);
    }

    /// A client that trusts the authority, and a server that has what it makes for this host.
    fn shake_hands(authority: &SessionAuthority, host: &str) -> Result<(), rustls::Error> {
        use rustls::pki_types::pem::PemObject as _;
        use rustls::pki_types::{CertificateDer, ServerName};
        use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConnection};

        let pem = authority.certificate().as_bytes();
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(pem).unwrap())?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from(host.to_owned()).unwrap();
        let mut client = ClientConnection::new(Arc::new(config), name)?;
        let acceptor = authority.acceptor(&HostName::parse(host).unwrap()).unwrap();
        let mut server = ServerConnection::new(Arc::clone(acceptor.config()))?;
        while client.is_handshaking() {
            let mut wire = Vec::new();
            client.write_tls(&mut wire).unwrap();
            server.read_tls(&mut wire.as_slice()).unwrap();
            server.process_new_packets()?;
            wire.clear();
            server.write_tls(&mut wire).unwrap();
            client.read_tls(&mut wire.as_slice()).unwrap();
            client.process_new_packets()?;
        }
        Ok(())
    }

    #[test]
    fn clients_take_it_for_its_hosts_and_for_no_other() {
        let authority = SessionAuthority::new(&[entry("*.api.test"), entry("127.0.0.1")]).unwrap();
        for host in ["v1.api.test", "127.0.0.1"] {
            assert_eq!(shake_hands(&authority, host), Ok(()), "{host}");
        }
        for host in ["evil.test", "xapi.test", "127.0.0.2", "::1"] {
            let refused = shake_hands(&authority, host).unwrap_err().to_string();
            assert!(
                refused.contains("NameConstraintViolation"),
                "{host}: {refused}"
            );
        }
    }

    #[test]
    fn certificates_are_kept_and_not_without_end() {
        let authority = SessionAuthority::new(&[entry("*.api.test")]).unwrap();
        for at in 0..2 * MOST_KEPT + 3 {
            let host = HostName::parse(&format!("h{at}.api.test")).unwrap();
            let made = authority.acceptor(&host).unwrap();
            let again = authority.acceptor(&host).unwrap();
            assert!(Arc::ptr_eq(made.config(), again.config()));
            assert!(authority.kept.lock().unwrap().len() <= MOST_KEPT);
        }
    }
}
