//! The line that makes a grant lasting: what to write into the user's policy file.

use palisade::runner::approve::visible;
use palisade::runner::config;
use palisade::runner::policy::{Access, GitAccess, PolicyContext};
use palisade::{Grant, Policy};

use crate::ground::{Ground, now};

/// What makes a grant lasting.
pub(super) fn line(
    grant: &Grant,
    access: &Access,
    ground: &Ground,
    here: &PolicyContext,
) -> String {
    let settings = ground.configuration.rules.policy().settings();
    match grant {
        Grant::Write(path) => {
            let mut write = settings.write.value.clone();
            write.push(path.to_string());
            in_file(
                "filesystem",
                &format!("write = {write:?}"),
                access,
                ground,
                here,
            )
        }
        Grant::Git(git) => {
            let name = match git {
                GitAccess::ReadOnly => "read-only",
                GitAccess::Commit => "commit",
                GitAccess::Full => "full",
            };
            in_file(
                "filesystem",
                &format!("git = {name:?}"),
                access,
                ground,
                here,
            )
        }
        Grant::Host(entry) => {
            let allow = format!("allow = [\"{entry}\"]");
            in_file("network", &allow, access, ground, here)
        }
        _ => by_a_person(),
    }
}

/// What opens the whole network for good.
pub(super) fn whole_network(access: &Access, ground: &Ground, here: &PolicyContext) -> String {
    in_file("network", "access = \"full\"", access, ground, here)
}

/// The line and its place, if it really helps: a root in a hidden place, for one, is no root.
fn in_file(
    table: &str,
    text: &str,
    access: &Access,
    ground: &Ground,
    here: &PolicyContext,
) -> String {
    match helps(
        &format!("version = 1\n[{table}]\n{text}\n"),
        access,
        ground,
        here,
    ) {
        true => {
            let file = ground.paths.user.as_ref();
            let file = file.map_or_else(
                || "your policy file".to_owned(),
                |file| visible(&file.display().to_string()),
            );
            format!("{text}  under [{table}] in {file}")
        }
        false => by_a_person(),
    }
}

fn by_a_person() -> String {
    "no file opens it: whoever is asked about a command can keep it for this project".to_owned()
}

/// Whether a policy with this text allows the access.
fn helps(text: &str, access: &Access, ground: &Ground, here: &PolicyContext) -> bool {
    let root = ground.configuration.project.path().as_path();
    let loaded = config::load(&ground.paths, &ground.host, root, Some(text), now());
    loaded.is_ok_and(|loaded| {
        let policy = Policy::configured(&loaded).in_full(&ground.host);
        let policy = policy
            .ok()
            .and_then(|(policy, _)| policy.resolve(here).ok());
        policy.is_some_and(|policy| policy.permits(access).is_allowed())
    })
}
