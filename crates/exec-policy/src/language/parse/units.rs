//! Durations, sizes and hosts as authors write them.

use palisade_policy::{HostPattern, NetworkAllowlistEntry, Protocol, ResourceLimits};

use super::super::error::Problem;

/// What a limit says that has none.
const UNLIMITED: &str = "unlimited";

/// `90s`, `5m` or `1h` in seconds; 0 is `unlimited`.
pub(super) fn seconds(text: &str) -> Result<u64, Problem> {
    let units = [("s", 1), ("m", 60), ("h", 3600)];
    let seconds = amount(text, &units, "a duration such as `90s`, `5m` or `1h`")?;
    let limits = ResourceLimits::unlimited().with_timeout_secs(seconds);
    limits.check().map_err(|_| Problem::Overflow)?;
    Ok(seconds)
}

/// `512MiB`, `2GiB` or `1TiB` in MiB; 0 is `unlimited`.
pub(super) fn mebibytes(text: &str) -> Result<u64, Problem> {
    let units = [("MiB", 1), ("GiB", 1 << 10), ("TiB", 1 << 20)];
    let mebibytes = amount(text, &units, "a size such as `512MiB`, `2GiB` or `1TiB`")?;
    let limits = ResourceLimits::unlimited().with_memory_mb(mebibytes);
    limits.check().map_err(|_| Problem::Overflow)?;
    Ok(mebibytes)
}

fn amount(text: &str, units: &[(&str, u64)], what: &'static str) -> Result<u64, Problem> {
    if text == UNLIMITED {
        return Ok(0);
    }
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
    let (number, unit) = text.split_at_checked(digits).unwrap_or(("", text));
    let factor = units.iter().find(|(name, _)| *name == unit);
    // Zero would read as "nothing" and mean "no limit".
    let (Some((_, factor)), false) = (factor, number.trim_start_matches('0').is_empty()) else {
        return Err(Problem::NotA(what));
    };
    let number: u64 = number.parse().map_err(|_| Problem::Overflow)?;
    number.checked_mul(*factor).ok_or(Problem::Overflow)
}

/// `name`, `name:port`, `[address]:port`, each with `/udp` behind it if it is not TCP.
pub(super) fn host(text: &str) -> Result<NetworkAllowlistEntry, Problem> {
    let (rest, protocol) = match text.strip_suffix("/udp") {
        Some(rest) => (rest, Protocol::Udp),
        None => (text, Protocol::Tcp),
    };
    let (host, port) = match rest.rsplit_once(':') {
        // An address of version 6 is full of colons: its port stands behind a bracket.
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
            let port = port.parse().map_err(|_| Problem::NotA("a port"))?;
            (host, port)
        }
        _ => (rest, 443),
    };
    Ok(NetworkAllowlistEntry::new(
        HostPattern::parse(host)?,
        port,
        protocol,
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_seconds() {
        assert_eq!(seconds("90s"), Ok(90));
        assert_eq!(seconds("5m"), Ok(300));
        assert_eq!(seconds("1h"), Ok(3600));
        assert_eq!(seconds("unlimited"), Ok(0));
        for bad in [
            "", "5", "m", "0s", "00m", "5 m", "5min", "-5s", "1.5h", "5M", "٣s",
        ] {
            assert!(matches!(seconds(bad), Err(Problem::NotA(_))), "{bad}");
        }
        for huge in [
            "18446744073709551615s",
            "99999999999999999999h",
            "18446744073709551s",
            "18446744073709552s",
        ] {
            let expected = match huge {
                "18446744073709551s" => Ok(18_446_744_073_709_551),
                _ => Err(Problem::Overflow),
            };
            assert_eq!(seconds(huge), expected, "{huge}");
        }
    }

    #[test]
    fn sizes_are_mebibytes() {
        assert_eq!(mebibytes("512MiB"), Ok(512));
        assert_eq!(mebibytes("2GiB"), Ok(2048));
        assert_eq!(mebibytes("1TiB"), Ok(1 << 20));
        for bad in ["2GB", "2G", "2gib", "1KiB", "0MiB", "MiB"] {
            assert!(matches!(mebibytes(bad), Err(Problem::NotA(_))), "{bad}");
        }
        assert_eq!(mebibytes("18446744073709551615TiB"), Err(Problem::Overflow));
        assert_eq!(mebibytes("8796093022208MiB"), Err(Problem::Overflow));
    }

    #[test]
    fn hosts_have_ports() {
        let shown = |text| host(text).map(|entry| entry.to_string());
        assert_eq!(
            shown("registry.example"),
            Ok("registry.example:443".to_owned())
        );
        assert_eq!(
            shown("registry.example:80"),
            Ok("registry.example:80".to_owned())
        );
        assert_eq!(
            shown("dns.example:53/udp"),
            Ok("dns.example:53/udp".to_owned())
        );
        assert_eq!(shown("[::1]:80"), Ok("[::1]:80".to_owned()));
        assert_eq!(shown("2001:db8::1"), Ok("[2001:db8::1]:443".to_owned()));
        assert_eq!(shown("*.cdn.example"), Ok("*.cdn.example:443".to_owned()));
        for bad in [
            "",
            "*",
            "a:0",
            "a:99999",
            "a:b",
            "https://a.example",
            "a.example/path",
        ] {
            assert!(shown(bad).is_err(), "{bad}");
        }
    }
}
