//! The stash: a ref whose log is its content, so both are replaced together under the ref's lock.

use super::ImportError;
use super::apply::Apply;
use super::baseline::{host_stash, open};
use super::git::Run;
use super::lock::Lock;
use super::names::STASH;
use super::reflog::LogEntry;
use super::refs_read::{RefValue, one_of_host};
use super::report::{DropReason, RefChange};
use super::wanted::shown;

impl Apply<'_> {
    /// Replaces the stash, if the host's is still what it was.
    pub(super) fn stash(&mut self, new: &[LogEntry]) -> Result<(), ImportError> {
        let kind = self.baseline.kind;
        let tip = new.last().and_then(|entry| entry.new.clone());
        let known = |entry: &LogEntry| self.baseline.stash.iter().any(|old| old.new == entry.new);
        let sound = new.iter().all(|entry| {
            known(entry)
                || entry
                    .new
                    .as_ref()
                    .is_some_and(|oid| self.sound.has_commit(oid))
        });
        if !sound {
            self.report.drop(STASH.as_bytes(), DropReason::Objects);
            return Ok(());
        }
        let layout = self.git.layout();
        let refs_path = layout.common_dir().join("refs");
        let logs_path = layout.common_dir().join("logs/refs");
        std::fs::create_dir_all(&logs_path).map_err(|e| ImportError::host(&logs_path, e))?;
        let (refs, logs) = (open(&refs_path)?, open(&logs_path)?);
        let old = self.baseline.refs.get(STASH).cloned();
        let lock = match Lock::take(&refs, "stash") {
            Ok(lock) => lock,
            Err(source) => {
                self.report
                    .drop(STASH.as_bytes(), DropReason::Refused(source.to_string()));
                return Ok(());
            }
        };
        let found = one_of_host(self.git, kind, STASH)?;
        let log = host_stash(layout, kind)?;
        if log == new {
            self.baseline.stash = log;
            self.advance(found);
            return Ok(());
        }
        if found != old || log != self.baseline.stash {
            let offered = tip.map(|oid| oid.to_string());
            self.report
                .conflict(STASH, shown(&old), shown(&found), offered);
            return Ok(());
        }
        if let Some(tip) = &tip {
            let text: String = new.iter().map(|entry| entry.line(kind)).collect();
            let done = Lock::take(&logs, "stash")
                .and_then(|log_lock| log_lock.commit(text.as_bytes()))
                .and_then(|()| lock.commit(format!("{tip}\n").as_bytes()));
            if let Err(source) = done {
                self.report
                    .drop(STASH.as_bytes(), DropReason::Refused(source.to_string()));
                return Ok(());
            }
        } else if let Some(RefValue::Id(old)) = &old {
            // git takes the same lock, and looks at the value again.
            drop(lock);
            let run = Run::new("update-ref").args(["--no-deref", "-d", STASH, old.as_str()]);
            let answer = self.git.run(run)?;
            if !answer.ok {
                self.report
                    .drop(STASH.as_bytes(), DropReason::Refused(answer.message));
                return Ok(());
            }
        }
        self.report.refs.push(RefChange {
            name: STASH.to_owned(),
            old: shown(&old),
            new: tip.as_ref().map(ToString::to_string),
        });
        self.baseline.stash = new.to_vec();
        self.advance(tip.map(RefValue::Id));
        Ok(())
    }

    fn advance(&mut self, value: Option<RefValue>) {
        match value {
            Some(value) => self.baseline.refs.insert(STASH.to_owned(), value),
            None => self.baseline.refs.remove(STASH),
        };
    }
}
