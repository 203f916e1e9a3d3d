//! Several tries that make one report.

use std::fmt::Display;
use std::io;

use crate::report::Report;
use crate::sys;
use crate::sys::harmless::Harmless;

/// What came of several tries: one escape makes the whole an escape.
#[derive(Debug, Default)]
pub(crate) struct Tries {
    escaped: Vec<String>,
    acted: Vec<String>,
    refused: Vec<(String, String)>,
    missing: Vec<String>,
}

impl Tries {
    /// Success is an escape.
    pub(crate) fn escape(mut self, what: &str, result: io::Result<impl Display>) -> Self {
        match result {
            Ok(detail) => self.escaped.push(joined(what, &detail)),
            Err(error) => self.failed(what, &error),
        }
        self
    }

    /// Success is an escape only if something is seen from outside.
    pub(crate) fn act(mut self, what: &str, result: io::Result<impl Display>) -> Self {
        match result {
            Ok(detail) => self.acted.push(joined(what, &detail)),
            Err(error) => self.failed(what, &error),
        }
        self
    }

    /// Any answer is an escape that shows that the kernel looked at the arguments.
    pub(crate) fn reach(mut self, what: &str, result: io::Result<i64>) -> Self {
        match result {
            Ok(_) => self.escaped.push(format!("{what} was reached")),
            Err(error) if is_refusal(&error) || is_absence(&error) => self.failed(what, &error),
            Err(error) => self
                .escaped
                .push(format!("{what} was reached ({})", sys::error_name(&error))),
        }
        self
    }

    /// The same for several calls.
    pub(crate) fn reach_all(self, calls: &[Harmless]) -> Self {
        calls
            .iter()
            .fold(self, |tries, call| tries.reach(call.name, call.call()))
    }

    /// A part of the attempt was ended from outside.
    pub(crate) fn stopped(mut self, what: &str, by: &str) -> Self {
        self.refused.push((by.to_owned(), what.to_owned()));
        self
    }

    /// There is nothing to try.
    pub(crate) fn missing(mut self, what: &str) -> Self {
        self.missing.push(what.to_owned());
        self
    }

    fn failed(&mut self, what: &str, error: &io::Error) {
        let name = sys::error_name(error);
        if is_absence(error) {
            self.missing.push(format!("{what} ({name})"));
        } else {
            self.refused.push((name, what.to_owned()));
        }
    }

    pub(crate) fn report(self) -> Report {
        if !self.escaped.is_empty() {
            return Report::Escaped(self.escaped.join("; "));
        }
        if !self.acted.is_empty() {
            return Report::Acted(self.acted.join("; "));
        }
        let mut refused = self.refused.into_iter();
        let Some((by, mut detail)) = refused.next() else {
            return Report::Unavailable(self.missing.join("; "));
        };
        for (by, what) in refused {
            detail.push_str(&format!("; {by} {what}"));
        }
        Report::Refused { by, detail }
    }
}

fn joined(what: &str, detail: &impl Display) -> String {
    format!("{what} {detail}").trim_end().to_owned()
}

fn is_refusal(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES))
}

/// The kernel has no such thing.
fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(
            libc::ENOSYS
                | libc::EAFNOSUPPORT
                | libc::EPROTONOSUPPORT
                | libc::ESOCKTNOSUPPORT
                | libc::ENODEV
        )
    )
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::Tries;

    fn failed(number: i32) -> io::Result<&'static str> {
        Err(io::Error::from_raw_os_error(number))
    }

    #[test]
    fn one_escape_is_enough() {
        let report = Tries::default()
            .escape("first", failed(libc::EACCES))
            .escape("second", Ok("wrote"))
            .report();
        assert_eq!(report.to_string(), "escaped: second wrote");
    }

    #[test]
    fn refusals_are_all_named() {
        let report = Tries::default()
            .escape("first", failed(libc::EACCES))
            .escape("second", failed(libc::EROFS))
            .escape("third", failed(libc::ENOSYS))
            .report();
        assert_eq!(report.to_string(), "refused: EACCES first; EROFS second");
    }

    #[test]
    fn an_error_about_arguments_means_that_the_call_was_reached() {
        let of = |number| {
            Tries::default()
                .reach("call", Err(io::Error::from_raw_os_error(number)))
                .report()
                .to_string()
        };
        assert_eq!(of(libc::EFAULT), "escaped: call was reached (EFAULT)");
        assert_eq!(of(libc::EPERM), "refused: EPERM call");
        assert_eq!(of(libc::ENOSYS), "unavailable: call (ENOSYS)");
    }
}
