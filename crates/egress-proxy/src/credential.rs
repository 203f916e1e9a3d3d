//! Secrets that the proxy adds, so that nothing inside has to know them.

use std::fmt;

use palisade_policy::{HostName, NetworkAllowlistEntry, Protocol};

/// What must not be added: it frames the request, or is about one connection.
const RESERVED: &[&str] = &[
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A header with a secret value, for the hosts and the port of one entry.
///
/// It replaces what the client sent under the same name, and is shown nowhere. It goes into plain HTTP requests, unless it
/// is for port 443 or for a host whose TLS is opened; then it goes into that TLS and nowhere else.
#[derive(Clone)]
pub struct Credential {
    hosts: NetworkAllowlistEntry,
    header: String,
    value: Vec<u8>,
}

/// Why a secret cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// The header has no name that HTTP knows.
    #[error("this is no name of a header")]
    Name,
    /// The header is not for this.
    #[error("this header frames the request or is about the connection: it cannot carry a secret")]
    Reserved,
    /// The value would break the request apart. It is not shown.
    #[error("the secret is empty or contains a control character")]
    Value,
}

impl Credential {
    /// Binds a secret to hosts.
    ///
    /// # Errors
    /// The header or its value cannot be sent.
    pub fn new(
        hosts: NetworkAllowlistEntry,
        header: &str,
        value: impl Into<Vec<u8>>,
    ) -> Result<Self, CredentialError> {
        let header = header.to_ascii_lowercase();
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if header.is_empty() || !header.bytes().all(token) {
            return Err(CredentialError::Name);
        }
        if RESERVED.contains(&header.as_str()) {
            return Err(CredentialError::Reserved);
        }
        let value = value.into();
        if value.is_empty() || value.iter().any(u8::is_ascii_control) {
            return Err(CredentialError::Value);
        }
        Ok(Self {
            hosts,
            header,
            value,
        })
    }

    pub(crate) fn is_for(&self, host: &HostName, port: u16) -> bool {
        self.hosts.matches(host, port, Protocol::Tcp)
    }

    pub(crate) fn field(&self) -> (&str, &[u8]) {
        (&self.header, &self.value)
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential")
            .field("hosts", &self.hosts.to_string())
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> NetworkAllowlistEntry {
        NetworkAllowlistEntry::with_port("api.test", 80).unwrap()
    }

    #[test]
    fn a_secret_is_not_shown() {
        let credential = Credential::new(entry(), "X-Key", "hunter2").unwrap();
        let shown = format!("{credential:?}");
        assert!(
            shown.contains("x-key") && !shown.contains("hunter2"),
            "{shown}"
        );
        assert!(!shown.contains("104, 117"), "{shown}");
    }

    #[test]
    fn what_would_break_a_request_is_refused() {
        let new = |name, value: &str| Credential::new(entry(), name, value).map(|_| ());
        assert_eq!(new("", "x"), Err(CredentialError::Name));
        assert_eq!(new("a b", "x"), Err(CredentialError::Name));
        assert_eq!(new("a:", "x"), Err(CredentialError::Name));
        assert_eq!(
            new("Transfer-Encoding", "x"),
            Err(CredentialError::Reserved)
        );
        assert_eq!(new("x", ""), Err(CredentialError::Value));
        assert_eq!(new("x", "a\r\nb: c"), Err(CredentialError::Value));
    }
}
