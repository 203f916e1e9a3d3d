//! Changes refs and HEAD on the host, each only if it still has its old value, under git's locks.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use super::ImportError;
use super::baseline::{Baseline, host_head, open};
use super::bring::Sound;
use super::git::{Git, Run};
use super::lock::{self, Lock};
use super::names::{HashKind, Oid, escaped};
use super::reflog::{self, LogEntry};
use super::refs_read::{Head, RefValue, one_of_host};
use super::report::{DropReason, ImportReport, RefChange};
use super::session::{Tree, path};
use super::wanted::{Change, MAX_HEAD_STEPS, Wanted, shown};

/// What the steps of applying share.
pub(super) struct Apply<'a> {
    pub(super) git: &'a Git<'a>,
    pub(super) sound: &'a Sound,
    pub(super) baseline: &'a mut Baseline,
    pub(super) report: &'a mut ImportReport,
    /// What did not change as the session wanted.
    pub(super) refused: BTreeSet<String>,
}

impl Apply<'_> {
    /// Makes and moves refs, sets HEAD, deletes refs: in this order, so that a renamed branch is never missing.
    pub(super) fn refs_and_head(
        &mut self,
        wanted: &Wanted,
        busy: &BTreeSet<String>,
    ) -> Result<bool, ImportError> {
        let mut again = Vec::new();
        for change in wanted.changes.iter().filter(|change| change.new.is_some()) {
            if let Err(message) = self.move_ref(change)? {
                again.push((change, message));
            }
        }
        let head = self.head(wanted, busy)?;
        for change in wanted.changes.iter().filter(|change| change.new.is_none()) {
            self.delete_ref(change)?;
        }
        // `a` may have stood in the way of `a/b`.
        for (change, message) in again {
            let second = self.move_ref(change)?;
            if second.is_err() {
                self.report
                    .drop(change.name.as_bytes(), DropReason::Refused(message));
                self.refused.insert(change.name.clone());
            }
        }
        Ok(head)
    }

    /// Makes or moves a ref; git's complaint if it may work later.
    fn move_ref(&mut self, change: &Change) -> Result<Result<(), String>, ImportError> {
        let Some(new) = &change.new else {
            return Ok(Ok(()));
        };
        let must_be_commit = !change.name.starts_with("refs/tags/");
        if !self.sound.has(new) || (must_be_commit && !self.sound.has_commit(new)) {
            self.report
                .drop(change.name.as_bytes(), DropReason::Objects);
            self.refused.insert(change.name.clone());
            return Ok(Ok(()));
        }
        let whole = change.steps.iter().all(|step| {
            step.new
                .as_ref()
                .is_some_and(|oid| self.sound.has_commit(oid))
        });
        let import = imported(change.old.clone(), new.clone());
        let steps = match change.steps.as_slice() {
            [] => std::slice::from_ref(&import),
            steps if whole => steps,
            _ => std::slice::from_ref(&import),
        };
        let mut reached = change.old.clone();
        for step in steps {
            let Some(next) = &step.new else { continue };
            let answer = self.git.run(update(
                &change.name,
                next,
                reached.as_ref(),
                step,
                self.baseline.kind,
            ))?;
            if answer.ok {
                reached = Some(next.clone());
                continue;
            }
            let found = one_of_host(self.git, self.baseline.kind, &change.name)?;
            let expected = reached.clone().map(RefValue::Id);
            if found == expected && reached == change.old {
                return Ok(Err(answer.message));
            }
            self.report.conflict(
                &change.name,
                shown(&expected),
                shown(&found),
                Some(new.to_string()),
            );
            self.refused.insert(change.name.clone());
            break;
        }
        if reached != change.old
            && let Some(reached) = reached
        {
            self.report.refs.push(RefChange {
                name: escaped(change.name.as_bytes()),
                old: change.old.as_ref().map(ToString::to_string),
                new: Some(reached.to_string()),
            });
            self.baseline
                .refs
                .insert(change.name.clone(), RefValue::Id(reached));
        }
        Ok(Ok(()))
    }

    fn delete_ref(&mut self, change: &Change) -> Result<(), ImportError> {
        let own = open(self.git.layout().git_dir())?;
        let Some(old) = &change.old else {
            return Ok(());
        };
        if host_head(&own, self.baseline.kind) == Some(Head::Branch(change.name.clone())) {
            self.report.drop(change.name.as_bytes(), DropReason::InUse);
            self.refused.insert(change.name.clone());
            return Ok(());
        }
        let run = Run::new("update-ref").args(["--no-deref", "-d", &change.name, old.as_str()]);
        let answer = self.git.run(run)?;
        if answer.ok {
            self.baseline.refs.remove(&change.name);
            self.report.refs.push(RefChange {
                name: escaped(change.name.as_bytes()),
                old: Some(old.to_string()),
                new: None,
            });
            return Ok(());
        }
        self.refused.insert(change.name.clone());
        let found = one_of_host(self.git, self.baseline.kind, &change.name)?;
        if found == Some(RefValue::Id(old.clone())) {
            self.report
                .drop(change.name.as_bytes(), DropReason::Refused(answer.message));
        } else {
            self.report
                .conflict(&change.name, Some(old.to_string()), shown(&found), None);
        }
        Ok(())
    }

    /// Sets HEAD; whether the host's HEAD is as the session has it.
    fn head(&mut self, wanted: &Wanted, busy: &BTreeSet<String>) -> Result<bool, ImportError> {
        let Some(new) = &wanted.head else {
            return Ok(false);
        };
        if let Head::Branch(name) = new
            && (self.refused.contains(name) || wanted.refused.contains(name))
        {
            if self.baseline.head.as_ref() != Some(new) {
                self.report.drop(b"HEAD", DropReason::Follows);
            }
            return Ok(false);
        }
        if self.baseline.head.as_ref() == Some(new) {
            self.baseline.head_log = wanted.head_log.1;
            return Ok(true);
        }
        let why = match new {
            Head::Branch(name) if busy.contains(name) => Some(DropReason::InUse),
            Head::Detached(oid) if !self.sound.has_commit(oid) => Some(DropReason::Objects),
            _ => None,
        };
        if let Some(why) = why {
            self.report.drop(b"HEAD", why);
            return Ok(false);
        }
        let own_path = self.git.layout().git_dir();
        let own = open(own_path)?;
        let lock = match Lock::take(&own, "HEAD") {
            Ok(lock) => lock,
            Err(source) => {
                self.report
                    .drop(b"HEAD", DropReason::Refused(source.to_string()));
                return Ok(false);
            }
        };
        let found = host_head(&own, self.baseline.kind);
        if found.as_ref() == Some(new) {
            self.baseline.head = found;
            self.baseline.head_log = wanted.head_log.1;
            return Ok(true);
        }
        if found != self.baseline.head || found.is_none() {
            let text =
                |head: &Option<Head>| head.as_ref().map(|h| escaped(h.to_string().as_bytes()));
            self.report.conflict(
                "HEAD",
                text(&self.baseline.head),
                text(&found),
                text(&wanted.head),
            );
            return Ok(false);
        }
        let before = self.resolve(found.as_ref())?;
        let after = self.resolve(Some(new))?;
        self.log_head(&own, before, after, wanted);
        lock.commit(format!("{new}\n").as_bytes())
            .map_err(|source| ImportError::host(own_path.join("HEAD"), source))?;
        self.report.head = Some(escaped(new.to_string().as_bytes()));
        self.baseline.head = Some(new.clone());
        self.baseline.head_log = wanted.head_log.1;
        Ok(true)
    }

    fn resolve(&self, head: Option<&Head>) -> Result<Option<Oid>, ImportError> {
        Ok(match head {
            None => None,
            Some(Head::Detached(oid)) => Some(oid.clone()),
            Some(Head::Branch(name)) => one_of_host(self.git, self.baseline.kind, name)?
                .and_then(|value| value.id().cloned()),
        })
    }

    /// Continues the log of HEAD, if the host keeps one. That a line cannot be written does not stop the import.
    fn log_head(&mut self, own: &Tree, before: Option<Oid>, after: Option<Oid>, wanted: &Wanted) {
        let Some(after) = after else { return };
        if own.regular(path(b"logs/HEAD")).is_err() {
            return;
        }
        let fresh = &wanted.head_log.0;
        let steps = reflog::chain(fresh, before.as_ref(), &after, MAX_HEAD_STEPS, true);
        let import = imported(before, after);
        let steps = if steps.is_empty() {
            std::slice::from_ref(&import)
        } else {
            steps
        };
        let text: String = steps
            .iter()
            .map(|step| step.line(self.baseline.kind))
            .collect();
        if let Err(source) = lock::append(own, "logs/HEAD", text.as_bytes()) {
            self.report
                .drop(b"logs/HEAD", DropReason::Refused(source.to_string()));
        }
    }
}

/// What our own log entries say.
pub(super) fn imported(old: Option<Oid>, new: Oid) -> LogEntry {
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    LogEntry {
        old,
        new: Some(new),
        name: "palisade".to_owned(),
        email: "palisade@localhost".to_owned(),
        date: (seconds, "+0000".to_owned()),
        message: "import: from a session".to_owned(),
    }
}

fn update(name: &str, new: &Oid, old: Option<&Oid>, step: &LogEntry, kind: HashKind) -> Run {
    let null = "0".repeat(kind.digits());
    let or_other = |text: &str| {
        let usable = text.chars().any(char::is_alphanumeric);
        if usable {
            text.to_owned()
        } else {
            "unknown".to_owned()
        }
    };
    let old = old.map_or(null.as_str(), Oid::as_str);
    let message = if step.message.is_empty() {
        "import"
    } else {
        &step.message
    };
    Run::new("update-ref")
        .args(["--no-deref", "-m", message, name, new.as_str(), old])
        .env("GIT_COMMITTER_NAME", or_other(&step.name))
        .env("GIT_COMMITTER_EMAIL", or_other(&step.email))
        .env(
            "GIT_COMMITTER_DATE",
            format!("@{} {}", step.date.0, step.date.1),
        )
}
