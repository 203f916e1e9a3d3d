//! SOCKS5: what is understood is understood whole, and said again it means the same.

use std::net::IpAddr;

use palisade_egress_proxy::wire::{read_greeting, read_socks_request};

use crate::pieces;

/// Reads the bytes as a greeting and as a request.
pub fn run(data: &[u8]) {
    pieces::check(data, read_greeting);
    pieces::check(data, read_socks_request);
    if let Ok(Some(greeting)) = read_greeting(data) {
        let methods = &data[2..greeting.length];
        assert_eq!(methods.len(), usize::from(data[1]));
        assert_eq!(greeting.without_authentication, methods.contains(&0));
    }
    let Ok(Some(request)) = read_socks_request(data) else {
        return;
    };
    assert!(request.length <= data.len() && request.host.is_ascii() && request.host.len() < 256);
    let mut said = vec![5, 1, 0];
    // A name may look like an address, and is one then for whoever judges it.
    match (data[3], request.host.parse()) {
        (1, Ok(IpAddr::V4(address))) => {
            said.push(1);
            said.extend(address.octets());
        }
        (4, Ok(IpAddr::V6(address))) => {
            said.push(4);
            said.extend(address.octets());
        }
        (3, _) => {
            said.extend([3, request.host.len() as u8]);
            said.extend(request.host.bytes());
        }
        other => panic!("{other:?}"),
    }
    said.extend(request.port.to_be_bytes());
    assert_eq!(said, data[..request.length]);
}
