//! The forbid side: collects every command that text or arguments mention.
//!
//! The walk keeps going where the allow side gave up. It never recurses deeper than the cap: past it, text is read by
//! the flat scan, which finds the same commands with less context.

use std::collections::BTreeMap;

use crate::limits::Meter;
use crate::mentions::{Construct, Mention, MentionWord, Mentions};
use crate::parse::is_identifier;
use crate::plain::{Plain, PlainCommand, RedirectKind, RedirectTarget, UnwrapKind, UnwrapStep};
use crate::shell::Shell;
use crate::text_scan;
use crate::word::Word;

/// Literal values that variables were given earlier in the text.
pub(crate) type Variables = BTreeMap<Vec<u8>, Vec<u8>>;

pub(crate) struct Walker<'m> {
    pub(crate) meter: &'m mut Meter,
    pub(crate) mentions: Mentions,
    pub(crate) variables: Variables,
    /// The constructs around the current command.
    path: Vec<Construct>,
    depth: usize,
}

impl<'m> Walker<'m> {
    pub(crate) fn new(meter: &'m mut Meter) -> Self {
        Self {
            meter,
            mentions: Mentions::default(),
            variables: Variables::new(),
            path: Vec::new(),
            depth: 0,
        }
    }

    /// Runs `inner` with one more construct around it.
    pub(crate) fn within(&mut self, construct: Construct, inner: impl FnOnce(&mut Self)) {
        self.path.push(construct);
        self.depth = self.depth.saturating_add(1);
        inner(self);
        self.depth = self.depth.saturating_sub(1);
        self.path.pop();
    }

    pub(crate) fn is_too_deep(&self) -> bool {
        self.depth > self.meter.limits().max_depth
    }

    pub(crate) fn is_guessing(&self) -> bool {
        self.path.contains(&Construct::Guess)
    }

    /// Reads shell text: with the full parser if there is one and the text is fit for it, loosely otherwise.
    pub(crate) fn script(&mut self, text: &[u8], shell: Shell) {
        if self.is_too_deep() {
            // Whoever called has the text in a mention already; deeper strings are beyond the cap.
            self.mentions.truncated = true;
            return;
        }
        if !self.meter.take(text.len()) {
            self.mentions.truncated = true;
            return;
        }
        #[cfg(feature = "bash-parser")]
        if shell.is_posix_like() && crate::bash_walk::walk(self, text) {
            return;
        }
        self.scan(text, shell);
    }

    /// Reads shell text loosely.
    pub(crate) fn scan(&mut self, text: &[u8], shell: Shell) {
        let mut found = Vec::new();
        text_scan::scan(text, shell, &mut |mention| found.push(mention));
        self.within(Construct::TextScan, |walker| {
            for mention in found {
                walker.command(mention);
            }
        });
    }

    /// Records a command and looks for others in its words.
    pub(crate) fn command(&mut self, mut mention: Mention) {
        let weight = mention
            .words
            .len()
            .saturating_add(mention.assignments.len())
            .saturating_add(self.path.len())
            .saturating_add(1);
        if !self.meter.take(weight) {
            self.mentions.truncated = true;
            return;
        }
        mention.found.clone_from(&self.path);
        // Its place is taken first, so that a command stands before those inside it.
        let place = self.mentions.commands.len();
        self.mentions.commands.push(Mention::default());
        if self.is_too_deep() {
            self.mentions.truncated = true;
        } else {
            self.assign(&mention.assignments, mention.words.is_empty());
            self.follow(&mention.words);
        }
        if let Some(slot) = self.mentions.commands.get_mut(place) {
            *slot = mention;
        }
    }

    /// Remembers literal values, and reads those that programs run.
    fn assign(&mut self, assignments: &[(Vec<u8>, MentionWord)], lasting: bool) {
        for (name, value) in assignments {
            let Some(value) = value.known() else {
                self.variables.remove(name);
                continue;
            };
            if crate::follow::is_run_by_programs(name) {
                let value = value.to_vec();
                self.within(Construct::Variable, |walker| {
                    walker.script(&value, Shell::Bash);
                });
            }
            if lasting {
                self.variables.insert(name.clone(), value.to_vec());
            }
        }
    }

    /// Walks commands the allow side read exactly.
    pub(crate) fn plain(&mut self, plain: &Plain) {
        let mut before: &[UnwrapStep] = &[];
        for command in &plain.commands {
            self.plain_command(command);
            // The commands of one inline script have the same layers around them.
            if command.via != before {
                self.layers(command);
            }
            before = match command.via.last() {
                Some(step) if step.kind == UnwrapKind::Shell => &command.via,
                _ => &[],
            };
        }
        let feeds_shell = plain.commands.iter().any(|command| {
            crate::follow::reads_script(command.words.iter().filter_map(Word::literal))
        });
        if feeds_shell {
            let members: Vec<Vec<MentionWord>> = plain
                .commands
                .iter()
                .map(|command| command.words.iter().map(mention_word).collect())
                .collect();
            let bodies: Vec<&[u8]> = plain.commands.iter().flat_map(bodies).collect();
            self.fed_to_shell(&members, &bodies);
        }
    }

    fn plain_command(&mut self, command: &PlainCommand) {
        for word in &command.words {
            if let Word::ProcessSubstitution(inner) = word {
                self.within(Construct::ProcessSubstitution, |walker| walker.plain(inner));
            }
        }
        let redirects = command
            .redirects
            .iter()
            .filter_map(|redirect| match &redirect.target {
                RedirectTarget::Path(path) => {
                    Some((redirect.kind, MentionWord::Known(path.clone())))
                }
                RedirectTarget::NullSink | RedirectTarget::Fd(_) | RedirectTarget::Body(_) => None,
            })
            .collect();
        let assignments = command
            .assignments
            .iter()
            .map(|assignment| {
                let value = MentionWord::Known(assignment.value.clone());
                (assignment.name.clone(), value)
            })
            .collect();
        let mention = Mention {
            words: command.words.iter().map(mention_word).collect(),
            assignments,
            redirects,
            found: Vec::new(),
        };
        match command.via.last().map(|step| step.kind) {
            None => self.command(mention),
            Some(UnwrapKind::Shell) => {
                self.within(Construct::InlineScript, |walker| walker.command(mention));
            }
            Some(_) => self.within(Construct::Wrapper, |walker| walker.command(mention)),
        }
    }

    /// The wrappers around a command are mentions too: a rule may forbid `sudo` itself.
    fn layers(&mut self, command: &PlainCommand) {
        let mut words: Vec<MentionWord> = command.words.iter().map(mention_word).collect();
        for step in command.via.iter().rev() {
            if step.kind == UnwrapKind::Shell {
                words = vec![MentionWord::Unknown];
            }
            let outer = step.words.iter().cloned().map(MentionWord::Known);
            words.splice(0..0, outer);
            if self.meter.take(words.len()) {
                self.mentions.commands.push(Mention {
                    words: words.clone(),
                    found: self.path.clone(),
                    ..Mention::default()
                });
            } else {
                self.mentions.truncated = true;
            }
        }
    }

    /// Reads the words and here-documents of commands whose output a shell may read as a script.
    pub(crate) fn fed_to_shell(&mut self, members: &[Vec<MentionWord>], bodies: &[&[u8]]) {
        for body in bodies {
            self.within(Construct::HereDocument, |walker| {
                walker.script(body, Shell::Bash);
            });
        }
        for words in members {
            let operands: Vec<&[u8]> = words
                .iter()
                .skip(1)
                .filter_map(MentionWord::known)
                .collect();
            if operands.is_empty() {
                continue;
            }
            let joined = operands.join(&b' ');
            self.within(Construct::PipedIntoShell, |walker| {
                walker.script(&joined, Shell::Bash);
            });
        }
    }
}

fn bodies(command: &PlainCommand) -> impl Iterator<Item = &[u8]> {
    command
        .redirects
        .iter()
        .filter(|redirect| redirect.kind == RedirectKind::HereDocument)
        .filter_map(|redirect| match &redirect.target {
            RedirectTarget::Body(body) => Some(body.as_slice()),
            _ => None,
        })
}

fn mention_word(word: &Word) -> MentionWord {
    match word {
        Word::Literal(bytes) => MentionWord::Known(bytes.clone()),
        Word::Pattern(pattern) => MentionWord::Pattern(pattern.text().to_vec()),
        Word::ProcessSubstitution(_) => MentionWord::Unknown,
    }
}

/// Splits `NAME=value`.
pub(crate) fn split_assignment(word: &[u8]) -> Option<(&[u8], &[u8])> {
    let equals = word.iter().position(|&b| b == b'=')?;
    let (name, value) = word.split_at_checked(equals)?;
    is_identifier(name).then(|| (name, value.get(1..).unwrap_or_default()))
}
