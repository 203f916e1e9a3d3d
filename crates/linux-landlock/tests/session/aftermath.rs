//! What a session plants in a workspace is told afterwards.

use std::fs;

use palisade_linux_landlock::Tier;
use palisade_linux_landlock::aftermath::{AftermathOptions, Before, Finding, FindingKind};
use palisade_policy::{CanonicalSandboxPolicy, Guarantee, Level, PathRules, PathSpec};

use crate::support::{Stage, TIERS, read, start};

/// Runs a script in a session of its own and gives what is told about it, without the stage's path.
fn told(
    stage: &Stage,
    policy: &CanonicalSandboxPolicy,
    tier: Tier,
    script: &str,
) -> Vec<(FindingKind, String)> {
    findings(stage, policy, tier, script)
        .into_iter()
        .map(|finding| {
            let path = finding.path.as_path();
            let path = path.strip_prefix(&stage.workspace).unwrap_or(path);
            (finding.kind, path.to_str().unwrap().to_owned())
        })
        .collect()
}

fn findings(
    stage: &Stage,
    policy: &CanonicalSandboxPolicy,
    tier: Tier,
    script: &str,
) -> Vec<Finding> {
    let (resolved, plan, _) = stage.lower(policy, tier);
    let mut options = AftermathOptions::default();
    options.hard_links = true;
    options.max_time = std::time::Duration::from_secs(60);
    let before = Before::look(&resolved, &stage.host(tier), &options);
    let session = start(&plan).unwrap();
    let output = stage.run(&session, script);
    output.assert_success();
    session.end();
    before.compare(&resolved)
}

#[track_caller]
fn assert_told(found: &[(FindingKind, String)], expected: &[(FindingKind, &str)]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|(kind, path)| (*kind, (*path).to_owned()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn ordinary_work_is_not_told() {
    for tier in TIERS {
        let stage = Stage::new();
        let script =
            "mkdir -p src && echo x > src/a && mv src/a src/b && ln src/b c && ln -s b src/l";
        assert_told(&told(&stage, &stage.workspace_write(), tier, script), &[]);
    }
}

#[test]
fn planted_repositories_are_told() {
    for tier in TIERS {
        let stage = Stage::new();
        let script = "mkdir -p new/.git/hooks && echo evil > new/.git/hooks/post-checkout
            echo 'gitdir: /elsewhere' > file && mkdir sub && mv file sub/.git
            mkdir -p other/.x/objects other/.x/refs && echo 'ref: x' > other/.x/HEAD
            mkdir objects refs && echo 'ref: x' > HEAD && echo '[core] fsmonitor = evil' > config";
        assert_told(
            &told(&stage, &stage.workspace_write(), tier, script),
            &[
                (FindingKind::PlantedBareRepository, ""),
                (FindingKind::PlantedBareRepository, "other/.x"),
                (FindingKind::NestedRepository, "new/.git"),
                (FindingKind::NestedRepository, "sub/.git"),
            ],
        );
    }
}

#[test]
fn files_that_the_user_will_run_are_told() {
    for tier in TIERS {
        let stage = Stage::new();
        fs::create_dir(stage.workspace.join("hooks")).unwrap();
        fs::write(stage.workspace.join("hooks/pre-commit"), "fine").unwrap();
        fs::write(stage.workspace.join("Makefile"), "all:").unwrap();
        fs::write(stage.workspace.join("package.json"), "{}").unwrap();
        fs::write(
            stage.workspace.join(".git/config"),
            "[core]\n\thooksPath = hooks\n",
        )
        .unwrap();
        let script = "echo x >> Makefile; echo x > .envrc; mkdir .cargo .idea; echo x > .cargo/config.toml
            echo x > .idea/workspace.xml; echo '* filter=x' > .gitattributes; echo x > hooks/pre-commit
            touch -r package.json Makefile";
        assert_told(
            &told(&stage, &stage.workspace_write(), tier, script),
            &[
                (FindingKind::HooksPath, "hooks/pre-commit"),
                (FindingKind::RunsLater, ".cargo/config.toml"),
                (FindingKind::RunsLater, ".envrc"),
                (FindingKind::RunsLater, ".gitattributes"),
                (FindingKind::RunsLater, ".idea/workspace.xml"),
                (FindingKind::RunsLater, "Makefile"),
            ],
        );
    }
}

#[test]
fn what_the_landlock_tier_cannot_protect_is_told() {
    let stage = Stage::new();
    let policy = stage.workspace_write();
    let (.., enforcement) = stage.lower(&policy, Tier::Landlock);
    assert_eq!(
        enforcement.level(Guarantee::ProtectedPaths),
        Level::NotEnforced
    );
    let script = "echo evil > .git/hooks/pre-commit; echo evil > .git/config; mkdir .vscode .claude
        echo x > .vscode/tasks.json; echo x > .claude/settings.json";
    assert_told(
        &told(&stage, &policy, Tier::Landlock, script),
        &[
            (FindingKind::Protected, ".claude/settings.json"),
            (FindingKind::Protected, ".vscode/tasks.json"),
            (FindingKind::RunsLater, ".git/config"),
            (FindingKind::RunsLater, ".git/hooks/pre-commit"),
        ],
    );
    let stage = Stage::new();
    let script = format!("({script}) 2>/dev/null; true");
    let policy = stage.workspace_write();
    assert_told(&told(&stage, &policy, Tier::Full, &script), &[]);
}

#[test]
fn files_that_a_pattern_denies_too_late_are_told() {
    let stage = Stage::new();
    fs::write(stage.workspace.join(".env"), "secret").unwrap();
    let env = PathSpec::parse("**/.env*").unwrap();
    let policy = stage
        .workspace_write()
        .with_paths(PathRules::default().with_deny_read([env]));
    let script = "cat .env 2>/dev/null; echo late > .env.local && mkdir a && cp .env.local a/.env";
    let found = told(&stage, &policy, Tier::Full, script);
    assert_told(
        &found,
        &[
            (FindingKind::LaterMatch, ".env.local"),
            (FindingKind::LaterMatch, "a/.env"),
        ],
    );
}

#[test]
fn a_file_that_changed_under_another_name_too_is_told() {
    for tier in TIERS {
        let stage = Stage::new();
        let victim = stage.outside.join("victim");
        fs::hard_link(&victim, stage.workspace.join("alias")).unwrap();
        fs::write(stage.outside.join("other"), "x").unwrap();
        fs::hard_link(stage.outside.join("other"), stage.workspace.join("same")).unwrap();
        let found = told(
            &stage,
            &stage.workspace_write(),
            tier,
            "echo evil > alias; cat same > /dev/null",
        );
        assert_eq!(read(victim), "evil\n", "no mechanism can keep this");
        assert_told(&found, &[(FindingKind::HardLink, "alias")]);
    }
}

#[test]
fn names_that_forge_a_report_do_not() {
    let stage = Stage::new();
    let script =
        "d=$(printf 'x\\nrunning: fine\\033[2K\\377'); mkdir \"$d\" && echo x > \"$d/.envrc\"";
    let found = findings(&stage, &stage.workspace_write(), Tier::Full, script);
    assert_eq!(found.len(), 1);
    let text = found.first().unwrap().to_string();
    assert!(
        text.ends_with(
            "/x\\nrunning: fine\\u{1b}[2K\\xff/.envrc: new: entering the directory runs it, or runs what it says"
        ),
        "{text}"
    );
}
