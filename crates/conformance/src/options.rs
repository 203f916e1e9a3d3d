//! Options of this program's commands: `--name VALUE`, flags, and a command line after `--`.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

/// What a command was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    values: Vec<(&'static str, OsString)>,
    flags: Vec<&'static str>,
    /// What stands after `--`.
    pub rest: Vec<OsString>,
}

impl Options {
    /// Reads arguments: options with a value, and flags without.
    ///
    /// # Errors
    /// Something is neither, or a value is missing.
    pub fn parse(
        arguments: impl IntoIterator<Item = OsString>,
        with_value: &[&'static str],
        flags: &[&'static str],
    ) -> Result<Self> {
        let mut arguments = arguments.into_iter();
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            if argument == "--" {
                options.rest = arguments.collect();
                break;
            }
            if let Some(name) = with_value.iter().find(|name| argument == **name) {
                let value = arguments
                    .next()
                    .with_context(|| format!("{name} needs a value"))?;
                options.values.push((name, value));
            } else if let Some(name) = flags.iter().find(|name| argument == **name) {
                options.flags.push(name);
            } else {
                let known: Vec<&str> = with_value.iter().chain(flags).copied().collect();
                let shown = argument.to_string_lossy().into_owned();
                bail!(
                    "unexpected argument `{}`; there are {}",
                    shown.escape_debug(),
                    known.join(" ")
                );
            }
        }
        Ok(options)
    }

    /// Reads the arguments of something that is measured: besides its own options, those that say where peers are, where
    /// what was found goes, and what pages are made of.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse).
    pub fn of_measurement(
        arguments: impl IntoIterator<Item = OsString>,
        own: &[&'static str],
    ) -> Result<Self> {
        const SHARED: [&str; 7] = [
            "--only",
            "--jobs",
            "--peers",
            "--json",
            "--from",
            "--into",
            "--command",
        ];
        Self::parse(arguments, &[own, &SHARED].concat(), &["--list", "--help"])
    }

    /// How many things are done at a time.
    ///
    /// # Errors
    /// It is no number.
    pub fn jobs(&self) -> Result<usize> {
        match self.last("--jobs") {
            Some(_) => self.text("--jobs")?.parse().context("--jobs"),
            None => Ok(2),
        }
    }

    /// Whether a flag was given.
    #[must_use]
    pub fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }

    /// The last value of an option.
    #[must_use]
    pub fn last(&self, name: &str) -> Option<&OsString> {
        let mut values = self.values.iter().rev();
        values
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// The value of an option that must be given, as text.
    ///
    /// # Errors
    /// It is missing, or no text.
    pub fn text(&self, name: &str) -> Result<&str> {
        let value = self
            .last(name)
            .with_context(|| format!("{name} is missing"))?;
        value.to_str().with_context(|| format!("{name} is no text"))
    }

    /// The values of an option, as texts.
    ///
    /// # Errors
    /// One is no text.
    pub fn texts(&self, name: &str) -> Result<Vec<&str>> {
        let values = self.values.iter().filter(|(known, _)| *known == name);
        values
            .map(|(_, value)| value.to_str().with_context(|| format!("{name} is no text")))
            .collect()
    }

    /// The value of an option that must be given, as a path.
    ///
    /// # Errors
    /// It is missing.
    pub fn path(&self, name: &str) -> Result<PathBuf> {
        let value = self
            .last(name)
            .with_context(|| format!("{name} is missing"))?;
        Ok(PathBuf::from(value))
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    fn parse(line: &str) -> Result<Options, String> {
        let words = line.split_whitespace().map(Into::into);
        Options::parse(words, &["--only"], &["--list"]).map_err(|error| error.to_string())
    }

    #[test]
    fn values_flags_and_the_rest() {
        let options = parse("--only a --list --only b -- --only c").unwrap();
        assert_eq!(options.texts("--only").unwrap(), ["a", "b"]);
        assert_eq!(options.text("--only").unwrap(), "b");
        assert!(options.has("--list"));
        assert_eq!(options.rest, ["--only", "c"]);
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        assert_eq!(parse("--only").unwrap_err(), "--only needs a value");
        assert_eq!(
            parse("--all").unwrap_err(),
            "unexpected argument `--all`; there are --only --list"
        );
        assert_eq!(
            parse("").unwrap().text("--only").unwrap_err().to_string(),
            "--only is missing"
        );
    }
}
