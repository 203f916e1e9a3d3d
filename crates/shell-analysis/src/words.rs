//! Walks the scripts inside raw words.

use crate::expand::{self, Inside};
use crate::mentions::{Construct, MentionWord};
use crate::shell::Shell;
use crate::walk::Walker;

impl Walker<'_> {
    /// Expands a raw word and walks the scripts inside it.
    pub(crate) fn word(&mut self, raw: &[u8]) -> Vec<MentionWord> {
        if !self.meter.take(raw.len()) {
            self.mentions.truncated = true;
            return vec![MentionWord::Unknown];
        }
        let mut inside = Vec::new();
        let fields = expand::fields(raw, &self.variables, &mut inside);
        self.inside(raw, inside);
        fields
    }

    /// Walks the substitutions of text that stands as if in double quotes.
    pub(crate) fn quoted_text(&mut self, raw: &[u8]) {
        if !self.meter.take(raw.len()) {
            self.mentions.truncated = true;
            return;
        }
        let mut inside = Vec::new();
        expand::quoted_text(raw, &self.variables, &mut inside);
        self.inside(raw, inside);
    }

    fn inside(&mut self, raw: &[u8], inside: Vec<Inside>) {
        if inside.is_empty() {
            return;
        }
        if self.is_too_deep() || inside.iter().any(|part| matches!(part, Inside::Ragged)) {
            return self.within(Construct::Substitution, |walker| {
                walker.scan(raw, Shell::Bash);
            });
        }
        for part in inside {
            match part {
                Inside::Script(construct, text) => {
                    self.within(construct, |walker| walker.script(&text, Shell::Bash));
                }
                Inside::Word(text) => self.within(Construct::Substitution, |walker| {
                    walker.quoted_text(&text);
                }),
                Inside::Ragged => {}
            }
        }
    }
}
