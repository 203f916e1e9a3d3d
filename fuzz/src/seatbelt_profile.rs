//! Seatbelt profiles: the text of a policy's profile reads back as the same rules whatever the names in the policy hold, and
//! any text that is read as a profile is printed as one that means the same.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use arbitrary::Arbitrary;
use palisade_policy::{
    AbsolutePath, Backend as _, CanonicalSandboxPolicy, Guarantee, HostFacts, Os, PathCase,
    PathRules, PathSpec, PolicyContext, RelativePath, Reopened, SensitivePath, WorkspaceRoot,
};
use palisade_seatbelt::host::{Entry, Located, SandboxExec};
use palisade_seatbelt::model::{Model, read};
use palisade_seatbelt::profile::Rule;
use palisade_seatbelt::{MacHost, Profile, Seatbelt, private_places, survey};

/// A policy whose names are any bytes.
#[derive(Arbitrary, Debug)]
struct Case<'a> {
    root: &'a [u8],
    secret: &'a [u8],
    denied: &'a str,
    protected: &'a [u8],
    reopened: &'a [u8],
    writes: bool,
    there: u8,
    folds_case: bool,
}

/// Reads the bytes as the text of a profile, and as a policy.
pub fn run(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(rules) = read(text)
    {
        let printed = profile_of(&rules);
        assert_eq!(read(&printed).as_ref(), Ok(&rules), "{printed}");
    }
    if let Some(case) = crate::structured::<Case<'_>>(data)
        && let Some(profile) = case.profile()
    {
        reads_back(&profile);
    }
}

fn profile_of(rules: &[Rule]) -> String {
    let mut text = String::from("(version 1)\n");
    for rule in rules {
        text.push_str(&rule.to_string());
        text.push('\n');
    }
    text
}

fn reads_back(profile: &Profile) {
    let text = profile.text();
    let rules = read(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    assert!(rules.ends_with(&profile.rules), "{text}");
    // The base is always the same: nothing of the policy is among what comes before its rules.
    let mut base = profile.clone();
    base.rules.clear();
    let base = read(&base.text()).expect("the base is a profile");
    assert_eq!(rules.len(), base.len() + profile.rules.len());
    assert!(rules.starts_with(&base));
    Model::new(&rules, &profile.parameters).expect("every parameter is passed");
    for word in profile.arguments() {
        assert!(!word.as_bytes().contains(&b'\n'), "{word:?}");
    }
}

impl Case<'_> {
    fn profile(&self) -> Option<Profile> {
        let below = |start: &str, name: &[u8]| {
            let path = std::path::Path::new(start)
                .join(OsStr::from_bytes(name.strip_prefix(b"/").unwrap_or(name)));
            AbsolutePath::new(path).ok()
        };
        let root = WorkspaceRoot::from_absolute(below("/srv", self.root)?).ok()?;
        let mut rules = PathRules::default();
        if let Ok(spec) = PathSpec::parse(self.denied) {
            rules = rules.with_deny_read([spec]);
        }
        if let Ok(name) = RelativePath::new(OsStr::from_bytes(self.protected)) {
            rules = rules.with_protected([name]);
        }
        if let Some(path) = below("/srv/more", self.reopened) {
            rules = rules.with_reopened([Reopened::write(path)]);
        }
        let secrets = below("/Users/dev", self.secret)
            .map(|path| SensitivePath::blocking(PathSpec::from(path)));
        let policy = if self.writes {
            CanonicalSandboxPolicy::workspace_write_with_sensitive_paths([root.clone()], secrets)
        } else {
            CanonicalSandboxPolicy::read_only()
        };
        let mut facts = HostFacts::new(Os::Macos)
            .with_home(AbsolutePath::new("/Users/dev").ok()?)
            .with_uid(501);
        if self.folds_case {
            facts = facts.with_case(PathCase::Insensitive);
        }
        let host = MacHost::new(SandboxExec::Works)
            .with_session_tmp(AbsolutePath::new("/private/var/folders/x/session").ok()?);
        let context = PolicyContext::new(facts, root).with_private(private_places(&host));
        let policy = policy.with_paths(rules).resolve(&context).ok()?;
        let paths = survey::paths(&policy).into_iter().enumerate();
        let host = paths.fold(host, |host, (i, path)| {
            let located = self.locate(i, &path);
            host.with_place(path, located)
        });
        let accepted = Guarantee::ALL.into_iter().collect();
        let (plan, _) = Seatbelt.lower(&policy, &host).ok()?.admit(&accepted).ok()?;
        Some(plan.profile)
    }

    /// Some paths are there, others are not from their last name on.
    fn locate(&self, i: usize, path: &AbsolutePath) -> Located {
        let there = self.there.rotate_left(u32::try_from(i % 8).unwrap_or(0)) & 1 == 0;
        match (there, path.parent(), path.as_path().file_name()) {
            (false, Some(parent), Some(name)) => Located::missing(parent, [name]),
            _ => Located::new(path.clone(), Entry::Directory),
        }
    }
}
