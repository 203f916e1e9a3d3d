//! The two entry points, and the answer of both sides together.

use std::ffi::{OsStr, OsString};

use crate::limits::{Limits, Meter};
use crate::mentions::{Mention, MentionWord, Mentions};
use crate::opaque::{Opaque, OpaqueReason};
use crate::plain::Plain;
use crate::script;
use crate::shell::Shell;
use crate::walk::Walker;
use crate::word::Word;

/// What both sides found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Analysis {
    /// The allow side: every command exactly, or why not.
    pub plain: Result<Plain, Opaque>,
    /// The forbid side: every command mentioned anywhere.
    pub mentions: Mentions,
    steps: u64,
}

impl Analysis {
    /// How much work the analysis took, in steps of about one byte or word.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    fn conclude(plain: Result<Plain, Opaque>, mentions: Mentions, steps: u64) -> Self {
        // A forbid that might have been missed must not leave an allow standing.
        let plain = if mentions.truncated && plain.is_ok() {
            Err(Opaque::new(
                OpaqueReason::Limit,
                None,
                "not every mention was read",
            ))
        } else {
            plain
        };
        Self {
            plain,
            mentions,
            steps,
        }
    }
}

/// Analyses a script as `shell` would read it.
///
/// Any bytes are accepted; what is not printable ASCII is opaque.
#[must_use]
pub fn analyze_script(text: impl AsRef<[u8]>, shell: Shell, limits: &Limits) -> Analysis {
    let text = text.as_ref();
    let mut meter = Meter::new(limits);
    let plain = script::read(text, shell, &mut meter);
    let spent = meter.steps();
    // Each side has the whole budget, so that neither can starve the other.
    let mut meter = Meter::new(limits);
    let mut walker = Walker::new(&mut meter);
    match &plain {
        Ok(plain) => walker.plain(plain),
        Err(_) if text.len() > limits.max_bytes => {
            let cut = text.get(..limits.max_bytes).unwrap_or(text);
            walker.scan(cut, shell);
            walker.mentions.truncated = true;
        }
        Err(_) => walker.script(text, shell),
    }
    let mentions = walker.mentions;
    Analysis::conclude(plain, mentions, spent.saturating_add(meter.steps()))
}

/// Analyses an argument list that is executed without a shell in between.
///
/// `["git", "status"]` is one command; `["bash", "-lc", "..."]` is the commands of its script.
#[must_use]
pub fn analyze_argv<S: AsRef<OsStr>>(argv: &[S], limits: &Limits) -> Analysis {
    let mut meter = Meter::new(limits);
    let bytes: Vec<&[u8]> = argv
        .iter()
        .map(|word| word.as_ref().as_encoded_bytes())
        .collect();
    let total = bytes.iter().fold(0usize, |sum, word| {
        sum.saturating_add(word.len()).saturating_add(1)
    });
    let plain = if bytes.first().is_none_or(|program| program.is_empty()) {
        Err(Opaque::new(OpaqueReason::Program, None, "empty"))
    } else if total > limits.max_bytes || !meter.take(total) {
        Err(Opaque::new(
            OpaqueReason::Limit,
            None,
            format!("{total} bytes of arguments"),
        ))
    } else if bytes.iter().any(|word| word.contains(&0)) {
        Err(Opaque::new(
            OpaqueReason::HiddenCharacter,
            None,
            "U+0000 NULL in an argument, which no system can pass on",
        ))
    } else {
        let words = bytes.iter().map(|word| Word::Literal(word.to_vec()));
        script::read_argv(words.collect(), &mut meter)
    };
    let spent = meter.steps();
    let mut meter = Meter::new(limits);
    let mut walker = Walker::new(&mut meter);
    match &plain {
        Ok(plain) => walker.plain(plain),
        Err(_) => {
            let mut room = limits.max_bytes;
            let words: Vec<MentionWord> = bytes
                .iter()
                .map_while(|word| {
                    room = room.checked_sub(word.len().saturating_add(1))?;
                    Some(MentionWord::Known(word.to_vec()))
                })
                .collect();
            walker.mentions.truncated |= words.len() < bytes.len();
            walker.command(Mention {
                words,
                ..Mention::default()
            });
        }
    }
    let mentions = walker.mentions;
    Analysis::conclude(plain, mentions, spent.saturating_add(meter.steps()))
}

const _: fn(&[OsString], &Limits) -> Analysis = analyze_argv::<OsString>;
