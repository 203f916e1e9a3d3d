//! Whether the check would notice: plans with something taken out of them, each of which lets something through or keeps
//! something from working.

use std::fs;
use std::path::{Path, PathBuf};

use palisade_linux_landlock::Tier;
use palisade_linux_landlock::plan::model::target;
use palisade_linux_landlock::plan::{FsRights, PathRule, Plan};
use palisade_linux_landlock::seccomp::compile_for;
use palisade_linux_landlock::seccomp::{Namespaces, Sockets};
use palisade_policy::{
    CanonicalSandboxPolicy, PathRules, PathSpec, RelativePath, SeccompProfile, SensitivePath,
    WorkspaceRoot,
};
use palisade_seatbelt::profile::Decision;
use palisade_windows_token::acl::{AceKind, Rights};

use crate::attempt::Attempt;
use crate::calls::{ARCHES, wrong_with};
use crate::lowered::{Lowered, lower};
use crate::mac::Mac;
use crate::meaning::Session;
use crate::predict;
use crate::stage::{Stage, absolute};
use crate::windows::Windows;
use crate::{mac, tries, windows};

/// A workspace in which everything that a policy can say about paths is said, and all of it is there.
struct Scene {
    stage: Stage,
    policy: CanonicalSandboxPolicy,
    attempts: Vec<Attempt>,
}

impl Scene {
    /// `hides` says whether something in the workspace is denied, which Landlock alone cannot do.
    fn new(hides: bool) -> Self {
        let stage = Stage::new();
        for file in [
            "file",
            "kept/inner/x",
            "hidden/secret",
            "docs/page",
            "free/y",
        ] {
            let path = stage.workspace.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        let hidden = hides.then(|| PathSpec::parse("hidden").unwrap());
        let rules = PathRules::default()
            .with_protected([RelativePath::new("kept/inner").unwrap()])
            .with_deny_read(hidden)
            .with_read_only([PathSpec::parse("docs").unwrap()]);
        let root = WorkspaceRoot::new(&stage.workspace).unwrap();
        // No patterns: what a profile makes of them may be stricter than the policy.
        let secrets = ["~/.ssh", "~/.netrc"].map(|path| PathSpec::parse(path).unwrap());
        let secrets = secrets.map(SensitivePath::blocking);
        let policy = CanonicalSandboxPolicy::workspace_write_with_sensitive_paths([root], secrets)
            .with_paths(rules);
        let moves: Vec<(u8, u8)> = (0..60).flat_map(|from| [(from, 7), (from, 20)]).collect();
        Self {
            attempts: tries::all(&stage, Vec::new(), &moves),
            stage,
            policy,
        }
    }

    fn lowered(&self, tier: Tier) -> Lowered {
        lower(&self.stage, &self.policy, tier).unwrap().unwrap()
    }

    /// What the model of Linux has against a plan.
    fn linux(&self, lowered: &Lowered, change: impl FnOnce(&mut Plan)) -> Result<(), String> {
        let mut plan = lowered.plan.clone();
        change(&mut plan);
        let changed = Lowered {
            policy: lowered.policy.clone(),
            plan,
            enforcement: lowered.enforcement.clone(),
        };
        let tree = crate::case::entries(self.stage.workspace.parent().unwrap());
        let mut tally = predict::Tally::default();
        predict::compare(&changed, &self.attempts, &tree, &mut tally)
    }

    fn is_ours(&self, path: &Path) -> bool {
        path.starts_with(self.stage.workspace.parent().unwrap())
    }
}

#[test]
fn a_mount_that_is_missing_is_noticed() {
    let scene = Scene::new(true);
    let lowered = scene.lowered(Tier::Full);
    scene.linux(&lowered, |_| {}).unwrap();
    let mut dropped = 0;
    for (index, mount) in lowered.plan.mounts.iter().enumerate() {
        let ours = target(mount).is_some_and(|at| {
            // What is below `/dev` is fresh without a mount of its own too.
            scene.is_ours(at.as_path()) || at.as_path() == Path::new("/tmp")
        });
        if ours {
            dropped += 1;
            let said = scene.linux(&lowered, |plan| {
                plan.mounts.remove(index);
            });
            assert!(said.is_err(), "nobody misses {mount:?}\n{}", lowered.plan);
        }
    }
    assert!(dropped >= 9, "{dropped} of\n{}", lowered.plan);
}

#[test]
fn a_landlock_rule_that_is_missing_is_noticed() {
    let scene = Scene::new(true);
    let lowered = scene.lowered(Tier::Full);
    let rules = &lowered.plan.landlock.as_ref().unwrap().paths;
    let mut dropped = 0;
    for (index, rule) in rules.iter().enumerate() {
        let path = rule.path.as_path();
        let tried = ["/", "/tmp", "/dev/shm", "/dev/null"].map(PathBuf::from);
        if scene.is_ours(path) || tried.contains(&path.to_path_buf()) {
            dropped += 1;
            let said = scene.linux(&lowered, |plan| {
                plan.landlock.as_mut().unwrap().paths.remove(index);
            });
            assert!(said.is_err(), "nobody misses {rule:?}\n{}", lowered.plan);
        }
    }
    assert!(dropped >= 4, "{}", lowered.plan);
}

#[test]
fn a_landlock_rule_too_many_is_noticed() {
    let scene = Scene::new(false);
    let lowered = scene.lowered(Tier::Landlock);
    scene.linux(&lowered, |_| {}).unwrap();
    let stage = &scene.stage;
    for (path, rights) in [
        (stage.outside.clone(), FsRights::WRITE),
        (stage.home.clone(), FsRights::MAKE_REG),
        (stage.outside.join("victim"), FsRights::WRITE_FILE),
        (stage.home.join(".ssh"), FsRights::READ),
        (PathBuf::from("/"), FsRights::READ),
    ] {
        let said = scene.linux(&lowered, |plan| {
            let rules = plan.landlock.as_mut().unwrap();
            rules.paths.push(PathRule::new(absolute(&path), rights));
        });
        assert!(said.is_err(), "{}: {rights}", path.display());
    }
    // And a right that is no longer withheld.
    let said = scene.linux(&lowered, |plan| {
        let rules = plan.landlock.as_mut().unwrap();
        rules.handled_fs =
            FsRights::from_bits(rules.handled_fs.bits() & !FsRights::MAKE_REG.bits());
    });
    assert!(said.is_err());
}

#[test]
fn a_denial_that_is_missing_in_a_list_is_noticed() {
    let scene = Scene::new(true);
    let host = Windows::new(&scene.stage, &scene.policy).unwrap();
    let compare = |plan: &palisade_windows_token::Plan| {
        host.compare(plan, &scene.attempts, &mut windows::Tally::default())
    };
    compare(&host.plan).unwrap();
    let mut dropped = 0;
    for (at, edit) in host.plan.acl_edits.iter().enumerate() {
        let denies = |rights| {
            edit.add
                .iter()
                .any(|ace| ace.kind == AceKind::Deny && ace.rights == rights)
        };
        if !denies(Rights::CHANGES) {
            continue;
        }
        dropped += 1;
        let mut plan = host.plan.clone();
        // What is kept open stays without any entry; either half alone must do.
        plan.hold.clear();
        plan.acl_edits[at]
            .add
            .retain(|ace| ace.kind != AceKind::Deny);
        assert!(
            compare(&plan).is_err(),
            "nobody misses {}\n{}",
            edit.path,
            host.plan
        );
    }
    assert!(dropped >= 3, "{}\n{}", host.plan, host.enforcement);
    // And the permission on the workspace.
    let mut plan = host.plan.clone();
    for edit in &mut plan.acl_edits {
        edit.add.retain(|ace| ace.kind == AceKind::Deny);
    }
    assert!(compare(&plan).is_err());
}

#[test]
fn a_rule_that_is_missing_in_a_profile_is_noticed() {
    let scene = Scene::new(true);
    let host = Mac::new(&scene.stage, &scene.policy).unwrap();
    let compare = |profile: &palisade_seatbelt::Profile| {
        host.compare(
            profile,
            &scene.stage,
            &scene.attempts,
            &mut mac::Tally::default(),
        )
    };
    compare(&host.profile).unwrap();
    // Allows are carved around what is denied, and the denies follow: either half alone must do, so one of them goes.
    let uncarved = host.profile.without_carves();
    compare(&uncarved).unwrap();
    let (mut missed, mut unmissed) = ([0, 0], Vec::new());
    for (index, rule) in uncarved.rules.iter().enumerate() {
        let mut profile = uncarved.clone();
        profile.rules.remove(index);
        match compare(&profile) {
            Err(_) => missed[usize::from(rule.decision == Decision::Deny)] += 1,
            Ok(()) => unmissed.push(rule.to_string()),
        }
    }
    println!("missed {missed:?}, not missed:\n{}", unmissed.join("\n"));
    assert!(missed[0] >= 2 && missed[1] >= 4, "{missed:?}\n{uncarved}");
}

#[test]
fn an_instruction_that_is_missing_is_noticed() {
    let policy = CanonicalSandboxPolicy::read_only();
    for arch in ARCHES {
        for (tier, sockets, namespaces) in [
            (Tier::Full, Sockets::OwnNetwork, Namespaces::Own),
            (Tier::Landlock, Sockets::PairsOnly, Namespaces::Host),
        ] {
            let profile = SeccompProfile::strict();
            let filter = compile_for(&profile, sockets, namespaces, arch).unwrap();
            let session = Session::of(&policy, tier);
            wrong_with(filter.instructions(), &session, arch).unwrap();
            for index in 0..filter.instructions().len() {
                let mut program = filter.instructions().to_vec();
                let gone = program.remove(index);
                // That nothing of x32 runs is said twice: all its numbers are above those that there are.
                if gone.k == 0x4000_0000 {
                    continue;
                }
                let said = wrong_with(&program, &session, arch);
                assert!(
                    said.is_err(),
                    "{arch:?} {tier:?}: nobody misses {index}: {gone:?}"
                );
            }
        }
    }
}
