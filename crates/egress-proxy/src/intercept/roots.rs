//! Whom the system trusts to vouch for servers.

use std::fs;
use std::sync::Arc;

use base64::Engine as _;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::InterceptionError;

/// Where distributions keep what they trust, all in one file. The variables that name another one are for whoever starts
/// the proxy to read.
const FILES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Whom servers are vouched for by: as text, for others, and as what is judged by.
pub(super) struct Trusted {
    pub(super) pem: Vec<u8>,
    pub(super) roots: Arc<RootCertStore>,
}

/// The first of the usual files that has any.
pub(super) fn of_system() -> Result<Trusted, InterceptionError> {
    let read = |file: &&str| of_pem(&fs::read(file).ok()?).ok();
    let found = FILES.iter().find_map(read);
    found.ok_or(InterceptionError::NoSystemRoots)
}

/// All certificates in a text. Some that distributions carry along are of no use here, and are left out; a text with no
/// other is refused.
pub(super) fn of_pem(pem: &[u8]) -> Result<Trusted, InterceptionError> {
    let mut roots = RootCertStore::empty();
    let mut text = String::new();
    let mut problem = None;
    for certificate in CertificateDer::pem_slice_iter(pem) {
        match certificate {
            Ok(certificate) => {
                let written = written(&certificate);
                match roots.add(certificate) {
                    Ok(()) => text.push_str(&written),
                    Err(error) => problem = Some(error.to_string()),
                }
            }
            // What is not even PEM was cut, or is something else.
            Err(error) => {
                let problem = error.to_string();
                return Err(InterceptionError::Roots { problem });
            }
        }
    }
    if roots.is_empty() {
        let problem = problem.unwrap_or_else(|| "there are none".to_owned());
        return Err(InterceptionError::Roots { problem });
    }
    Ok(Trusted {
        pem: text.into_bytes(),
        roots: Arc::new(roots),
    })
}

/// A certificate as text. Others get this and not what was read: a file of certificates may hold their keys as well.
fn written(certificate: &CertificateDer<'_>) -> String {
    let mut text = String::from("-----BEGIN CERTIFICATE-----\n");
    let digits = base64::engine::general_purpose::STANDARD.encode(certificate);
    for line in digits.as_bytes().chunks(64) {
        text.push_str(&String::from_utf8_lossy(line));
        text.push('\n');
    }
    text.push_str("-----END CERTIFICATE-----\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_certificate_vouches_for_nobody() {
        for text in [
            "",
            "nothing",
            "-----BEGIN CERTIFICATE-----\nAAAA\n",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        ] {
            let refused = of_pem(text.as_bytes());
            assert!(
                matches!(refused, Err(InterceptionError::Roots { .. })),
                "{text:?}"
            );
        }
    }

    /// As some proxies and companies keep them: what is read is not what others get.
    #[test]
    fn a_key_beside_a_certificate_goes_no_further() {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut parameters = rcgen::CertificateParams::default();
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let certificate = parameters.self_signed(&key).unwrap();
        let both = format!("{}# a note\n{}", key.serialize_pem(), certificate.pem());
        let trusted = of_pem(both.as_bytes()).unwrap();
        let text = String::from_utf8(trusted.pem).unwrap();
        assert_eq!(text.matches("-----BEGIN").count(), 1, "{text}");
        assert!(!text.contains("KEY") && !text.contains("note"), "{text}");
        let again = of_pem(text.as_bytes()).unwrap();
        assert_eq!(again.roots.roots, trusted.roots.roots);
    }
}
