//! Whether somebody on this host listens on a port. The kernel's table is read; nobody is called.

use std::fs;

/// The state of a socket that listens, as the table writes it.
const LISTENS: &str = "0A";

/// Whether a server of this host listens on a port of loopback.
pub(super) fn on_loopback(port: u16) -> bool {
    ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .any(|table| fs::read_to_string(table).is_ok_and(|table| in_table(&table, port)))
}

/// Lines are `0: 0100007F:1F90 00000000:0000 0A ...`: the local address, the other one, the state.
fn in_table(table: &str, port: u16) -> bool {
    let port = format!(":{port:04X}");
    table.lines().skip(1).any(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let local = fields.next();
        let state = fields.nth(1);
        let address = local.and_then(|local| local.strip_suffix(&port));
        address.is_some_and(is_local) && state == Some(LISTENS)
    })
}

/// Whether who listens on this address is reached by loopback. The kernel writes addresses as numbers of 32 bits in the order
/// of the machine: 127.0.0.1 is `0100007F`.
fn is_local(address: &str) -> bool {
    let v4 = address
        .strip_prefix("0000000000000000FFFF0000")
        .unwrap_or(address);
    match v4.len() {
        8 => v4.ends_with("7F") || v4 == "00000000",
        _ => v4.bytes().all(|digit| digit == b'0') || v4 == "00000000000000000000000001000000",
    }
}

#[cfg(test)]
mod tests {
    use super::in_table;

    #[test]
    fn who_listens_is_told_from_who_is_connected() {
        let table = "  sl  local_address rem_address   st tx_queue\n\
                     0: 0100007F:1F90 00000000:0000 0A 00000000:00000000\n\
                     1: 0100007F:1F91 0100007F:0050 01 00000000:00000000\n";
        assert!(in_table(table, 8080));
        assert!(!in_table(table, 8081));
        assert!(!in_table(table, 80));
    }

    #[test]
    fn only_who_loopback_reaches_counts() {
        for (address, expected) in [
            ("0100007F", true),
            ("00000000", true),
            ("0100000A", false),
            ("00000000000000000000000001000000", true),
            ("00000000000000000000000000000000", true),
            ("0000000000000000FFFF00000100007F", true),
            ("0000000000000000FFFF00000100000A", false),
            ("000080FE00000000000000000100000A", false),
        ] {
            assert_eq!(super::is_local(address), expected, "{address}");
        }
    }
}
