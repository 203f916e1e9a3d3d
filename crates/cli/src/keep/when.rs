//! Since when: `2h` ago, a day, or a moment.

use palisade::runner::exec_policy::approvals::Moment;

use crate::say::span;

/// A moment as people write it: so long ago (`90s`, `5m`, `2h`, `7d`), a day (`2026-11-16`, in UTC), or a moment as in
/// RFC 3339.
pub(super) fn since(text: &str, now: Moment) -> Option<Moment> {
    if let Some(seconds) = span::seconds(text) {
        let now = u64::try_from(now.unix()).ok()?;
        return Some(Moment::of_clock(now.saturating_sub(seconds)));
    }
    Moment::parse(text)
        .or_else(|_| Moment::parse(&format!("{text}T00:00:00Z")))
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_say_how_long_ago_or_when() {
        let now = Moment::parse("2026-11-16T12:00:00Z").unwrap();
        for (text, moment) in [
            ("2h", "2026-11-16T10:00:00Z"),
            ("7d", "2026-11-09T12:00:00Z"),
            ("2026-11-15", "2026-11-15T00:00:00Z"),
            ("2026-11-16T08:30:00Z", "2026-11-16T08:30:00Z"),
            ("2026-11-16T08:30:00+02:00", "2026-11-16T06:30:00Z"),
            ("99999d", "1970-01-01T00:00:00Z"),
        ] {
            assert_eq!(since(text, now), Moment::parse(moment).ok(), "{text}");
        }
        for wrong in [
            "",
            "yesterday",
            "2026-13-01",
            "2026-11-16T25:00:00Z",
            "2026",
            "-2h",
        ] {
            assert_eq!(since(wrong, now), None, "{wrong}");
        }
    }
}
