//! What programs have to be told so that they use a proxy, and trust whom it speaks for. Where it is the only way out, they
//! could use nothing else.

use std::net::SocketAddrV4;

/// The session's own loopback is reached directly.
const DIRECT: &str = "localhost,127.0.0.1,127.0.0.0/8,::1";

/// A variable that tells programs of a proxy, or whom to trust there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProxyVariable {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// Whether a value that the command has already stands: it may hold more than this.
    pub yields: bool,
}

/// The variables that make the usual programs use a proxy that speaks HTTP at this address. They are to replace those of
/// the host, whose own proxy nobody reaches from a sandbox.
///
/// `ALL_PROXY` names HTTP as well: some clients refuse to start where it names SOCKS, which they lack a library for.
///
/// ```
/// let proxy = "127.0.0.1:3128".parse()?;
/// let variables = palisade_policy::proxy_variables(proxy);
/// let https = variables.iter().find(|variable| variable.name == "HTTPS_PROXY").unwrap();
/// assert_eq!(https.value, "http://127.0.0.1:3128");
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[must_use]
pub fn proxy_variables(proxy: SocketAddrV4) -> Vec<ProxyVariable> {
    let plain = |name, value: &str| ProxyVariable {
        name,
        value: value.to_owned(),
        yields: false,
    };
    let url = format!("http://{proxy}");
    let mut variables: Vec<ProxyVariable> = [
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
        // Those that ask their own configuration first.
        "npm_config_proxy",
        "npm_config_https_proxy",
        "YARN_HTTP_PROXY",
        "YARN_HTTPS_PROXY",
        "PIP_PROXY",
        "CARGO_HTTP_PROXY",
    ]
    .into_iter()
    .map(|name| plain(name, &url))
    .collect();
    for name in ["NO_PROXY", "no_proxy", "npm_config_noproxy"] {
        variables.push(plain(name, DIRECT));
    }
    // Node's own clients ask nothing unless they are told to.
    variables.push(plain("NODE_USE_ENV_PROXY", "1"));
    variables.push(ProxyVariable {
        yields: true,
        ..plain("JAVA_TOOL_OPTIONS", &java(proxy))
    });
    variables
}

/// The variables that make the usual programs trust the certificates in a file, where some of the TLS that goes through a
/// proxy is opened on the way. `bundle` is for those that trust the file and nothing else: it has to hold whom they trust
/// otherwise too. `extra` is for those that trust it besides.
///
/// Java trusts stores of its own, and no variable adds to them.
///
/// ```
/// let variables = palisade_policy::trust_variables("/run/bundle.pem", "/run/session.pem");
/// let value = |name| variables.iter().find(|variable| variable.name == name).map(|it| it.value.as_str());
/// assert_eq!(value("GIT_SSL_CAINFO"), Some("/run/bundle.pem"));
/// assert_eq!(value("NODE_EXTRA_CA_CERTS"), Some("/run/session.pem"));
/// ```
#[must_use]
pub fn trust_variables(bundle: &str, extra: &str) -> Vec<ProxyVariable> {
    let variable = |file: &str| {
        let value = file.to_owned();
        move |name| ProxyVariable {
            name,
            value: value.clone(),
            yields: false,
        }
    };
    let mut variables: Vec<ProxyVariable> = [
        // OpenSSL, and with it Python, Ruby and more; Go; most of Rust.
        "SSL_CERT_FILE",
        "NIX_SSL_CERT_FILE",
        "CURL_CA_BUNDLE",
        "GIT_SSL_CAINFO",
        "REQUESTS_CA_BUNDLE",
        "PIP_CERT",
        "CARGO_HTTP_CAINFO",
        "AWS_CA_BUNDLE",
        "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
        "npm_config_cafile",
        "YARN_HTTPS_CA_FILE_PATH",
    ]
    .into_iter()
    .map(variable(bundle))
    .collect();
    variables.extend(["NODE_EXTRA_CA_CERTS", "DENO_CERT"].map(variable(extra)));
    variables
}

fn java(proxy: SocketAddrV4) -> String {
    let (host, port) = (proxy.ip(), proxy.port());
    let option = |scheme: &str| format!("-D{scheme}.proxyHost={host} -D{scheme}.proxyPort={port}");
    let direct = "-Dhttp.nonProxyHosts=localhost|127.*|[::1]";
    format!("{} {} {direct}", option("http"), option("https"))
}
