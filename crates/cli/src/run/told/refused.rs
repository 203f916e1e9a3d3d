//! What is said about a command that may not run: who refused, by which rule, and what would help.

use palisade::runner::approve::visible;
use palisade::runner::exec_policy::Refusal;
use palisade::runner::judge::Judgement;

use super::page::Page;
use crate::say::Tone;

/// What is known about a refusal besides its words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Why {
    /// What the rules said, if they got to speak.
    pub(crate) judgement: Option<Judgement>,
    /// Where the rule stands that spoke, as `FILE:LINE`.
    pub(crate) place: Option<String>,
    /// What the sandbox would deny of what the command names, each with its clause.
    pub(crate) denied: Vec<String>,
    /// Whether there was somebody to ask.
    pub(crate) somebody: bool,
    /// The line that explains the judgement.
    pub(crate) explain: String,
}

/// The page about a refusal.
pub(crate) fn page(refusal: &Refusal, why: &Why) -> Page {
    let mut page = Page::new("refused", Tone::Bad, what(refusal, why));
    let forbidden = matches!(refusal, Refusal::Forbidden { .. });
    if let Some(judgement) = why
        .judgement
        .as_ref()
        .filter(|_| !forbidden || why.place.is_none())
    {
        page = page.more(format!("it {}", visible(&judgement.explanation)));
    }
    if let (Some(judgement), Some(place)) = (&why.judgement, &why.place) {
        page = page.more(format!(
            "rule `{}` stands at {}",
            visible(&judgement.source),
            visible(place)
        ));
    }
    for denied in &why.denied {
        page = page.more(format!(
            "the sandbox would not let it either: {}",
            visible(denied)
        ));
    }
    match refusal {
        Refusal::Denied { .. } | Refusal::Unanswered if !why.somebody => page
            .next(
                "have somebody answer",
                "run it in a terminal, or with --approval-command PROGRAM",
            )
            .next("see how it was judged", why.explain.clone()),
        Refusal::Aborted | Refusal::Denied { .. } => page,
        _ => page.next("see how it was judged", why.explain.clone()),
    }
}

fn what(refusal: &Refusal, why: &Why) -> String {
    match refusal {
        Refusal::Forbidden { reason } => match (&why.judgement, &why.place) {
            (Some(judgement), Some(_)) => format!(
                "rule `{}` forbids it: {}",
                visible(&judgement.source),
                visible(reason)
            ),
            _ => visible(reason),
        },
        // The note says why nobody was.
        Refusal::Denied { note: Some(note) } if !why.somebody => {
            format!("it needs an approval, and {}; nothing ran", visible(note))
        }
        Refusal::Denied { .. } | Refusal::Unanswered if !why.somebody => {
            "it needs an approval, and nobody can be asked here; nothing ran".to_owned()
        }
        Refusal::Denied { note: Some(note) } => format!("you said no: {}", visible(note)),
        Refusal::Denied { note: None } => "you said no; nothing ran".to_owned(),
        Refusal::Aborted => "you stopped it; nothing ran".to_owned(),
        other => visible(&other.to_string()),
    }
}
