//! What the administrator keeps closed stays closed, whoever grants it.

use std::os::unix::fs::PermissionsExt as _;

use palisade_exec_policy::approvals::Moment;
use palisade_exec_policy::{AskForApproval, GrantScope, ReviewDecision};
use palisade_policy::{
    AbsolutePath, Grant, Guarantee, NetworkAllowlistEntry, SandboxPermissions, SandboxType,
};
use palisade_runner::config::{ConfigPaths, Configuration, State, StoredGrant, load};
use palisade_runner::judge::RuleBook;
use palisade_runner::session::{Error, Policy, Sandbox, Session, SessionOptions};

use crate::support::{Asked, Stage};

fn now() -> Moment {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap();
    Moment::of_clock(since.as_secs())
}

fn state(stage: &Stage) -> State {
    State::new(stage.path("home/.local/state/palisade"))
}

/// The configuration of the stage's workspace, with this text of an administrator.
fn configured(stage: &Stage, system: &str) -> Configuration {
    let file = stage.path("etc/policy.toml");
    std::fs::create_dir_all(stage.path("etc")).unwrap();
    std::fs::write(&file, format!("version = 1\n{system}")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let paths = ConfigPaths::none()
        .with_system(file)
        .with_system_owner(rustix::process::geteuid().as_raw())
        .with_state(state(stage));
    load(&paths, &stage.host(), &stage.workspace(), None, now()).unwrap()
}

fn session(stage: &Stage, policy: Policy, book: RuleBook, asked: &Asked) -> Session {
    Sandbox::on(stage.host(), policy)
        .unwrap()
        .session_with(
            book,
            asked.prompter(),
            SessionOptions::default().with_state(state(stage)),
        )
        .unwrap()
}

fn host() -> Grant {
    Grant::Host(NetworkAllowlistEntry::https("example.com").unwrap())
}

#[test]
fn grants_that_were_kept_before_the_floor_are_not_in_force_in_a_session() {
    let stage = Stage::new();
    let project = AbsolutePath::new(stage.workspace().canonicalize().unwrap()).unwrap();
    let outside = Grant::Write(AbsolutePath::new(stage.path("outside")).unwrap());
    for grant in [host(), outside.clone()] {
        let kept = StoredGrant::new(project.clone(), grant, now());
        state(&stage).grants().keep(&kept).unwrap();
    }
    let configuration = configured(&stage, "[floor]\nno-network = true\n");
    let policy = Policy::configured(&configuration).approval(AskForApproval::OnRequest);
    let asked = Asked::new(&[]);
    let session = session(&stage, policy, configuration.book.clone(), &asked);
    assert_eq!(session.granted(), [outside]);
}

#[test]
fn no_answer_rule_or_request_goes_below_the_floor() {
    let stage = Stage::new();
    let configuration = configured(
        &stage,
        "[floor]\nno-network = true\nno-unsandboxed = true\n",
    );
    let policy = || Policy::configured(&configuration).approval(AskForApproval::OnRequest);
    // Rules that know nothing of the floor: they were not loaded with it.
    let rules = "version = 1\n\
        [[rule]]\nid = \"net\"\nprefix = [\"id\"]\ndecision = \"allow\"\nwhy = \"x\"\n\
        sandbox.network = [\"example.com\"]\n\
        [[rule]]\nid = \"out\"\nprefix = [\"whoami\"]\ndecision = \"allow\"\nunsandboxed = true\nwhy = \"x\"\n";
    let book = RuleBook::from_text("rules", rules).unwrap();
    let given = ReviewDecision::ApprovedWithGrant {
        grant: host(),
        scope: GrantScope::Session,
        expires: None,
    };
    let asked = Asked::new(&[given]);
    let session = session(&stage, policy(), book, &asked);
    let run = session.command("id").output_blocking().unwrap();
    assert_eq!(run.sandbox, SandboxType::LinuxLandlock);
    let refused = session.command("whoami").output_blocking();
    match refused {
        Err(error) => assert!(matches!(error, Error::Refused(_)), "{error}"),
        Ok(run) => assert_eq!(run.sandbox, SandboxType::LinuxLandlock),
    }
    let wanted = SandboxPermissions::WithAdditionalPermissions {
        fs_read: Vec::new(),
        fs_write: Vec::new(),
        network: vec![NetworkAllowlistEntry::https("example.com").unwrap()],
    };
    let refused = session
        .script("echo hello")
        .asking_for(wanted, "please")
        .output_blocking()
        .unwrap_err();
    assert!(refused.to_string().contains("floor"), "{refused}");
    assert!(asked.prompts().is_empty(), "nobody is asked in vain");
    let refused = session
        .script("rm -rf scratch")
        .output_blocking()
        .unwrap_err();
    assert!(refused.to_string().contains("floor"), "{refused}");
    assert_eq!(asked.prompts().len(), 1);
    assert!(session.granted().is_empty());
    let leaving = session
        .script("echo hello")
        .asking_for(SandboxPermissions::RequireEscalated, "please")
        .output_blocking()
        .unwrap_err();
    assert!(matches!(leaving, Error::Refused(_)), "{leaving}");
    assert_eq!(asked.prompts().len(), 1, "nobody was asked");
}

#[test]
fn neither_does_the_program_that_embeds_us() {
    let stage = Stage::new();
    let configuration = configured(
        &stage,
        "[floor]\nno-network = true\nno-accepted-losses = true\npreset = \"read-only\"\n",
    );
    let policy = || Policy::configured(&configuration);
    for wider in [
        policy().allow_host_loopback(),
        policy().also_write(stage.path("outside")),
        policy().git(palisade_policy::GitAccess::Full),
    ] {
        let refused = Sandbox::on(stage.host(), wider).unwrap_err();
        assert!(refused.to_string().contains("floor"), "{refused}");
    }
    let same = Sandbox::on(
        stage.host(),
        policy()
            .accept_loss(Guarantee::ProtectedPaths)
            .allow_network(),
    )
    .unwrap();
    assert_eq!(
        same.policy().network(),
        Sandbox::on(stage.host(), policy())
            .unwrap()
            .policy()
            .network()
    );
}

#[test]
fn the_list_of_variables_in_a_configuration_is_what_commands_inherit() {
    let stage = Stage::new();
    let configuration = configured(&stage, "[env]\nkeep = [\"PATH\"]\n");
    let policy = Policy::configured(&configuration).approval(AskForApproval::OnRequest);
    let asked = Asked::new(&[]);
    let session = session(&stage, policy, configuration.book.clone(), &asked);
    let run = session.command("env").output_blocking().unwrap();
    let text = run.output.stdout.text().into_owned();
    assert!(text.contains("PATH="), "{text}");
    assert!(
        !text.contains("\nHOME=") && !text.starts_with("HOME="),
        "{text}"
    );
    assert!(!text.contains("API_TOKEN"), "{text}");
}
