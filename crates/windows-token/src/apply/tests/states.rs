//! The state directory: the user's alone, and out of reach.

use palisade_policy::{CanonicalSandboxPolicy, WorkspaceRoot};

use super::{World, everything};
use crate::apply::default_state_directory;
use crate::apply::error::{StartError, StateError};
use crate::apply::start::{StartOptions, prepare, prepare_session};
use crate::apply::state::StateDirectory;
use crate::host::Residue;
use crate::journal::SessionId;
use crate::sid::Sid;
use crate::survey::{LocateError, SpellingProblem};

fn refused(world: &World, state: &str) -> StateError {
    let options = StartOptions::new(state);
    match prepare(&world.policy(), &world.context(), &everything(), &options) {
        Err(StartError::State(error)) => error,
        Err(error) => panic!("{state}: {error}"),
        Ok(_) => panic!("{state} was taken"),
    }
}

#[test]
fn a_state_directory_in_a_root_or_around_one_is_refused() {
    let world = World::new();
    let inside = world.root.join("state");
    let error = refused(&world, inside.to_str().unwrap());
    assert!(matches!(error, StateError::InsideRoot { .. }), "{error}");
    let shouted = world.root.to_str().unwrap().replace("root", "ROOT") + r"\state";
    let error = refused(&world, &shouted);
    assert!(
        matches!(
            error,
            StateError::InsideRoot { .. } | StateError::Linked { .. }
        ),
        "{error}"
    );
    // The root lies in it.
    let around = world.root.parent().unwrap().join("around");
    let root = around.join("root");
    std::fs::create_dir_all(&root).unwrap();
    let policy = CanonicalSandboxPolicy::workspace_write([WorkspaceRoot::new(&root).unwrap()]);
    let options = StartOptions::new(&around);
    let error = prepare(&policy, &world.context(), &everything(), &options).unwrap_err();
    assert!(
        matches!(
            error,
            StartError::State(StateError::InsideRoot { .. } | StateError::NotPrivate { .. })
        ),
        "{error}"
    );
}

#[test]
fn a_state_directory_with_a_strange_spelling_is_refused() {
    let world = World::new();
    for (path, expected) in [
        ("state", SpellingProblem::Relative),
        (r"\state", SpellingProblem::NoDrive),
        (r"C:state", SpellingProblem::DriveRelative),
        (r"\\server\share\state", SpellingProblem::Network),
        (r"\\.\C:\state", SpellingProblem::Device),
        (
            r"C:\state:stream",
            SpellingProblem::Stream("state:stream".to_owned()),
        ),
        (r"C:\con", SpellingProblem::DeviceName("con".to_owned())),
        (r"C:\state.", SpellingProblem::Trailing("state.".to_owned())),
    ] {
        match refused(&world, path) {
            StateError::Path(LocateError::Spelling { problem, .. }) => {
                assert_eq!(problem, expected)
            }
            other => panic!("{path}: {other}"),
        }
    }
}

#[test]
fn a_file_is_no_state_directory() {
    let world = World::new();
    let file = world.root.with_file_name("file");
    std::fs::write(&file, "x").unwrap();
    let error = refused(&world, file.to_str().unwrap());
    assert!(matches!(error, StateError::Io { .. }), "{error}");
}

#[test]
fn capabilities_are_kept_and_differ() {
    let world = World::new();
    let capability = |world: &World| -> Sid {
        let prepared = world.prepare().unwrap();
        prepared.host.capabilities[&world.absolute("")].clone()
    };
    let first = capability(&world);
    assert_eq!(capability(&world), first);
    assert_ne!(capability(&World::new()), first);
    let prepared = world.prepare().unwrap();
    assert_eq!(
        prepared.host.capabilities.len(),
        2,
        "the root's and the session's own"
    );
    let others = prepared
        .host
        .capabilities
        .values()
        .filter(|sid| **sid != first);
    assert_eq!(others.count(), 1);
    // The session's own is not kept: the directory is gone with the session.
    let kept = std::fs::read_to_string(world.state.join("capabilities.json")).unwrap();
    assert_eq!(kept.matches("\"sid\"").count(), 1, "{kept}");
}

#[test]
fn capabilities_that_somebody_wrote_are_refused() {
    let world = World::new();
    drop(world.prepare().unwrap());
    let file = world.state.join("capabilities.json");
    let good = std::fs::read_to_string(&file).unwrap();
    let start = good.find("S-1-5-21-").unwrap();
    let end = start + good[start..].find('"').unwrap();
    for sid in ["S-1-1-0", "S-1-5-32-545", "S-1-5-5-0-1"] {
        let bad = format!("{}{sid}{}", &good[..start], &good[end..]);
        std::fs::write(&file, bad).unwrap();
        let error = world.prepare().unwrap_err();
        assert!(
            matches!(error, StartError::State(StateError::Capabilities(_))),
            "{sid}: {error}"
        );
    }
}

#[test]
fn the_usual_place_is_in_the_profile() {
    let usual = default_state_directory().unwrap();
    assert!(usual.is_absolute());
    assert!(
        usual.ends_with(r"AppData\Local\Palisade"),
        "{}",
        usual.display()
    );
}

/// Whoever moves a root moves what is protected in it, and whoever moves the state directory takes the journal away. The
/// directories above are the user's, and the second check does not ask about the removal of children.
#[test]
fn what_a_session_needs_stays_where_it_is_while_it_lives() {
    let world = World::new();
    let prepared = world.prepare().unwrap();
    let tmp = prepared.traces.tmp.as_path().to_path_buf();
    let journal = world.state.join("journal");
    let above = world.root.parent().unwrap().to_path_buf();
    for path in [&world.root, &world.state, &journal, &tmp, &above] {
        let other = path.with_file_name(format!("moved-{}", std::process::id()));
        std::fs::rename(path, &other).expect_err(&path.to_string_lossy());
        assert!(path.exists() && !other.exists());
    }
    std::fs::remove_file(&journal).unwrap_err();
    // Everything else goes on as before.
    std::fs::write(world.root.join("a"), "a").unwrap();
    std::fs::rename(world.root.join("a"), world.root.join("b")).unwrap();
    let another = world.prepare().unwrap();
    drop(another);
    drop(prepared);
    assert!(!tmp.exists());
    std::fs::rename(&world.root, world.root.with_file_name("moved")).unwrap();
    std::fs::rename(&world.state, world.state.with_file_name("moved-state")).unwrap();
}

/// What fails early has nothing to remove but its own.
#[test]
fn a_session_that_gets_no_directory_leaves_the_state_of_others_alone() {
    let world = World::new();
    let other = world.prepare().unwrap();
    let before = world.journal();
    assert!(!before.is_empty());
    let user = crate::sys::token::Token::own().unwrap().user().unwrap();
    let patience = world.options().patience;
    let state = StateDirectory::open(&world.state, &user, patience).unwrap();
    let session = SessionId(7);
    // Something that cannot be removed by being unused: another file is in the way.
    let tmp = state.session_tmp(session).unwrap();
    std::fs::write(tmp.as_path(), "in the way").unwrap();
    let failed = prepare_session(
        &world.policy(),
        &world.context(),
        &everything(),
        &world.options(),
        state,
        session,
    );
    let error = failed.map(drop).unwrap_err();
    assert!(
        matches!(error, StartError::State(StateError::Io { .. })),
        "{error}"
    );
    assert!(
        world.journal().starts_with(&before),
        "the other's edits are still known"
    );
    assert!(world.state.join("capabilities.json").exists());
    assert!(other.traces.tmp.as_path().is_dir());
}

#[test]
fn what_a_command_left_is_looked_for_within_limits() {
    let world = World::new();
    let prepared = world.prepare().unwrap();
    assert_eq!(prepared.host.residue, Residue::None);
    drop(prepared);
    let mut options = world.options();
    options.survey.max_entries = 0;
    let prepared = prepare(&world.policy(), &world.context(), &everything(), &options).unwrap();
    assert_eq!(prepared.host.residue, Residue::Unknown);
}
