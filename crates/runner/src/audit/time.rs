//! When something happened: milliseconds in UTC, written as RFC 3339.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

const DAY: u64 = 86_400_000;

/// A moment, as in `2026-03-01T12:00:00.000Z`. Moments before 1970 count as 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp {
    millis: u64,
}

impl Timestamp {
    /// Milliseconds since 1970.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self { millis }
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub const fn millis(self) -> u64 {
        self.millis
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil(self.millis / DAY);
        let rest = self.millis % DAY;
        let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60);
        let (second, millis) = (rest / 1000 % 60, rest % 1000);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z"
        )
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}

impl TryFrom<String> for Timestamp {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        parse(&text).ok_or("not a time as in 2026-03-01T12:00:00.000Z")
    }
}

fn parse(text: &str) -> Option<Timestamp> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.splitn(3, '-').map(|part| part.parse::<u64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (clock, millis) = time.split_once('.')?;
    let mut clock = clock.splitn(3, ':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let millis = (millis.len() == 3).then(|| millis.parse::<u64>().ok())??;
    let days = days(year, month, day)?;
    if hour > 23 || minute > 59 || second > 59 || civil(days) != (year, month, day) {
        return None;
    }
    let rest = hour * 3_600_000 + minute * 60_000 + second * 1000 + millis;
    Some(Timestamp::from_millis(
        days.checked_mul(DAY)?.checked_add(rest)?,
    ))
}

/// The date of a day since 1970. Years start in March here, so that the leap day is the last of its year.
const fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    (year + era * 400 + (month <= 2) as u64, month, day)
}

/// The day since 1970 of a date.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = year - u64::from(month <= 2);
    let (era, year) = (year / 400, year % 400);
    let march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * march + 2) / 5 + day - 1;
    (era * 146_097 + year * 365 + year / 4 - year / 100 + day_of_year).checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_a_few_centuries_comes_back() {
        for day in 0..150_000 {
            let time = Timestamp::from_millis(day * DAY + day % DAY);
            assert_eq!(Timestamp::try_from(time.to_string()), Ok(time));
        }
        let known = Timestamp::from_millis(1_709_210_096_789);
        assert_eq!(known.to_string(), "2024-02-29T12:34:56.789Z");
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "2024-02-30T00:00:00.000Z",
            "2024-02-29T24:00:00.000Z",
            "2024-02-29T00:00:00Z",
            "x",
        ] {
            assert!(Timestamp::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
