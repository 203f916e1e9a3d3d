//! `policy init`: a policy to start from.

use std::path::PathBuf;
use std::process::ExitCode;

use super::{files, written};
use crate::complaint::Complaint;
use crate::ground::inside::refuse_inside;
use crate::ground::{Mode, PolicyFlags, Site};
use crate::say::{Voice, shown};

#[derive(Debug, clap::Args)]
pub(super) struct InitArgs {
    /// What it builds on: read-only, workspace, ci or open (no sandbox at all)
    #[arg(long, value_name = "P", default_value = "workspace")]
    preset: Mode,
    /// For everything that you run, in your configuration directory
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// For this project, in .palisade/policy.toml; the default
    #[arg(long)]
    project: bool,
    /// Write over a file that is there
    #[arg(long)]
    force: bool,
}

const PROJECT: &str = "\
# What commands in this project may touch, and which of them ask first or never run.
# Until you agree to this file with `palisade trust`, it can only tighten what is in force.
";

const USER: &str = "\
# What commands may touch, and which of them ask first or never run, in every project of yours.
";

const REST: &str = r#"
# [filesystem]
# write = [".", "~/.cache/tool"] # "." is the project
# deny = ["**/.env"]             # neither read nor written, in whatever directory

# [limits]
# wall = "10m"
# memory = "4GiB"

# Rules of all files add up, and the strictest that matches wins: forbid, then prompt, then allow.
# The examples are checked whenever the file is read: a file whose examples do not hold is refused.
[[rule]]
id = "migrations-ask"
prefix = ["just", "migrate"]
decision = "prompt"
why = "Changes a database that others use"
match = ["just migrate", "cd db && just migrate --to 7"]
not_match = ["just test"]
"#;

/// The text of a policy to start from, in the order that `policy fmt` keeps.
fn text(preset: Mode, user: bool) -> String {
    let head = if user { USER } else { PROJECT };
    format!(
        "{head}version = 1\n# read-only, workspace, ci (never asks) or open (no sandbox at all).\npreset = \"{}\"\n{REST}",
        preset.name()
    )
}

pub(super) fn init(args: &InitArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    refuse_inside("policy init")?;
    let path = path(args)?;
    let text = text(args.preset, args.user);
    match args.force {
        true => written::over(&path, &text)?,
        false => written::fresh(&path, &text)?,
    }
    voice.answer(&format!("wrote {}\n", shown(&path)));
    voice.note("edit it, then `palisade policy test` and `palisade policy show`");
    if !args.user {
        voice.note("`palisade trust` agrees to it; until then it only tightens");
    }
    Ok(ExitCode::SUCCESS)
}

fn path(args: &InitArgs) -> Result<PathBuf, Complaint> {
    if args.user {
        let site = Site::here()?;
        return site.paths.user.ok_or_else(|| {
            Complaint::failed("nobody knows where your configuration is")
                .help("set HOME or XDG_CONFIG_HOME")
        });
    }
    let site = Site::find(&PolicyFlags::default())?;
    let file = files::project_file(&site.root);
    let directory = file.parent().and_then(|path| path.symlink_metadata().ok());
    match directory.is_some_and(|found| !found.is_dir()) {
        true => Err(Complaint::refused(format!(
            "{} is no directory of the project's own, so no policy in it would be read",
            shown(site.root.join(files::PROJECT_DIRECTORY))
        ))
        .help("remove it, and try again")),
        false => Ok(file),
    }
}
