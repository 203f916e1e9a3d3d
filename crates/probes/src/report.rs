//! The one line that a probe prints.

use std::fmt;

/// What a probe says about its attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Report {
    /// It got through.
    Escaped(String),
    /// What it did worked, and only evidence from outside tells whether that got out.
    Acted(String),
    /// It was refused.
    Refused {
        /// The name of the error, or of the signal that ended a part of it.
        by: String,
        /// What was refused.
        detail: String,
    },
    /// There is nothing to try on this host.
    Unavailable(String),
    /// The useful act worked.
    Works(String),
    /// The useful act failed, or the probe itself.
    Broken(String),
}

impl Report {
    /// Reads the line.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let (kind, rest) = line.trim_end().split_once(": ")?;
        let detail = rest.to_owned();
        Some(match kind {
            "escaped" => Self::Escaped(detail),
            "acted" => Self::Acted(detail),
            "refused" => {
                let (by, detail) = rest.split_once(' ').unwrap_or((rest, ""));
                Self::Refused {
                    by: by.to_owned(),
                    detail: detail.to_owned(),
                }
            }
            "unavailable" => Self::Unavailable(detail),
            "works" => Self::Works(detail),
            "broken" => Self::Broken(detail),
            _ => return None,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, text) = match self {
            Self::Escaped(text) => ("escaped", text.clone()),
            Self::Acted(text) => ("acted", text.clone()),
            Self::Refused { by, detail } => ("refused", format!("{by} {detail}")),
            Self::Unavailable(text) => ("unavailable", text.clone()),
            Self::Works(text) => ("works", text.clone()),
            Self::Broken(text) => ("broken", text.clone()),
        };
        // One line, whatever was read from elsewhere.
        let line: String = text
            .chars()
            .map(|c| if c.is_control() { '?' } else { c })
            .collect();
        write!(f, "{kind}: {}", line.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::Report;

    #[test]
    fn every_kind_is_read_back() {
        for line in [
            "escaped: wrote",
            "acted: made a queue",
            "refused: EPERM unshare",
            "unavailable: not built",
            "works: 3 files",
            "broken: no answer",
        ] {
            assert_eq!(Report::parse(line).unwrap().to_string(), line);
        }
        assert_eq!(Report::parse("escaped"), None);
        assert_eq!(Report::parse("fine: really"), None);
    }

    #[test]
    fn a_report_is_one_line() {
        let report = Report::Escaped("a\nrefused: EPERM b\u{1b}[0m".to_owned());
        assert_eq!(report.to_string(), "escaped: a?refused: EPERM b?[0m");
    }
}
