//! Which files are read, and which refuse everything.

use std::fs;
use std::os::unix::fs::symlink;

use palisade_exec_policy::language::Layer;
use palisade_exec_policy::{AskForApproval, RuleDecision};
use palisade_policy::{CanonicalSandboxPolicy, Grant};
use palisade_runner::config::{
    ConfigError, ConfigPaths, FileProblem, ProjectTrust, StoredGrant, load,
};

use crate::support::{Stage, chmod, now, rule, verdict};

#[test]
fn without_files_there_are_the_built_in_rules() {
    let stage = Stage::new();
    let configuration = stage.load().unwrap();
    assert_eq!(configuration.sources, []);
    assert_eq!(configuration.project_trust, ProjectTrust::Absent);
    assert_eq!(configuration.project.path(), &stage.root());
    assert_eq!(verdict(&configuration, "git status"), RuleDecision::Allow);
    assert!(matches!(
        configuration.policy,
        CanonicalSandboxPolicy::WorkspaceWrite { .. }
    ));
    let nothing = load(
        &ConfigPaths::none(),
        &stage.host(),
        &stage.at("project"),
        None,
        now(),
    );
    assert_eq!(nothing.unwrap().policy, configuration.policy);
}

#[test]
fn each_layer_has_its_say() {
    let stage = Stage::new();
    let system = stage.system(&format!(
        "[floor]\nno-network = true\n{}",
        rule("s", "\"one\"", "forbid")
    ));
    let user = stage.user(&format!(
        "[defaults]\nask = \"never\"\n[env]\nkeep = [\"PATH\"]\n{}",
        rule("u", "\"two\"", "forbid")
    ));
    let project = stage.project(&rule("p", "\"three\"", "forbid"));
    let session = format!("version = 1\n{}", rule("t", "\"four\"", "forbid"));
    let configuration = stage.load_with(Some(&session)).unwrap();
    for command in ["one", "two", "three", "four"] {
        assert_eq!(
            verdict(&configuration, command),
            RuleDecision::Forbid,
            "{command}"
        );
    }
    assert_eq!(verdict(&configuration, "five"), RuleDecision::Prompt);
    assert_eq!(configuration.approval, AskForApproval::Never);
    assert!(configuration.floor.no_network);
    assert_eq!(configuration.env_keep, Some(vec!["PATH".to_owned()]));
    let sources: Vec<_> = configuration
        .sources
        .iter()
        .map(|source| (source.layer, source.path.clone()))
        .collect();
    assert_eq!(
        sources,
        [
            (Layer::System, system),
            (Layer::User, user),
            (Layer::Project, project)
        ]
    );
}

#[test]
fn what_is_not_understood_refuses_everything_and_is_named() {
    let stage = Stage::new();
    for write in [Stage::system, Stage::user, Stage::project] {
        let file = write(&stage, "rools = 1\n");
        let error = stage.load().unwrap_err();
        assert!(matches!(error, ConfigError::Rules(_)), "{error}");
        assert!(
            error.to_string().contains(file.to_str().unwrap()),
            "{error}"
        );
        fs::remove_file(file).unwrap();
    }
    let error = stage.load_with(Some("rools = 1\n")).unwrap_err();
    assert!(error.to_string().contains("session:1:1"), "{error}");
    assert!(
        stage
            .load_with(Some("version = 1\ninclude = [\"a.toml\"]\n"))
            .is_err()
    );
    assert!(stage.load().is_ok());
}

#[test]
fn what_is_no_file_of_text_refuses_everything() {
    let stage = Stage::new();
    for name in [
        "etc/policy.toml",
        "home/.config/palisade/policy.toml",
        "project/.palisade/policy.toml",
    ] {
        let file = stage.write(name, "");
        // A directory.
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        assert!(
            matches!(stage.refused(&file), FileProblem::NotRegular),
            "{name}"
        );
        fs::remove_dir(&file).unwrap();
        // A pipe, which would be waited for. macOS has another call for it.
        #[cfg(target_os = "linux")]
        {
            rustix::fs::mknodat(
                rustix::fs::CWD,
                &file,
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::from(0o600),
                0,
            )
            .unwrap();
            assert!(
                matches!(stage.refused(&file), FileProblem::NotRegular),
                "{name}"
            );
            fs::remove_file(&file).unwrap();
        }
        // A link that leads nowhere is not the same as no file.
        symlink("nowhere", &file).unwrap();
        assert!(
            matches!(stage.refused(&file), FileProblem::Dangling),
            "{name}"
        );
        fs::remove_file(&file).unwrap();
        // More than anybody writes.
        fs::write(&file, vec![b'#'; (4 << 20) + 1]).unwrap();
        assert!(
            matches!(stage.refused(&file), FileProblem::TooLarge { .. }),
            "{name}"
        );
        fs::remove_file(&file).unwrap();
        assert!(stage.load().is_ok(), "{name}");
    }
}

#[test]
fn what_cannot_be_read_refuses_everything() {
    if rustix::process::geteuid().is_root() {
        eprintln!("skipped: the superuser reads everything");
        return;
    }
    let stage = Stage::new();
    let file = stage.user("");
    chmod(&file, 0);
    assert!(matches!(stage.refused(&file), FileProblem::Io(_)));
    chmod(&file, 0o600);
    chmod(file.parent().unwrap(), 0);
    let error = stage.load().unwrap_err();
    chmod(file.parent().unwrap(), 0o700);
    assert!(
        matches!(
            error,
            ConfigError::File {
                problem: FileProblem::Io(_),
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn what_others_can_write_refuses_everything() {
    let stage = Stage::new();
    for write in [Stage::system, Stage::user] {
        let file = write(&stage, "");
        for mode in [0o666, 0o664, 0o646] {
            chmod(&file, mode);
            assert!(
                matches!(stage.refused(&file), FileProblem::OthersCanWrite { .. }),
                "{mode:o}"
            );
        }
        chmod(&file, 0o600);
        let directory = file.parent().unwrap();
        chmod(directory, 0o777);
        assert!(matches!(
            stage.refused(directory),
            FileProblem::OthersCanWrite { .. }
        ));
        chmod(directory, 0o755);
        stage.load().unwrap();
    }
    // Whoever can write a project can write this; that is why it is not trusted.
    let file = stage.project("");
    chmod(&file, 0o666);
    stage.load().unwrap();
}

#[test]
fn what_somebody_else_owns_refuses_everything() {
    let stage = Stage::new();
    let file = stage.system("");
    let paths = stage.paths().with_system_owner(4_000_000_001);
    let error = load(&paths, &stage.host(), &stage.at("project"), None, now()).unwrap_err();
    assert!(
        matches!(&error, ConfigError::File { path, problem: FileProblem::Owner { .. } } if *path == file),
        "{error}"
    );
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only the superuser gives files away");
        return;
    }
    let file = stage.user("");
    std::os::unix::fs::chown(&file, Some(65534), None).unwrap();
    assert!(matches!(
        stage.refused(&file),
        FileProblem::Owner { owner: 65534, .. }
    ));
}

#[test]
fn the_users_own_links_are_followed_and_a_projects_are_not() {
    let stage = Stage::new();
    let real = stage.write("home/dotfiles/policy.toml", &rule("u", "\"two\"", "forbid"));
    let link = stage.user("");
    fs::remove_file(&link).unwrap();
    symlink(&real, &link).unwrap();
    assert_eq!(verdict(&stage.load().unwrap(), "two"), RuleDecision::Forbid);
    chmod(&real, 0o666);
    assert!(matches!(
        stage.refused(&link),
        FileProblem::OthersCanWrite { .. }
    ));
    chmod(&real, 0o600);

    let outside = stage.write("outside.toml", "");
    let inside = stage.write("project/inside.toml", "");
    let file = stage.project("");
    for target in [&outside, &inside] {
        for target in [
            target.clone(),
            std::path::Path::new("../").join(target.file_name().unwrap()),
        ] {
            fs::remove_file(&file).unwrap();
            symlink(&target, &file).unwrap();
            let problem = stage.refused(&file);
            let refused = matches!(
                problem,
                FileProblem::LeadsOutside { .. } | FileProblem::Dangling
            );
            assert!(refused, "{target:?}: {problem}");
        }
    }
    // A link that stays where commands cannot write is as good as the file.
    let neighbour = stage.write(
        "project/.palisade/real.toml",
        &rule("p", "\"three\"", "forbid"),
    );
    fs::remove_file(&file).unwrap();
    symlink(neighbour.file_name().unwrap(), &file).unwrap();
    assert_eq!(
        verdict(&stage.load().unwrap(), "three"),
        RuleDecision::Forbid
    );

    let directory = stage.at("project/.palisade");
    fs::rename(&directory, stage.at("project/elsewhere")).unwrap();
    symlink("elsewhere", &directory).unwrap();
    assert!(matches!(stage.refused(&directory), FileProblem::Link));
}

#[test]
fn a_project_that_is_not_there_is_refused() {
    let stage = Stage::new();
    let file = stage.write("file", "");
    for project in [stage.at("nowhere"), file] {
        let error = load(&stage.paths(), &stage.host(), &project, None, now()).unwrap_err();
        assert!(
            matches!(&error, ConfigError::File { path, .. } if *path == project),
            "{error}"
        );
    }
    let root = load(&stage.paths(), &stage.host(), "/".as_ref(), None, now());
    assert!(matches!(root, Err(ConfigError::Project(_))));
}

#[test]
fn what_decides_about_commands_is_out_of_their_reach() {
    let stage = Stage::new();
    let everything = |write: &str| format!("[filesystem]\nwrite = [\".\", {write}]\n");
    let text = |below: &str| format!("{:?}", stage.at(below).to_str().unwrap());
    let refused = |write: &str| {
        let session = format!("version = 1\n{}", everything(write));
        match stage.load_with(Some(&session)) {
            Err(ConfigError::WithinReach { path }) => Some(path),
            Err(other) => panic!("{other}"),
            Ok(_) => None,
        }
    };
    assert_eq!(refused(&text("other")), None);
    // What every sandbox on this host guards may lie in what is opened, whether it exists or not.
    let approvals = stage.state().approvals().path();
    assert_eq!(refused(&text("home/.local")), None);
    let user = stage.user("");
    assert_eq!(refused(&text("home/.config")), None);
    // What lies elsewhere is guarded by nobody.
    assert_eq!(refused(&text("etc")), Some(stage.at("etc/policy.toml")));
    // Guarded by name, it is out of reach again.
    let guard = format!("read_only = [{}]\n", text("home/.config/palisade"));
    let session = format!("version = 1\n{}{guard}", everything(&text("home/.config")));
    stage.load_with(Some(&session)).unwrap();
    // A link to where commands can write is where commands can write.
    let real = stage.write("project/dotfiles/policy.toml", "");
    fs::remove_file(&user).unwrap();
    symlink(real, &user).unwrap();
    assert_eq!(refused(&text("other")), Some(user.clone()));
    fs::remove_file(user).unwrap();
    // So is a directory in which a pattern looks for files, also while it is empty.
    fs::create_dir(stage.at("project/team")).unwrap();
    let user = stage.user(&format!("include = [{}]\n", text("project/team/*.toml")));
    assert_eq!(refused(&text("other")), Some(stage.at("project/team/new")));
    fs::remove_file(user).unwrap();
    // A grant opens no more than a policy may.
    let grant =
        Grant::Write(palisade_policy::AbsolutePath::new(approvals.parent().unwrap()).unwrap());
    let grant = StoredGrant::new(stage.root(), grant, now());
    stage.state().grants().keep(&grant).unwrap();
    assert_eq!(refused(&text("other")), Some(approvals));
}
