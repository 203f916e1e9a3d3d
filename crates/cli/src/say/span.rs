//! Lengths of time as people write them.

/// `90s`, `5m`, `2h` or `7d`, in seconds.
pub(crate) fn seconds(text: &str) -> Option<u64> {
    let digits = text.find(|character: char| !character.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(digits)?;
    let factor = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn people_write_a_number_and_a_unit() {
        assert_eq!(seconds("90s"), Some(90));
        assert_eq!(seconds("5m"), Some(300));
        assert_eq!(seconds("2h"), Some(7200));
        assert_eq!(seconds("7d"), Some(604_800));
        for wrong in [
            "",
            "5",
            "m",
            "5x",
            "-5m",
            "1.5h",
            "99999999999999999999d",
            "5 m",
        ] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
