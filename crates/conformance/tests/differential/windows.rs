//! The token and the access lists of a plan for Windows, by the access check of Windows, against the oracle.
//!
//! The tree is the one on the disk, with lists that give everything to the user: what is denied is denied by the plan.

use std::fs;

use palisade_policy::{
    AbsolutePath, AcceptedLosses, Access, Backend as _, CanonicalSandboxPolicy, Enforcement,
    Guarantee, Level, Os, PathCase, ResolvedPolicy, Stance,
};
use palisade_windows_token::acl::{Ace, AceFlags, AceKind, Rights};
use palisade_windows_token::model::{
    Descriptor, Failed, FileSystem, Kind, Operation, Switches, Token, apply, broken_inside,
    is_inside, passes_self_check, survey,
};
use palisade_windows_token::{Plan, Sid, WindowsHost, WindowsToken, private_places};

use crate::attempt::Attempt;
use crate::oracle::accesses;
use crate::random::try_cases;
use crate::stage::{Stage, absolute};
use crate::tries;

/// What was compared.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    attempts: usize,
    allowed: usize,
    /// Allowed by the plan although the oracle denies it, where the report promises nothing.
    unpromised: usize,
    /// Denied by the plan although the oracle allows it, and may be.
    stricter: usize,
}

/// A policy on a Windows host with the files of a stage.
pub(crate) struct Windows {
    files: FileSystem,
    host: WindowsHost,
    policy: ResolvedPolicy,
    pub(crate) plan: Plan,
    pub(crate) enforcement: Enforcement,
}

fn user() -> Sid {
    "S-1-5-21-1-2-3-1001".parse().unwrap()
}

fn tree(rights: Rights, whom: Sid) -> Ace {
    Ace::new(AceKind::Allow, rights, whom).with_flags(AceFlags::TREE)
}

/// The files of a stage; links are left out, because the model has none.
fn files(stage: &Stage) -> FileSystem {
    let root = Descriptor::new(
        Sid::local_system(),
        [
            tree(Rights::FILE_ALL, Sid::local_system()),
            // What everybody may do: read and execute.
            tree(Rights(0x0012_00A9), Sid::everyone()),
        ],
    );
    let mut files = FileSystem::new(root, PathCase::Sensitive);
    let top = absolute(stage.workspace.parent().unwrap());
    let above: Vec<AbsolutePath> = std::iter::successors(Some(top.clone()), AbsolutePath::parent)
        .filter(|path| path.parent().is_some())
        .collect();
    for path in above.iter().rev() {
        files.put_inheriting(path, Kind::Directory).unwrap();
    }
    let own = Descriptor::new(user(), [tree(Rights::FILE_ALL, user())]);
    let id = files.find(&top).unwrap();
    files.set_descriptor(id, own);
    let tmp = AbsolutePath::new("/tmp").unwrap();
    files.put_inheriting(&tmp, Kind::Directory).unwrap();
    for path in crate::case::entries(top.as_path()) {
        let kind = match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => Kind::Directory,
            Ok(found) if found.is_file() => Kind::File,
            _ => continue,
        };
        if files.find(&absolute(&path)).is_none() {
            files.put_inheriting(&absolute(&path), kind).unwrap();
        }
    }
    files
}

impl Windows {
    /// `None` where the policy makes no sense on this tree.
    pub(crate) fn new(stage: &Stage, policy: &CanonicalSandboxPolicy) -> Option<Self> {
        let mut host = WindowsHost::new(user(), "S-1-5-5-0-77777".parse().unwrap());
        host.powerful_groups = vec![Sid::administrators()];
        host.privileges = vec![
            "SeBackupPrivilege".to_owned(),
            "SeRestorePrivilege".to_owned(),
        ];
        // A host on which the second check was seen to ask about everything: most is promised there.
        host.second_check = Some(Rights::CHANGES);
        host.session_tmp = Some(absolute(&stage.session));
        let context = stage
            .context(Os::Windows)
            .with_private(private_places(&host));
        let policy = policy.resolve(&context).ok()?;
        let files = files(stage);
        survey(&mut host, &files, &policy, |number| {
            Sid::capability([number, 2, 3, 4])
        });
        let all: AcceptedLosses = Guarantee::ALL.into_iter().collect();
        let (plan, enforcement) = WindowsToken
            .lower(&policy, &host)
            .ok()?
            .admit(&all)
            .unwrap();
        Some(Self {
            files,
            host,
            policy,
            plan,
            enforcement,
        })
    }

    /// Compares this plan, which may be another one than was made for the policy.
    pub(crate) fn compare(
        &self,
        plan: &Plan,
        attempts: &[Attempt],
        tally: &mut Tally,
    ) -> Result<(), String> {
        let mut files = self.files.clone();
        let _kept = apply(plan, &mut files).map_err(|error| format!("{error}\n{plan}"))?;
        let token = Token::of_plan(&plan.token, &self.host);
        let mut himself = Token::of_user(&self.host);
        himself.privileges.clear();
        let all: Vec<Switches> = Switches::all()
            .filter(|switches| passes_self_check(&plan.token, &self.host, *switches))
            .collect();
        if all.is_empty() {
            return Err(format!("Windows: the token would not be used\n{plan}"));
        }
        for attempt in attempts {
            let Some((operation, access)) = operation(attempt) else {
                continue;
            };
            let verdict = self.policy.permits(&access);
            for switches in &all {
                let tried = operation.attempt(&files, &token, *switches);
                if let Err(Failed::Impossible(_)) = tried {
                    continue;
                }
                tally.attempts += 1;
                tally.allowed += usize::from(verdict.is_allowed());
                let say = |what: &str| {
                    Err(format!(
                        "Windows: {access}\n  {what} by the plan, but the oracle says {verdict}\n{tried:?}\n{switches:?}\n{plan}"
                    ))
                };
                match (tried.is_ok(), verdict.is_allowed()) {
                    (true, true) | (false, false) => {}
                    (true, false) if self.promises(&access) => return say("allowed"),
                    (true, false) => tally.unpromised += 1,
                    (false, true) => {
                        let alone = operation.attempt(&self.files, &himself, *switches).is_ok();
                        if alone && !self.may_be_stricter(attempt, &access) {
                            return say("denied");
                        }
                        tally.stricter += 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the report promises that this does not happen.
    fn promises(&self, access: &Access) -> bool {
        let paths = paths_of(access);
        let guarantee = match access {
            Access::Read(_) => Guarantee::DeniedReads,
            _ if !paths.iter().all(|path| is_inside(&self.policy, path)) => {
                Guarantee::WritesOutside
            }
            _ => {
                let was_there = !matches!(access, Access::Rename { .. })
                    && paths.iter().all(|path| self.files.find(path).is_some());
                broken_inside(&self.policy, access, was_there).0
            }
        };
        self.enforcement.level(guarantee) == Level::Enforced
    }

    fn may_be_stricter(&self, attempt: &Attempt, access: &Access) -> bool {
        let allowed = |access: Access| self.policy.place(&access).is_some();
        // A pattern that opens something again does so for what matched when the session began.
        let lifted = self
            .policy
            .guards()
            .iter()
            .any(|guard| guard.write == Some(Stance::Lifts) && guard.matcher.is_glob());
        // What is open in a directory that is closed stays there, whatever the oracle says of its name.
        let holder_is_closed = |path: &AbsolutePath| {
            let holder = path.parent();
            holder.is_none_or(|holder| !allowed(Access::Write(holder)))
        };
        let directory = |path: &AbsolutePath| {
            let found = self.files.at(path);
            found.is_some_and(|found| found.kind() == Kind::Directory)
        };
        lifted
            || match access {
                // The attributes of a place itself are not opened, only what is in it.
                Access::Write(path) => directory(path) || !is_inside(&self.policy, path),
                Access::Delete(path) => holder_is_closed(path),
                // Between two directories a list goes along that may not fit.
                Access::Rename { from, to } => {
                    from.parent() != to.parent() || holder_is_closed(from)
                }
                Access::Create(path) => holder_is_closed(path),
                _ => !matches!(attempt, Attempt::Read(_) | Attempt::List(_)),
            }
    }
}

/// What an attempt is on Windows; nothing, if the model has nothing like it.
fn operation(attempt: &Attempt) -> Option<(Operation, Access)> {
    let access = accesses(attempt).into_iter().next()?;
    let operation = match (attempt, &access) {
        (Attempt::Read(_) | Attempt::List(_), Access::Read(path)) => Operation::Read(path.clone()),
        (Attempt::Change(_), Access::Write(path)) => Operation::SetAttributes(path.clone()),
        (Attempt::Append(_), Access::Write(path)) => Operation::Append(path.clone()),
        (Attempt::MakeFile(_), Access::Create(path)) => Operation::CreateFile(path.clone()),
        (Attempt::MakeDirectory(_), Access::Create(path)) => {
            Operation::CreateDirectory(path.clone())
        }
        (_, Access::Delete(path)) => Operation::Delete(path.clone()),
        (Attempt::Rename(..), Access::Rename { from, to }) => Operation::Rename {
            from: from.clone(),
            to: to.clone(),
        },
        _ => return None,
    };
    Some((operation, access))
}

fn paths_of(access: &Access) -> Vec<&AbsolutePath> {
    match access {
        Access::Read(path) | Access::Write(path) | Access::Create(path) | Access::Delete(path) => {
            vec![path]
        }
        Access::Rename { from, to } => vec![from, to],
        _ => Vec::new(),
    }
}

#[test]
fn lists_mean_what_the_oracle_says() {
    let mut tally = Tally::default();
    let (mut cases, mut refused) = (0, 0);
    try_cases(100, |case, stage, policy| {
        cases += 1;
        let Some(windows) = Windows::new(stage, policy) else {
            refused += 1;
            return Ok(());
        };
        let attempts = tries::all(stage, case.named(stage), &case.moves);
        windows.compare(&windows.plan, &attempts, &mut tally)
    });
    println!("Windows: {cases} policies, {refused} refused, {tally:?}");
    assert!(refused * 2 < cases, "{refused} of {cases}");
    assert!(tally.allowed * 6 > tally.attempts, "{tally:?}");
    assert!(tally.allowed * 6 < tally.attempts * 5, "{tally:?}");
}
