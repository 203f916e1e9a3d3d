//! The person at the terminal.
//!
//! Asked are only those who sit at it: standard input and standard error both are the controlling terminal, and this
//! program is in its foreground. A program that holds the terminal for itself, such as an agent with a screen of its own,
//! starts commands with pipes; a question on its screen, answered by keys that it reads as well, would be nobody's answer.

mod keys;
mod raw;
mod sys;

use std::fs::File;
use std::io::Write as _;
use std::sync::Mutex;

use palisade::runner::approve::{BoxFuture, Prompt, Prompter};
use palisade::runner::exec_policy::{GrantScope, ReviewDecision};

use self::keys::{Gone, Keys, Typed};
use super::choice::{Choice, always, choices, roomy, smaller};
use super::wrap::{beside, wrap};
use super::{Place, question};
use crate::say::{Tone, Voice};

/// The margin of text that a command's author chose.
const MARGIN: &str = "| ";

/// What stands where a key is waited for.
const READY: &str = " ? ";

/// Undoes what a command that ran before may have left behind to hide the question: a sequence that it never ended and that
/// would swallow every letter (CAN, ST), another character set, hidden letters, margins, held-back output, no cursor.
const UNDO: &str = "\x18\x1b\\\x0f\x1b(B\x1b[m\x1b[!p\x1b[?69l\x1b[?2026l\x1b[?7h\x1b[?25h";

/// Somebody at the terminal.
#[derive(Debug)]
pub(super) struct Person {
    place: Place,
    voice: Voice,
    /// One question at a time.
    asking: Mutex<()>,
}

impl Person {
    /// Whoever sits there.
    ///
    /// # Errors
    /// Why nobody does.
    pub(super) fn at_the_terminal(place: Place, voice: Voice) -> Result<Self, &'static str> {
        let own = rustix::process::getpgrp();
        let foreground = |fd| rustix::termios::tcgetpgrp(fd).ok();
        let (stdin, stderr) = (rustix::stdio::stdin(), rustix::stdio::stderr());
        // Only the controlling terminal tells its foreground.
        match (foreground(stdin), foreground(stderr)) {
            (Some(first), Some(second)) if first == own && second == own => Ok(Self {
                place,
                voice,
                asking: Mutex::new(()),
            }),
            (Some(_), Some(_)) => Err("this runs in the background of its terminal"),
            (None, _) => Err("standard input is not a terminal"),
            (_, None) => Err("standard error is not a terminal"),
        }
    }

    fn answer(&self, prompt: &Prompt) -> ReviewDecision {
        let _one = self.asking.lock();
        let Ok(screen) = File::options().read(true).write(true).open("/dev/tty") else {
            return ReviewDecision::Denied;
        };
        match self.converse(prompt, &screen) {
            Ok(answer) => answer,
            Err(Gone::Interrupted) => ReviewDecision::Abort,
            Err(Gone::Closed) => ReviewDecision::Denied,
        }
    }

    fn converse(&self, prompt: &Prompt, screen: &File) -> Result<ReviewDecision, Gone> {
        let mut asking = Asking {
            keys: Keys::take(screen)?,
            screen,
            person: self,
            prompt,
        };
        let can_keep = question::kept(prompt, &self.place).is_some();
        let choices = choices(prompt, can_keep);
        asking.show_question()?;
        loop {
            asking.keys.settle()?;
            asking.show_choices(&choices)?;
            let choice = loop {
                let key = asking.keys.next()?;
                let chosen = choices
                    .iter()
                    .find(|choice| key == Typed::Key(choice.key()));
                if let Some(choice) = chosen {
                    break *choice;
                }
            };
            asking.show(&format!("{}\n", choice.key()))?;
            if let Some(answer) = asking.carry_out(choice)? {
                return Ok(answer);
            }
        }
    }
}

impl Prompter for Person {
    fn ask<'a>(&'a self, prompt: &'a Prompt) -> BoxFuture<'a, ReviewDecision> {
        // Where there is no runtime, whoever asks waits here.
        Box::pin(async move { self.answer(prompt) })
    }

    /// What is typed then is for the command, and what is on the screen may be its own.
    fn answers_while_running(&self) -> bool {
        false
    }
}

/// A question that is being asked.
struct Asking<'a> {
    keys: Keys<'a>,
    screen: &'a File,
    person: &'a Person,
    prompt: &'a Prompt,
}

impl Asking<'_> {
    /// The answer of a choice; `None` if the person thought better of it.
    fn carry_out(&mut self, choice: Choice) -> Result<Option<ReviewDecision>, Gone> {
        Ok(match choice {
            Choice::Once => Some(ReviewDecision::Approved),
            Choice::Session => Some(ReviewDecision::ApprovedForSession),
            Choice::Always => self.confirm_always()?,
            Choice::Smaller => self.smaller_grant()?,
            Choice::No => Some(match self.line("why not? (Enter: no note) ")? {
                Some(note) if !note.trim().is_empty() => ReviewDecision::DeniedWithNote {
                    note: note.trim().to_owned(),
                },
                _ => ReviewDecision::Denied,
            }),
            Choice::Abort => Some(ReviewDecision::Abort),
        })
    }

    /// Shows what would be kept, and where, and keeps it only if that is agreed to.
    fn confirm_always(&mut self) -> Result<Option<ReviewDecision>, Gone> {
        let (Some(what), Some(answer)) = (
            question::kept(self.prompt, &self.person.place),
            always(self.prompt),
        ) else {
            return Ok(None);
        };
        self.show_wrapped(&what, MARGIN)?;
        self.keys.settle()?;
        self.show("keep that? [y] yes  [n] back ")?;
        loop {
            match self.keys.next()? {
                Typed::Key('y') => {
                    self.show("y\n")?;
                    return Ok(Some(answer));
                }
                Typed::Key('n') => {
                    self.show("n\n")?;
                    return Ok(None);
                }
                _ => {}
            }
        }
    }

    /// Asks for a path below the proposed one.
    fn smaller_grant(&mut self) -> Result<Option<ReviewDecision>, Gone> {
        let Some(directory) = roomy(self.prompt) else {
            return Ok(None);
        };
        let directory = palisade::runner::approve::visible(&directory.to_string());
        let typed = self.line(&format!("only this below {directory}: "))?;
        let typed = typed.unwrap_or_default();
        match smaller(self.prompt, &typed) {
            Some(grant) => Ok(Some(ReviewDecision::ApprovedWithGrant {
                grant,
                scope: GrantScope::Run,
                expires: None,
            })),
            None => {
                self.show("that is not below it\n")?;
                Ok(None)
            }
        }
    }

    /// A line that is typed; `None` if it was given up.
    fn line(&mut self, label: &str) -> Result<Option<String>, Gone> {
        self.show(label)?;
        let mut text = String::new();
        loop {
            match self.keys.next_of_text()? {
                Typed::Key('\r' | '\n') => {
                    self.show("\n")?;
                    return Ok(Some(text));
                }
                // Ctrl-D.
                Typed::Key('\u{4}') if text.is_empty() => {
                    self.show("\n")?;
                    return Ok(None);
                }
                Typed::Key('\u{7f}' | '\u{8}') => {
                    if text.pop().is_some() {
                        self.show("\u{8} \u{8}")?;
                    }
                }
                Typed::Key(key) if !key.is_control() => {
                    text.push(key);
                    self.show(&palisade::runner::approve::visible(
                        key.encode_utf8(&mut [0; 4]),
                    ))?;
                }
                Typed::Key(_) | Typed::Other => {}
            }
        }
    }

    fn show_question(&self) -> Result<(), Gone> {
        if understands_sequences() {
            self.show(UNDO)?;
        }
        // Whatever stood in the line before.
        self.show("\r\n")?;
        let voice = &self.person.voice;
        for line in wrap(&self.prompt.display_line(), self.width(), MARGIN, MARGIN) {
            self.show(&format!("{}\n", voice.err_tone(Tone::Strong, &line)))?;
        }
        let allows = question::allows(self.prompt, &self.person.place);
        for line in wrap(&allows, self.width(), "", "") {
            let line = voice.err_tone(Tone::Careful, line.trim());
            self.show(&format!("{line}\n"))?;
        }
        for reason in question::why(self.prompt) {
            self.show_wrapped(&reason, MARGIN)?;
        }
        Ok(())
    }

    fn show_choices(&self, choices: &[Choice]) -> Result<(), Gone> {
        let answers: Vec<String> = choices
            .iter()
            .map(|choice| format!("[{}] {}", choice.key(), choice.name()))
            .collect();
        // The question mark stands behind the last of them.
        let lines = beside(&answers, self.width().saturating_sub(READY.len()));
        self.show(&lines.join("\n"))?;
        self.show(READY)
    }

    fn show_wrapped(&self, text: &str, margin: &str) -> Result<(), Gone> {
        for line in wrap(text, self.width(), margin, margin) {
            self.show(&format!("{line}\n"))?;
        }
        Ok(())
    }

    /// Shows something on the terminal, never on standard output.
    fn show(&self, text: &str) -> Result<(), Gone> {
        let mut screen = self.screen;
        screen.write_all(text.as_bytes()).map_err(|_| Gone::Closed)
    }

    fn width(&self) -> usize {
        let size = rustix::termios::tcgetwinsize(self.screen);
        // A terminal that does not know its width says 0.
        let width = size.map_or(0, |size| size.ws_col);
        usize::from(if width == 0 { 80 } else { width })
    }
}

/// Whether the terminal understands control sequences, as all do but a few that say so.
fn understands_sequences() -> bool {
    std::env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb")
}
