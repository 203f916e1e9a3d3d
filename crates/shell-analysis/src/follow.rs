//! Commands inside the words of another command: wrappers, inline scripts, strings that are run.

use crate::mentions::{Construct, Mention, MentionWord};
use crate::names::folded_base;
use crate::options::{self, Known, Shape};
use crate::shell::Shell;
use crate::walk::Walker;
use crate::wrappers::{self, Inner, Wrapper};

/// How many starting points are tried behind a wrapper whose options are not known.
const MAX_GUESSES: usize = 24;

/// Shells that are not read, but whose `-c` text is scanned.
const OTHER_SHELLS: &[&[u8]] = &[b"csh", b"elvish", b"fish", b"nu", b"tcsh", b"xonsh"];

/// Variables whose value some program runs.
const RUN_VARIABLES: &[&[u8]] = &[
    b"BROWSER",
    b"EDITOR",
    b"GIT_EDITOR",
    b"GIT_EXTERNAL_DIFF",
    b"GIT_PAGER",
    b"GIT_SEQUENCE_EDITOR",
    b"GIT_SSH",
    b"GIT_SSH_COMMAND",
    b"LESSOPEN",
    b"MANPAGER",
    b"PAGER",
    b"PROMPT_COMMAND",
    b"RUSTC_WRAPPER",
    b"VISUAL",
];

pub(crate) fn is_run_by_programs(name: &[u8]) -> bool {
    RUN_VARIABLES.contains(&name)
}

/// Whether a command among these words may be a shell that takes its script from its input.
pub(crate) fn reads_script<'w>(mut words: impl Iterator<Item = &'w [u8]>) -> bool {
    words.any(|word| {
        // Nearly every word is decided by its last letter: `bash`, `pwsh.exe`, `cmd`, `nu`, `xonsh`, `elvish`.
        if !matches!(
            word.last().map(u8::to_ascii_lowercase),
            Some(b'h' | b'e' | b'd' | b'u' | b'l' | b'3')
        ) {
            return false;
        }
        let base = folded_base(word);
        Shell::from_program(&base).is_some() || OTHER_SHELLS.contains(&&*base)
    })
}

impl Walker<'_> {
    /// Looks for commands inside the words of one command.
    pub(crate) fn follow(&mut self, words: &[MentionWord]) {
        let Some(program) = words.first().and_then(MentionWord::known) else {
            return;
        };
        // `=ls` is `ls` in zsh.
        if let Some(name) = program.strip_prefix(b"=").filter(|name| !name.is_empty()) {
            let mut resolved = vec![MentionWord::Known(name.to_vec())];
            resolved.extend(words.iter().skip(1).cloned());
            return self.within(Construct::Substitution, |walker| walker.words(&resolved));
        }
        let base = folded_base(program);
        match Shell::from_program(&base) {
            Some(shell) if shell.is_posix_like() => return self.inline_script(words, shell),
            Some(shell) => return self.foreign_script(words, shell),
            None => {}
        }
        match &*base {
            b"eval" => self.joined(words.iter().skip(1), Construct::Evaluated),
            b"trap" => self.each(words.iter().skip(1).take(2), Construct::Evaluated),
            b"alias" => self.alias(words),
            b"find" | b"gfind" | b"fd" | b"fdfind" => self.find_actions(words),
            b"git" => self.git(words),
            base if OTHER_SHELLS.contains(&base) => self.inline_script(words, Shell::Bash),
            base => {
                if let Some(row) = wrappers::find(base) {
                    self.wrapper(row, words);
                }
            }
        }
    }

    fn words(&mut self, words: &[MentionWord]) {
        self.command(Mention {
            words: words.to_vec(),
            ..Mention::default()
        });
    }

    fn each<'w>(&mut self, words: impl Iterator<Item = &'w MentionWord>, construct: Construct) {
        for word in words.filter_map(MentionWord::known) {
            self.within(construct, |walker| walker.script(word, Shell::Bash));
        }
    }

    fn joined<'w>(&mut self, words: impl Iterator<Item = &'w MentionWord>, construct: Construct) {
        let text: Vec<&[u8]> = words
            .map(|word| match word {
                MentionWord::Known(bytes) | MentionWord::Pattern(bytes) => bytes.as_slice(),
                MentionWord::Unknown => b"$_",
            })
            .collect();
        if !text.is_empty() {
            let text = text.join(&b' ');
            self.within(construct, |walker| walker.script(&text, Shell::Bash));
        }
    }

    /// `sh -c text`: generous about where `-c` stands and which options surround it.
    fn inline_script(&mut self, words: &[MentionWord], shell: Shell) {
        let has_c = |word: &[u8]| {
            word.first() == Some(&b'-') && !word.starts_with(b"--") && word.contains(&b'c')
        };
        let Some(flag) = words
            .iter()
            .skip(1)
            .position(|word| word.known().is_some_and(has_c))
        else {
            return;
        };
        for word in words.iter().skip(flag.saturating_add(2)) {
            let Some(text) = word.known() else { continue };
            self.within(Construct::InlineScript, |walker| walker.script(text, shell));
            if !matches!(text.first(), Some(b'-' | b'+')) {
                break;
            }
        }
    }

    fn foreign_script(&mut self, words: &[MentionWord], shell: Shell) {
        let text: Vec<&[u8]> = words
            .iter()
            .skip(1)
            .filter_map(MentionWord::known)
            .skip_while(|word| matches!(word.first(), Some(b'-' | b'/')))
            .collect();
        let text = text.join(&b' ');
        self.within(Construct::InlineScript, |walker| {
            walker.script(&text, shell)
        });
    }

    fn alias(&mut self, words: &[MentionWord]) {
        for word in words.iter().skip(1).filter_map(MentionWord::known) {
            if let Some(equals) = word.iter().position(|&b| b == b'=') {
                let value = word.get(equals.saturating_add(1)..).unwrap_or_default();
                self.within(Construct::Evaluated, |walker| {
                    walker.script(value, Shell::Bash);
                });
            }
        }
    }

    fn find_actions(&mut self, words: &[MentionWord]) {
        const ACTIONS: &[&[u8]] = &[
            b"-exec",
            b"-execdir",
            b"-ok",
            b"-okdir",
            b"-x",
            b"-X",
            b"--exec",
            b"--exec-batch",
        ];
        let mut rest = words;
        while let Some(start) = rest
            .iter()
            .position(|word| word.known().is_some_and(|word| ACTIONS.contains(&word)))
        {
            let inner = rest.get(start.saturating_add(1)..).unwrap_or_default();
            let length = inner
                .iter()
                .position(|word| matches!(word.known(), Some(b";" | b"+")))
                .unwrap_or(inner.len());
            let inner_words: Vec<MentionWord> = inner
                .iter()
                .take(length)
                .map(|word| match word.known() {
                    Some(b"{}") => MentionWord::Unknown,
                    _ => word.clone(),
                })
                .collect();
            self.within(Construct::FindAction, |walker| walker.words(&inner_words));
            rest = inner.get(length..).unwrap_or_default();
        }
    }

    /// git runs configured aliases and helpers, and has subcommands that run commands.
    fn git(&mut self, words: &[MentionWord]) {
        for (index, word) in words.iter().enumerate().skip(1) {
            let next = words.get(index.saturating_add(1)..).unwrap_or_default();
            match word.known() {
                Some(b"-c") => {
                    let Some(setting) = next.first().and_then(MentionWord::known) else {
                        continue;
                    };
                    let Some(equals) = setting.iter().position(|&b| b == b'=') else {
                        continue;
                    };
                    let value = setting.get(equals.saturating_add(1)..).unwrap_or_default();
                    let value = value.strip_prefix(b"!").unwrap_or(value);
                    self.within(Construct::Evaluated, |walker| {
                        walker.script(value, Shell::Sh);
                    });
                }
                Some(b"-x" | b"--exec") => self.each(next.iter().take(1), Construct::Evaluated),
                Some(b"foreach") => return self.joined(next.iter(), Construct::Evaluated),
                Some(b"run") => {
                    return self.within(Construct::Wrapper, |walker| walker.words(next));
                }
                _ => {}
            }
        }
    }

    fn wrapper(&mut self, row: &'static Wrapper, words: &[MentionWord]) {
        if row.is_named("env") && self.split_string(words) {
            return;
        }
        if row.is_named("parallel") && self.inline_operands(words) {
            return;
        }
        let known: Vec<Known<'_>> = words.iter().map(MentionWord::known).collect();
        match options::read(row, &known) {
            Shape::Command { at, .. } => {
                let inner = words.get(at..).unwrap_or_default();
                if row.inner == Inner::Joined {
                    self.joined(inner.iter(), Construct::InlineScript);
                } else {
                    self.within(Construct::Wrapper, |walker| walker.words(inner));
                }
            }
            Shape::Script { script, .. } => {
                self.within(Construct::InlineScript, |walker| {
                    walker.script(&script, Shell::Sh);
                });
            }
            Shape::Alone => {}
            Shape::Unknown(_) => self.guess(words),
        }
    }

    /// Any word that is not an option may be the inner program.
    fn guess(&mut self, words: &[MentionWord]) {
        // Guessing inside a guess would try the same starting points again.
        if self.is_guessing() {
            return;
        }
        self.within(Construct::Guess, |walker| {
            for start in 1..words.len().min(MAX_GUESSES) {
                let inner = words.get(start..).unwrap_or_default();
                let is_program = inner
                    .first()
                    .and_then(MentionWord::known)
                    .is_some_and(|word| !matches!(word.first(), None | Some(b'-')));
                if is_program {
                    walker.words(inner);
                }
            }
        });
    }

    fn split_string(&mut self, words: &[MentionWord]) -> bool {
        for (index, word) in words.iter().enumerate().skip(1) {
            let Some(word) = word.known() else { continue };
            let rest = words.get(index.saturating_add(1)..).unwrap_or_default();
            let glued = word
                .strip_prefix(b"--split-string=")
                .or_else(|| word.strip_prefix(b"-S").filter(|text| !text.is_empty()));
            let text = match glued {
                Some(text) => vec![text],
                None if word == b"-S" || word == b"--split-string" => Vec::new(),
                None => continue,
            };
            let text: Vec<&[u8]> = text
                .into_iter()
                .chain(rest.iter().filter_map(MentionWord::known))
                .collect();
            let text = text.join(&b' ');
            self.within(Construct::InlineScript, |walker| {
                walker.script(&text, Shell::Bash);
            });
            return true;
        }
        false
    }

    /// `parallel rm -rf ::: / x` runs one command per operand.
    fn inline_operands(&mut self, words: &[MentionWord]) -> bool {
        let Some(marker) = words
            .iter()
            .position(|word| word.known().is_some_and(|word| word.starts_with(b":::")))
        else {
            return false;
        };
        let base = words.get(1..marker).unwrap_or_default();
        for operand in words
            .iter()
            .skip(marker.saturating_add(1))
            .take(MAX_GUESSES)
        {
            let mut inner = base.to_vec();
            inner.push(operand.clone());
            // Options of `parallel` itself come first; the guess skips them.
            let start = inner
                .iter()
                .position(|word| word.known().is_some_and(|word| word.first() != Some(&b'-')))
                .unwrap_or(0);
            let inner = inner.split_off(start);
            self.within(Construct::Wrapper, |walker| walker.words(&inner));
        }
        true
    }
}
