//! Paths of the host, passed beside the text of a profile.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;

use palisade_policy::AbsolutePath;

/// The name of a parameter, such as `ROOT_0`: upper-case letters, digits and `_`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParameterName(pub(crate) String);

impl ParameterName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ParameterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A path that cannot be a parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` {why}", path.to_string().escape_debug())]
#[non_exhaustive]
pub struct UnspeakablePath {
    /// The path.
    pub path: AbsolutePath,
    /// What is wrong with it.
    pub why: &'static str,
}

/// What each parameter stands for: `-DNAME=PATH` for `sandbox-exec`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters(pub(crate) BTreeMap<ParameterName, AbsolutePath>);

impl Parameters {
    /// What a parameter stands for.
    #[must_use]
    pub fn get(&self, name: &ParameterName) -> Option<&AbsolutePath> {
        self.0.get(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&ParameterName, &AbsolutePath)> {
        self.0.iter()
    }

    /// The name under which a path is passed: the one that it has, or a new one of this kind, such as `ROOT_1`.
    ///
    /// # Errors
    /// The path holds a line break or is not Unicode: nobody has said how `sandbox-exec` reads those.
    pub(crate) fn name(
        &mut self,
        kind: &'static str,
        path: &AbsolutePath,
    ) -> Result<ParameterName, UnspeakablePath> {
        check(path)?;
        if let Some((name, _)) = self.0.iter().find(|(_, known)| *known == path) {
            return Ok(name.clone());
        }
        let name = (0..)
            .map(|number: usize| ParameterName(format!("{kind}_{number}")))
            .find(|name| !self.0.contains_key(name))
            .ok_or_else(|| unspeakable(path, "is one too many"))?;
        self.0.insert(name.clone(), path.clone());
        Ok(name)
    }

    /// The words for `sandbox-exec`, one for each parameter.
    #[must_use]
    pub fn arguments(&self) -> Vec<OsString> {
        self.0
            .iter()
            .map(|(name, path)| {
                let mut word = OsString::from(format!("-D{name}="));
                word.push(path.as_path());
                word
            })
            .collect()
    }
}

/// Whether a path can be passed.
pub(crate) fn check(path: &AbsolutePath) -> Result<(), UnspeakablePath> {
    match path.as_path().to_str() {
        None => Err(unspeakable(path, "is not Unicode")),
        Some(text) if text.contains(['\n', '\r']) => {
            Err(unspeakable(path, "contains a line break"))
        }
        Some(_) => Ok(()),
    }
}

fn unspeakable(path: &AbsolutePath, why: &'static str) -> UnspeakablePath {
    UnspeakablePath {
        path: path.clone(),
        why,
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_name_and_is_passed_as_it_is() {
        let mut parameters = Parameters::default();
        let quoted = AbsolutePath::new("/srv/a \"b\" (c) \\ =d").unwrap();
        let name = parameters.name("ROOT", &quoted).unwrap();
        assert_eq!(name.as_str(), "ROOT_0");
        assert_eq!(parameters.name("SECRET", &quoted).unwrap(), name);
        let other = AbsolutePath::new("/srv/b").unwrap();
        assert_eq!(parameters.name("ROOT", &other).unwrap().as_str(), "ROOT_1");
        assert_eq!(
            parameters.arguments(),
            ["-DROOT_0=/srv/a \"b\" (c) \\ =d", "-DROOT_1=/srv/b"]
        );
    }

    #[test]
    fn what_cannot_be_passed_is_refused() {
        use std::os::unix::ffi::OsStringExt as _;

        let mut parameters = Parameters::default();
        let broken = AbsolutePath::new("/srv/a\nb").unwrap();
        let error = parameters.name("ROOT", &broken).unwrap_err();
        assert_eq!(error.to_string(), "`/srv/a\\nb` contains a line break");
        let bytes = OsString::from_vec(b"/srv/\xff".to_vec());
        let error = parameters.name("ROOT", &AbsolutePath::new(bytes).unwrap());
        assert_eq!(error.unwrap_err().why, "is not Unicode");
        assert_eq!(parameters, Parameters::default());
    }
}
