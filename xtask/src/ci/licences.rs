//! Step `licences`: where dependencies come from and under which terms, against the allowlist in `deny.toml`.
//!
//! The file has the form that cargo-deny reads, so that either tool can check it.

use anyhow::{Context, Result};
use serde::Deserialize;
use spdx::{Expression, Licensee, ParseMode};

use super::Outcome;
use crate::files;
use crate::workspace::{Package, Workspace};

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let terms = Terms::parse(&files::read(&workspace.path("deny.toml"))?)?;
    let mut complaints = Vec::new();
    let shipped = &workspace.metadata()?.packages;
    // No exceptions here: they are for what fuzzing links, which nobody ships.
    complaints.extend(
        shipped
            .iter()
            .filter_map(|package| terms.complaint(package)),
    );
    if let Some(manifest) = workspace.fuzz_manifest() {
        let fuzzing = workspace.metadata_of(manifest)?.packages;
        complaints.extend(fuzzing.iter().filter_map(|package| {
            let complaint = terms.with_exceptions_for(package).complaint(package)?;
            Some(format!("{complaint} (for fuzzing)"))
        }));
    }
    if complaints.is_empty() {
        Ok(Outcome::passed_with(format!("{} packages", shipped.len())))
    } else {
        Ok(Outcome::Failed(complaints.join("\n")))
    }
}

#[derive(Deserialize)]
struct DenyFile {
    licenses: Licenses,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    package: String,
    allow: Vec<String>,
}

#[derive(Clone)]
struct Terms {
    allowed: Vec<Licensee>,
    exceptions: Vec<(String, Vec<Licensee>)>,
}

impl Terms {
    fn parse(deny_toml: &str) -> Result<Self> {
        let file: DenyFile = toml::from_str(deny_toml).context("deny.toml")?;
        let exceptions = file.licenses.exceptions.into_iter();
        Ok(Self {
            allowed: licensees(&file.licenses.allow)?,
            exceptions: exceptions
                .map(|exception| Ok((exception.package, licensees(&exception.allow)?)))
                .collect::<Result<_>>()?,
        })
    }

    fn with_exceptions_for(&self, package: &Package) -> Self {
        let mut terms = self.clone();
        for (name, licences) in &self.exceptions {
            if *name == package.name {
                terms.allowed.extend(licences.iter().cloned());
            }
        }
        terms
    }

    fn complaint(&self, package: &Package) -> Option<String> {
        let problem = self.problem(package)?;
        Some(format!("{} {}: {problem}", package.name, package.version))
    }

    fn problem(&self, package: &Package) -> Option<String> {
        if let Some(source) = &package.source
            && !source.starts_with("registry+")
            && !source.starts_with("sparse+")
        {
            return Some(format!("comes from {source}, not from the registry"));
        }
        let Some(licence) = &package.license else {
            return Some("names no licence".to_owned());
        };
        match Expression::parse_mode(licence, ParseMode::LAX) {
            Err(error) => Some(format!(
                "`{licence}` is not a licence expression: {}",
                error.reason
            )),
            Ok(expression) if self.satisfy(&expression) => None,
            Ok(_) => Some(format!("`{licence}` is not allowed by deny.toml")),
        }
    }

    fn satisfy(&self, expression: &Expression) -> bool {
        expression.evaluate(|requirement| {
            self.allowed
                .iter()
                .any(|licence| licence.satisfies(requirement))
        })
    }
}

fn licensees(names: &[String]) -> Result<Vec<Licensee>> {
    let parse =
        |name: &String| Licensee::parse(name).with_context(|| format!("deny.toml: `{name}`"));
    names.iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::fixtures;

    const DENY: &str = r#"
        [licenses]
        allow = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"]
        exceptions = [{ crate = "fuzzer", allow = ["NCSA"] }]
    "#;

    fn package(name: &str, licence: &str) -> Package {
        Package {
            license: Some(licence.to_owned()),
            source: Some("registry+somewhere".to_owned()),
            ..fixtures::package(name, &[])
        }
    }

    fn problem(package: &Package) -> Option<String> {
        Terms::parse(DENY).unwrap().problem(package)
    }

    #[test]
    fn one_choice_or_all_parts_must_be_allowed() {
        let allowed = |licence| problem(&package("a", licence)).is_none();
        assert!(allowed("MIT"));
        assert!(allowed("MIT/Apache-2.0"));
        assert!(allowed("Apache-2.0 / MIT"));
        assert!(allowed("GPL-3.0-only OR MIT"));
        assert!(allowed("Apache-2.0 WITH LLVM-exception"));
        assert!(allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
        assert!(!allowed("(MIT OR Apache-2.0) AND NCSA"));
        assert!(!allowed("GPL-3.0-only"));
    }

    #[test]
    fn what_cannot_be_judged_is_refused() {
        let garbled = problem(&package("a", "MIT AND")).unwrap();
        assert!(
            garbled.starts_with("`MIT AND` is not a licence expression"),
            "{garbled}"
        );
        let silent = fixtures::package("a", &[]);
        assert_eq!(problem(&silent).unwrap(), "names no licence");
    }

    #[test]
    fn exceptions_are_for_one_package_and_only_where_asked_for() {
        let terms = Terms::parse(DENY).unwrap();
        let fuzzer = package("fuzzer", "(MIT OR Apache-2.0) AND NCSA");
        let other = package("other", "NCSA");
        assert!(terms.complaint(&fuzzer).is_some());
        assert!(
            terms
                .with_exceptions_for(&fuzzer)
                .complaint(&fuzzer)
                .is_none()
        );
        assert!(
            terms
                .with_exceptions_for(&other)
                .complaint(&other)
                .is_some()
        );
    }

    #[test]
    fn only_the_registry_and_folders_are_sources() {
        let mut git = package("a", "MIT");
        git.source = Some("git+https://example.org/a".to_owned());
        assert_eq!(
            problem(&git).unwrap(),
            "comes from git+https://example.org/a, not from the registry"
        );
        git.source = None;
        assert_eq!(problem(&git), None);
    }
}
