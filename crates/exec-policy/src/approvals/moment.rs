//! A point in time, as a value: this crate never asks a clock.

use std::fmt;

use super::error::MomentError;

const DAY: i64 = 86_400;
/// 9999-12-31T23:59:59Z, the last second that the written form can hold.
const LAST: i64 = 253_402_300_799;

/// A second, in UTC.
///
/// ```
/// use palisade_exec_policy::approvals::Moment;
///
/// let moment = Moment::parse("2026-03-01T12:30:00Z")?;
/// assert_eq!(moment.to_string(), "2026-03-01T12:30:00Z");
/// assert_eq!(Moment::parse("2026-03-01T14:30:00+02:00")?, moment);
/// # Ok::<(), palisade_exec_policy::approvals::MomentError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(i64);

impl Moment {
    /// So many seconds after the start of 1970.
    ///
    /// # Errors
    /// The time is before 1970 or after 9999.
    pub const fn from_unix(seconds: i64) -> Result<Self, MomentError> {
        if seconds < 0 || seconds > LAST {
            Err(MomentError::OutOfRange)
        } else {
            Ok(Self(seconds))
        }
    }

    /// So many seconds after the start of 1970, or the last moment there is: what a clock says is always some moment.
    #[must_use]
    pub const fn of_clock(seconds: u64) -> Self {
        if seconds > LAST.unsigned_abs() {
            Self(LAST)
        } else {
            Self(seconds.cast_signed())
        }
    }

    /// The seconds after the start of 1970.
    #[must_use]
    pub const fn unix(self) -> i64 {
        self.0
    }

    /// The moment `days` later, or the last one there is.
    #[must_use]
    pub const fn plus_days(self, days: u32) -> Self {
        let later = self.0.saturating_add((days as i64).saturating_mul(DAY));
        Self(if later > LAST { LAST } else { later })
    }

    /// Reads `2026-03-01T12:30:00Z`; another offset is converted, a fraction of a second is dropped.
    ///
    /// # Errors
    /// The text is no date with time and offset, or is out of range.
    pub fn parse(text: &str) -> Result<Self, MomentError> {
        let datetime: toml_edit::Datetime = text.parse().map_err(|_| MomentError::NotAMoment)?;
        Self::from_toml(&datetime)
    }

    pub(super) fn from_toml(datetime: &toml_edit::Datetime) -> Result<Self, MomentError> {
        let (Some(date), Some(time), Some(offset)) =
            (datetime.date, datetime.time, datetime.offset)
        else {
            return Err(MomentError::NotAMoment);
        };
        let minutes = match offset {
            toml_edit::Offset::Z => 0,
            toml_edit::Offset::Custom { minutes } => i64::from(minutes),
        };
        let days = days_from_civil(
            i64::from(date.year),
            i64::from(date.month),
            i64::from(date.day),
        );
        let seconds = i64::from(time.hour) * 3_600
            + i64::from(time.minute) * 60
            + i64::from(time.second.unwrap_or(0))
            - minutes * 60;
        Self::from_unix(days * DAY + seconds)
    }

    pub(super) fn to_toml(self) -> Result<toml_edit::Datetime, MomentError> {
        self.to_string()
            .parse()
            .map_err(|_| MomentError::OutOfRange)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, rest) = (self.0.div_euclid(DAY), self.0.rem_euclid(DAY));
        let (year, month, day) = civil_from_days(days);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
            rest / 3_600,
            rest / 60 % 60,
            rest % 60
        )
    }
}

/// Days from 1970-01-01 to a date of the Gregorian calendar, counted in years that start in March.
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The reverse.
const fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates() {
        for (text, unix) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("2026-03-01T12:00:00Z", 1_772_366_400),
            ("9999-12-31T23:59:59Z", LAST),
        ] {
            let moment = Moment::parse(text).unwrap();
            assert_eq!(moment.unix(), unix, "{text}");
            assert_eq!(moment.to_string(), text);
        }
    }

    #[test]
    fn every_day_of_four_centuries_reads_back() {
        for day in 0..(400 * 366) {
            let (year, month, date) = civil_from_days(day);
            assert_eq!(days_from_civil(year, month, date), day);
        }
    }

    #[test]
    fn half_dates_are_refused() {
        for text in ["2026-03-01", "2026-03-01T12:00:00", "12:00:00", "soon", ""] {
            assert_eq!(Moment::parse(text), Err(MomentError::NotAMoment), "{text}");
        }
        assert_eq!(
            Moment::parse("1969-12-31T23:59:59Z"),
            Err(MomentError::OutOfRange)
        );
        assert_eq!(Moment::from_unix(LAST + 1), Err(MomentError::OutOfRange));
    }

    #[test]
    fn days_are_added_up_to_the_last() {
        let moment = Moment::parse("2026-12-31T00:00:00Z").unwrap();
        assert_eq!(moment.plus_days(1).to_string(), "2027-01-01T00:00:00Z");
        assert_eq!(moment.plus_days(u32::MAX).unix(), LAST);
    }
}
