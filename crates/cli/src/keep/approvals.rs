//! `approvals list` and `approvals revoke`: what was agreed to for good.

use std::fmt::Write as _;
use std::process::ExitCode;

use palisade::runner::config::State;
use palisade::runner::host::Host;

use super::kept::{Kept, Shown, all};
use crate::complaint::Complaint;
use crate::exit::Code;
use crate::ground::inside::{self, refuse_inside};
use crate::ground::{config_complaint, now};
use crate::say::Voice;

#[derive(Debug, clap::Args)]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List approvals and grants that are kept
    List {
        /// Print one JSON array
        #[arg(long)]
        json: bool,
    },
    /// Take approvals and grants back
    Revoke {
        /// The names that `list` shows
        #[arg(value_name = "ID", required_unless_present = "all")]
        ids: Vec<String>,
        /// All of them, in every project
        #[arg(long, conflicts_with = "ids")]
        all: bool,
    },
}

pub(crate) fn approvals(args: &ApprovalsArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    refuse_inside("approvals")?;
    let state = inside::state(&Host::look())?;
    let kept = all(&state).map_err(|error| config_complaint(&error))?;
    match &args.action {
        Action::List { json } => {
            let shown: Vec<Shown> = kept.iter().map(|one| one.shown(now())).collect();
            match json {
                true => voice.answer_json(
                    &(serde_json::to_string_pretty(&shown).map_err(Complaint::failed)? + "\n"),
                ),
                false => voice.answer(&listed(&shown)),
            }
            Ok(Code::Fine.into())
        }
        Action::Revoke { ids, all } => {
            let chosen = match all {
                true => kept.iter().collect(),
                false => named(&kept, ids)?,
            };
            revoke(&state, &chosen, voice)
        }
    }
}

/// Each of these, or none of them.
fn named<'a>(kept: &'a [Kept], ids: &[String]) -> Result<Vec<&'a Kept>, Complaint> {
    let find = |id: &String| {
        let found: Vec<&Kept> = kept.iter().filter(|one| one.id() == *id).collect();
        match found.as_slice() {
            [one] => Ok(*one),
            [] => Err(Complaint::new(
                Code::No,
                format!(
                    "nothing is kept as `{}`; nothing changed",
                    id.escape_debug()
                ),
            )
            .help("palisade approvals list")),
            _ => Err(Complaint::new(
                Code::No,
                format!("`{id}` is the name of several; nothing changed"),
            )
            .help("palisade approvals revoke --all")),
        }
    };
    ids.iter().map(find).collect()
}

fn revoke(state: &State, chosen: &[&Kept], voice: &Voice) -> Result<ExitCode, Complaint> {
    let mut gone = 0_usize;
    for one in chosen {
        let was = one.revoke(state);
        if was.map_err(|error| config_complaint(&error))? {
            gone += 1;
        }
    }
    voice.tell(&match gone {
        0 => "nothing was kept; nothing changed".to_owned(),
        1 => "one is revoked; commands that run already go on".to_owned(),
        more => format!("{more} are revoked; commands that run already go on"),
    });
    Ok(Code::Fine.into())
}

fn listed(shown: &[Shown]) -> String {
    if shown.is_empty() {
        return "nothing is kept\n".to_owned();
    }
    let mut text = String::new();
    for one in shown {
        let state = if one.holds { "" } else { "  (no longer holds)" };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}  {}{state}", one.id, one.what);
        if let Some(rule) = &one.rule {
            let _ = writeln!(text, "  answers the rule {rule}");
        }
        let place = one.project.as_deref().unwrap_or("everywhere");
        let until = match &one.expires {
            Some(expires) => format!("until {expires}"),
            None => "until it is revoked".to_owned(),
        };
        let _ = writeln!(text, "  in {place}, since {}, {until}", one.date);
    }
    text.push_str("\ntake one back: palisade approvals revoke ID\n");
    text
}
