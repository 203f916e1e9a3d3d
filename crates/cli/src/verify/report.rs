//! The table: what was promised, beside what was found.

use palisade::runner::policy::{Guarantee, Level};
use serde::Serialize;

use super::attempts::{Came, Tried};
use super::subject::Subject;
use crate::complaint::Complaint;
use crate::say::{Tone, Voice};

/// The version of the JSON form. Fields are only added.
const VERSION: u32 = 1;

/// What was found out about one promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Found {
    /// Everything that was tried failed, and the sandbox says that it prevents it.
    Enforced,
    /// A breach is noticed afterwards.
    DetectedOnly,
    /// Something got through, or the sandbox says that nothing is in the way.
    NotEnforced,
    /// Nothing was tried, or nothing can be said about what was.
    NotTried,
}

impl Found {
    const fn word(self) -> &'static str {
        match self {
            Self::Enforced => "Enforced",
            Self::DetectedOnly => "DetectedOnly",
            Self::NotEnforced => "NotEnforced",
            Self::NotTried => "not tried",
        }
    }
}

/// One promise.
#[derive(Debug, Serialize)]
struct Row {
    guarantee: &'static str,
    /// What the sandbox says that it does.
    promised: Level,
    found: Found,
    /// How many attempts say something about it.
    tried: usize,
    /// How many of them were stopped.
    stopped: usize,
    escaped: Vec<Note>,
    /// What is known to get through in this tier.
    known: Vec<Note>,
    /// What could not be judged.
    unclear: Vec<Note>,
}

/// An attempt or a useful act, and what there is to say about it.
#[derive(Debug, Serialize)]
struct Note {
    name: &'static str,
    about: String,
    said: String,
}

impl Note {
    fn of(tried: &Tried) -> Self {
        let said = match tried.came {
            Came::Known(why) => why.to_owned(),
            _ => tried.said.clone(),
        };
        Self {
            name: tried.name,
            about: tried.about.clone(),
            said,
        }
    }
}

/// What was found out.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    v: u32,
    /// Whether everything that the policy promises was tried and holds, and every useful act works.
    kept: bool,
    guarantees: Vec<Row>,
    /// Useful acts that work.
    useful: usize,
    /// Useful acts that do not.
    broken: Vec<Note>,
}

impl Report {
    pub(super) fn new(subject: &Subject, tried: &[Tried]) -> Self {
        let promised = subject.promised.iter();
        let rows: Vec<Row> = promised
            .map(|guarantee| row(*guarantee, subject.enforcement.level(*guarantee), tried))
            .collect();
        let useful = tried.iter().filter(|tried| tried.guarantee.is_none());
        let broken: Vec<Note> = useful
            .clone()
            .filter(|tried| !matches!(tried.came, Came::Good | Came::Nothing))
            .map(Note::of)
            .collect();
        let useful = useful.filter(|tried| tried.came == Came::Good).count();
        Self {
            v: VERSION,
            kept: rows.iter().all(|row| row.found == Found::Enforced)
                && broken.is_empty()
                && useful > 0,
            guarantees: rows,
            useful,
            broken,
        }
    }

    pub(super) const fn is_kept(&self) -> bool {
        self.kept
    }

    pub(super) fn json(&self) -> Result<String, Complaint> {
        let text = serde_json::to_string_pretty(self).map_err(Complaint::failed)?;
        Ok(text + "\n")
    }

    pub(super) fn text(&self, voice: &Voice) -> String {
        let mut text = match self.kept {
            true => {
                let yes = voice.out_tone(Tone::Good, "yes");
                format!("{yes}: everything that this policy promises holds on this machine\n")
            }
            false => {
                let no = voice.out_tone(Tone::Bad, "no");
                format!("{no}: not everything that this policy promises holds on this machine\n")
            }
        };
        text.push_str(&format!(
            "  {:<18} {:<13} {:<13} {}\n",
            "promise", "promised", "found", "attempts stopped"
        ));
        for row in &self.guarantees {
            text.push_str(&row.text(voice));
        }
        let acts = self.useful.saturating_add(self.broken.len());
        text.push_str(&format!("  {} of {acts} useful acts work\n", self.useful));
        for note in &self.broken {
            text.push_str(&format!(
                "      {} ({}): {}\n",
                note.name, note.about, note.said
            ));
        }
        if !voice.quiet {
            text.push_str(match self.kept {
                true => "limits on resources are not tried; docs/probes.md says what each attempt does\n",
                false => "next: palisade doctor\n",
            });
        }
        text
    }
}

impl Row {
    fn text(&self, voice: &Voice) -> String {
        let tone = match self.found {
            Found::Enforced => Tone::Good,
            Found::DetectedOnly | Found::NotTried => Tone::Careful,
            Found::NotEnforced => Tone::Bad,
        };
        let promised = match self.promised {
            Level::Enforced => "Enforced",
            Level::DetectedOnly => "DetectedOnly",
            Level::NotEnforced => "NotEnforced",
        };
        let found = voice.out_tone(tone, &format!("{:<13}", self.found.word()));
        let mut text = format!(
            "  {:<18} {promised:<13} {found} {} of {}\n",
            self.guarantee, self.stopped, self.tried
        );
        let kinds = [
            ("escaped", &self.escaped),
            ("known", &self.known),
            ("unclear", &self.unclear),
        ];
        for (kind, notes) in kinds {
            for note in notes {
                text.push_str(&format!(
                    "      {kind}: {} ({}): {}\n",
                    note.name, note.about, note.said
                ));
            }
        }
        text
    }
}

/// What was found out about a promise.
fn row(guarantee: Guarantee, promised: Level, tried: &[Tried]) -> Row {
    let mine = tried
        .iter()
        .filter(|tried| tried.guarantee == Some(guarantee));
    let notes = |which: fn(&Came) -> bool| -> Vec<Note> {
        let those = mine.clone().filter(|tried| which(&tried.came));
        those.map(Note::of).collect()
    };
    let stopped = mine
        .clone()
        .filter(|tried| tried.came == Came::Good)
        .count();
    let escaped = notes(|came| *came == Came::Escaped);
    let known = notes(|came| matches!(came, Came::Known(_)));
    let unclear = notes(|came| *came == Came::Broken);
    let found = match promised {
        _ if !escaped.is_empty() => Found::NotEnforced,
        Level::NotEnforced => Found::NotEnforced,
        // Nothing that held was seen: that is no success.
        _ if stopped == 0 || !unclear.is_empty() => Found::NotTried,
        Level::DetectedOnly => Found::DetectedOnly,
        Level::Enforced => Found::Enforced,
    };
    Row {
        guarantee: guarantee.name(),
        promised,
        found,
        tried: stopped
            .saturating_add(escaped.len())
            .saturating_add(known.len())
            .saturating_add(unclear.len()),
        stopped,
        escaped,
        known,
        unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(name: &str, came: Came) -> Tried {
        let probe = palisade_probes::find(name).unwrap();
        Tried {
            name: probe.name,
            about: probe.about.to_owned(),
            guarantee: super::super::guarantees::of(probe),
            came,
            said: "said".to_owned(),
        }
    }

    fn found(promised: Level, came: &[Came]) -> Found {
        let tried: Vec<Tried> = came.iter().map(|came| tried("fs-create", *came)).collect();
        row(Guarantee::WritesOutside, promised, &tried).found
    }

    #[test]
    fn what_was_seen_counts_more_than_what_was_promised() {
        assert_eq!(found(Level::Enforced, &[Came::Good]), Found::Enforced);
        assert_eq!(
            found(Level::Enforced, &[Came::Good, Came::Escaped]),
            Found::NotEnforced
        );
        assert_eq!(found(Level::NotEnforced, &[Came::Good]), Found::NotEnforced);
        assert_eq!(
            found(Level::DetectedOnly, &[Came::Good]),
            Found::DetectedOnly
        );
    }

    #[test]
    fn what_was_not_tried_is_no_success() {
        for came in [
            &[][..],
            &[Came::Nothing],
            &[Came::Known("x")],
            &[Came::Good, Came::Broken],
        ] {
            assert_eq!(found(Level::Enforced, came), Found::NotTried, "{came:?}");
        }
        let other = [tried("net-dns-udp", Came::Good)];
        assert_eq!(
            row(Guarantee::WritesOutside, Level::Enforced, &other).found,
            Found::NotTried
        );
    }
}
