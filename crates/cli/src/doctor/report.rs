//! The report: everything that was looked at, with what is missing first.

use palisade::runner::policy::Level;
use serde::Serialize;

use super::finding::{Finding, State};
use super::promised::{Limit, Promise, limits, promises};
use super::trial::Trial;
use crate::complaint::Complaint;
use crate::say::{Tone, Voice};

/// The version of the JSON form. Fields are only added.
const VERSION: u32 = 1;

/// Everything that was looked at.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    v: u32,
    /// Whether the default policy is fully enforced here.
    full: bool,
    /// Why no sandbox could be set up at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
    /// What the default policy promises.
    guarantees: Vec<Promise>,
    limits: Vec<Limit>,
    findings: Vec<Finding>,
    notes: Vec<String>,
}

impl Report {
    pub(super) fn new(trial: Trial, findings: Vec<Finding>) -> Self {
        let enforcement = trial.result.as_ref().ok();
        Self {
            v: VERSION,
            full: trial.lost().is_empty(),
            guarantees: promises(&trial.promised, enforcement),
            limits: limits(enforcement),
            findings,
            notes: enforcement.map_or_else(Vec::new, |known| known.notes().to_vec()),
            refusal: trial.result.err(),
        }
    }

    pub(super) const fn is_full(&self) -> bool {
        self.full
    }

    pub(super) fn json(&self) -> Result<String, Complaint> {
        let text = serde_json::to_string_pretty(self).map_err(Complaint::failed)?;
        Ok(text + "\n")
    }

    pub(super) fn text(&self, voice: &Voice) -> String {
        let mut text = match (self.full, &self.refusal) {
            (true, _) => {
                let yes = voice.out_tone(Tone::Good, "yes");
                format!("{yes}: this machine fully enforces the default policy\n")
            }
            (false, None) => {
                let no = voice.out_tone(Tone::Bad, "no");
                format!("{no}: this machine does not enforce all of the default policy\n")
            }
            (false, Some(why)) => {
                let no = voice.out_tone(Tone::Bad, "no");
                let first = why.lines().next().unwrap_or_default();
                format!("{no}: no sandbox can be set up on this machine: {first}\n")
            }
        };
        for finding in &self.findings {
            text.push_str(&line(finding, voice));
        }
        for promise in &self.guarantees {
            if promise.level < Level::Enforced {
                text.push_str(&self.missing(promise, voice));
            }
        }
        for note in &self.notes {
            text.push_str(&format!("  note  {note}\n"));
        }
        if !voice.quiet {
            text.push_str(match self.full {
                true => "next: palisade verify\n",
                false => "next: mend what is marked `gap`, then palisade doctor\n",
            });
        }
        text
    }

    fn missing(&self, promise: &Promise, voice: &Voice) -> String {
        let level = match promise.level {
            Level::DetectedOnly => "detected only",
            _ => "not enforced",
        };
        let lost = voice.out_tone(Tone::Bad, "lost");
        let mut text = format!("  {lost}  {:<12} {level}", promise.name);
        if let Some(why) = promise.why.as_ref().or(self.refusal.as_ref()) {
            text.push_str(&format!(": {}", why.lines().next().unwrap_or_default()));
        }
        text.push('\n');
        let cure = promise.cure.iter().map(|cure| ("remedy", cure.clone()));
        let accept = format!("palisade run --accept-loss {} -- CMD", promise.name);
        for (name, said) in cure.chain([("without", accept)]) {
            text.push_str(&format!("          {name:<8} {said}\n"));
        }
        text
    }
}

fn line(finding: &Finding, voice: &Voice) -> String {
    let state = match finding.state {
        State::Fine => voice.out_tone(Tone::Good, "ok  "),
        State::Gap => voice.out_tone(Tone::Careful, "gap "),
    };
    let mut text = format!("  {state}  {:<12} {}\n", finding.name, finding.says);
    let more = [("cost", &finding.cost), ("remedy", &finding.remedy)];
    for (name, said) in more {
        if let Some(said) = said {
            text.push_str(&format!("          {name:<8} {said}\n"));
        }
    }
    text
}
