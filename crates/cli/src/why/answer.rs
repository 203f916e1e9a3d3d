//! The answer: yes or no, the clause, where it comes from, and what would change it.

use palisade::Sandbox;
use palisade::runner::approve::visible;
use palisade::runner::evidence::{is_kept, ordinary_permissions};
use palisade::runner::policy::{Access, Clause, GitAccess, Grant, Permission, Place, Verdict};

use super::origin;
use super::target::Question;
use crate::ground::{Ground, Kept, PolicyFlags, Tried};
use crate::lasting::{Files, Lasting, listed, once};
use crate::say::{Tone, Voice};

/// What is said about a grant for something that is not there.
pub(super) const NOT_YET: &str =
    "none, before it exists: once it does, it can be granted by itself";

/// What is said about one access.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    question: &'a Question,
    /// What the policy says about it, or about a link on the way there.
    verdict: Verdict,
    /// The link that the verdict is about.
    link: Option<&'a Access>,
    why_not: Option<WhyNot>,
}

/// Why the answer is no although the policy allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WhyNot {
    /// The modes of files.
    Ordinary,
    /// The session has its own, in which it is not.
    Elsewhere,
    /// The session has its own loopback, in which the servers of this machine are not.
    OwnLoopback,
}

/// What the policy says, and what else is in the way.
pub(super) fn to<'a>(question: &'a Question, tried: &Tried) -> Answer<'a> {
    let denied = question.through.iter().find_map(|link| {
        let verdict = tried.oracle.permits(link);
        (!verdict.is_allowed()).then_some((link, verdict))
    });
    let (link, verdict) = match denied {
        Some((link, verdict)) => (Some(link), verdict),
        None => (None, tried.oracle.permits(&question.access)),
    };
    Answer {
        why_not: why_not(question, &verdict, tried),
        question,
        verdict,
        link,
    }
}

fn why_not(question: &Question, verdict: &Verdict, tried: &Tried) -> Option<WhyNot> {
    // Where the session has a network of its own, the loopback of this machine is not in it, whatever a grant says.
    let own =
        tried.oracle.context().private.loopback && !tried.oracle.canonical().has_full_network();
    if matches!(question.access, Access::Connect { .. })
        && (verdict.clause == Clause::OwnLoopback || verdict.clause == Clause::HostLoopback && own)
    {
        return Some(WhyNot::OwnLoopback);
    }
    let path = question.path.as_deref()?;
    let reads = matches!(question.access, Access::Read(_) | Access::Execute(_));
    match verdict.permission {
        Permission::Denied => None,
        Permission::Allowed(Place::Private) => {
            let inside = matches!(&verdict.clause, Clause::PrivatePlace(place)
                if is_fresh(place.as_path()) && place.as_path() != path);
            (reads && inside).then_some(WhyNot::Elsewhere)
        }
        Permission::Allowed(Place::Host) => {
            if verdict.clause == Clause::FullAccess {
                return None;
            }
            let ordinary = ordinary_permissions(path)?;
            let lets = match &question.access {
                Access::Read(_) => ordinary.readable,
                Access::Execute(_) => ordinary.readable && is_executable(path),
                Access::Write(_) | Access::Create(_) => ordinary.writable,
                Access::Delete(_) => {
                    let parent = path.parent().and_then(ordinary_permissions)?;
                    parent.writable
                }
                _ => true,
            };
            (!lets).then_some(WhyNot::Ordinary)
        }
    }
}

/// Whether the session's own begins empty; the others are layers over what is there.
fn is_fresh(place: &std::path::Path) -> bool {
    [
        std::path::Path::new("/tmp"),
        std::path::Path::new("/dev/shm"),
    ]
    .contains(&place)
}

#[cfg(unix)]
fn is_executable(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata()
        .is_ok_and(|found| found.is_dir() || found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &std::path::Path) -> bool {
    true
}

impl Answer<'_> {
    pub(super) fn is_yes(&self) -> bool {
        self.verdict.is_allowed() && self.why_not.is_none()
    }

    pub(super) fn text(
        &self,
        ground: &Ground,
        flags: &PolicyFlags,
        tried: &Tried,
        voice: &Voice,
    ) -> String {
        let word = match self.is_yes() {
            true => voice.out_tone(Tone::Good, "yes"),
            false => voice.out_tone(Tone::Bad, "no"),
        };
        let mut text = format!("{word}: {}\n", visible(&self.question.access.to_string()));
        let mut line = |name: &str, said: &str| {
            let name = voice.out_tone(Tone::Faint, &format!("{name:<7}"));
            text.push_str(&format!("  {name} {said}\n"));
        };
        if let Some(named) = &self.question.named {
            line("named", &visible(&named.display().to_string()));
        }
        if let Some(link) = self.link {
            line(
                "through",
                &format!("a link that cannot be followed: {link}"),
            );
        }
        line("clause", &visible(&self.verdict.clause.to_string()));
        line(
            "from",
            &origin::of(&self.verdict.clause, ground, flags, &tried.oracle),
        );
        for note in self.notes(tried) {
            line("but", &note);
        }
        let closed = !self.verdict.is_allowed() || self.why_not == Some(WhyNot::OwnLoopback);
        if closed && !voice.quiet {
            for (name, said) in self.help(ground) {
                line(name, &said);
            }
        }
        text
    }

    /// What else has to be known.
    fn notes(&self, tried: &Tried) -> Vec<String> {
        let mut notes = Vec::new();
        match self.why_not {
            Some(WhyNot::Ordinary) => notes.push(
                "ordinary permissions do not let this user; in a sandbox root has no privileges"
                    .to_owned(),
            ),
            Some(WhyNot::Elsewhere) => {
                notes.push("what this machine has there is not in the session's own".to_owned());
            }
            Some(WhyNot::OwnLoopback) => notes.push(
                "servers of this machine are not there; those that the command starts are"
                    .to_owned(),
            ),
            None => {}
        }
        if self.is_yes() && self.verdict.permission == Permission::Allowed(Place::Private) {
            notes.push("it never reaches this machine's own".to_owned());
        }
        if self.is_yes() && !self.question.exists && matches!(self.question.access, Access::Read(_))
        {
            notes.push("there is nothing there now".to_owned());
        }
        match &tried.kept {
            Kept::Refused(why) => {
                let first = why.lines().next().unwrap_or_default();
                notes.push(format!(
                    "no sandbox can be set up like this, so nothing runs: {first}"
                ));
            }
            Kept::By(enforcement)
                if !self.verdict.is_allowed() && !is_kept(&self.verdict.clause, enforcement) =>
            {
                notes.push(
                    "this machine does not enforce it, and that loss was accepted".to_owned(),
                );
            }
            Kept::By(_) | Kept::Nothing => {}
        }
        notes
    }

    /// The smallest grant, and the lines that give it. Each was tried: a line that would be refused helps nobody.
    fn help(&self, ground: &Ground) -> Vec<(&'static str, String)> {
        if self.why_not == Some(WhyNot::OwnLoopback) {
            return self.whole_network("it comes with the whole network alone", ground);
        }
        let Some(grant) = &self.verdict.remedy else {
            let why = match self.question.exists {
                true => "none: nothing opens it",
                false => NOT_YET,
            };
            return vec![("grant", why.to_owned())];
        };
        let mut lines = vec![("grant", visible(&grant.to_string()))];
        let granted = ground.policy.clone().grant(grant.clone());
        match (grant, Sandbox::on(ground.host.clone(), granted)) {
            (Grant::HostLoopback, _) if cfg!(target_os = "linux") => {
                let why = "no sandbox on Linux opens this machine alone";
                lines.extend(self.whole_network(why, ground));
            }
            (Grant::Host(_), Err(_)) => {
                let why = "no sandbox here opens single hosts";
                lines.extend(self.whole_network(why, ground));
            }
            (_, Err(error)) => {
                let why = error.to_string();
                lines.push(("but", visible(why.lines().next().unwrap_or_default())));
            }
            (_, Ok(_)) => {
                if *grant == Grant::Git(GitAccess::Commit) {
                    lines.push(("but", "only history comes back to this machine".to_owned()));
                }
                lines.push(("once", once(grant, &["CMD".into()])));
                lines.push(("always", self.lasting(grant, ground)));
            }
        }
        lines
    }

    /// What opens the network, where nothing smaller does.
    fn whole_network(&self, why: &str, ground: &Ground) -> Vec<(&'static str, String)> {
        vec![
            ("but", why.to_owned()),
            ("once", "palisade run --net -- CMD".to_owned()),
            ("always", self.lasting(&Grant::HostLoopback, ground)),
        ]
    }

    /// What makes a grant lasting, as `run` says it after a denial.
    fn lasting(&self, grant: &Grant, ground: &Ground) -> String {
        let files = Files {
            paths: &ground.paths,
            host: &ground.host,
            project: ground.configuration.project.path().as_path(),
        };
        let lasting = Lasting {
            file: ground.paths.user.as_deref(),
            write: &ground.configuration.rules.policy().settings().write.value,
            hosts: &listed(&ground.configuration.rules.policy().settings().network.value),
            argv: None,
            helps: &|text, grant| files.open(text, grant),
        };
        let lines = lasting.lines(&[(grant, &self.verdict.clause)]);
        let mut text = format!("in {}:", lasting.place());
        for line in lines.lines() {
            text.push_str("\n            ");
            text.push_str(line);
        }
        text
    }
}
