//! What the kernel would make of a plan, by a model of mounts and of Landlock rules, for every access to files.
//!
//! Everything is judged by the tree as it is before the session: links are resolved, and what is where is known.

use std::fs;
use std::path::PathBuf;

use palisade_linux_landlock::plan::model::{
    Move, Moved, View, is_granted, is_mount_point, may_move, mount_of, view,
};
use palisade_linux_landlock::plan::{FsRights, NetRights, NetworkNamespace, Plan};
use palisade_linux_landlock::{Tier, seccomp};
use palisade_policy::{AbsolutePath, Access, CanonicalSandboxPolicy};
use rustix::io::Errno;
use seccomp::model::{SyscallData, Verdict, run};

use crate::attempt::{Attempt, Outcome, Transport};
use crate::calls::{HARMLESS, here, number};
use crate::lowered::{Lowered, TIERS, lower};
use crate::oracle::{Judge, accesses, links_on_the_way};
use crate::random::try_cases;
use crate::stage::{Stage, absolute};
use crate::tries;

/// Whether something can be done in a session with this plan; `None` if the model says nothing about it.
pub(crate) fn predict(plan: &Plan, attempt: &Attempt) -> Option<Outcome> {
    let model = Model { plan };
    let refused = |errno: Errno| Err(errno.raw_os_error());
    let asked = accesses(attempt);
    let first = asked.first();
    match attempt {
        Attempt::Call(row) => return model.call(*row),
        Attempt::Signal(_) => {
            return (plan.tier == Tier::Full).then(|| refused(Errno::SRCH));
        }
        Attempt::Bind(_) | Attempt::Connect(..) | Attempt::Abstract(_) | Attempt::Unix(_) => {
            return model.socket(attempt);
        }
        _ => {}
    }
    let mut links = Vec::new();
    for path in attempt.names() {
        links_on_the_way(path, &mut links, 0);
    }
    if links
        .iter()
        .any(|link| model.view(&absolute(link)) == View::Hidden)
    {
        return Some(refused(Errno::ACCESS));
    }
    // A layer moves a directory that was made in it, but not one that is under it.
    if let Access::Rename { from, to } = first?
        && [from, to]
            .into_iter()
            .any(|path| model.view(path) == View::Layer && is_directory(path))
    {
        return None;
    }
    Some(match (attempt, first?) {
        (Attempt::Read(_), Access::Read(path)) => model.reads(path, FsRights::READ_FILE),
        (Attempt::List(_), Access::Read(path)) => model.reads(path, FsRights::READ_DIR),
        (_, Access::Execute(path)) => model.reads(path, FsRights::EXECUTE),
        (Attempt::Append(_), Access::Write(path)) => model.writes(path, FsRights::WRITE_FILE),
        // Landlock does not judge modes.
        (_, Access::Write(path)) => model.writes(path, FsRights::default()),
        (Attempt::MakeDirectory(_), Access::Create(path)) => model.makes(path, FsRights::MAKE_DIR),
        (_, Access::Create(path)) => model.makes(path, FsRights::MAKE_REG),
        (Attempt::RemoveDirectory(_), Access::Delete(path)) => {
            model.removes(path, FsRights::REMOVE_DIR)
        }
        (_, Access::Delete(path)) => model.removes(path, FsRights::REMOVE_FILE),
        (Attempt::Exchange(..), Access::Rename { from, to }) => model.exchanges(from, to),
        (_, Access::Rename { from, to }) => model.renames(from, to),
        _ => return None,
    })
}

struct Model<'a> {
    plan: &'a Plan,
}

impl Model<'_> {
    fn view(&self, path: &AbsolutePath) -> View {
        match self.plan.tier {
            Tier::Full => view(self.plan, path),
            Tier::Landlock => View::HostWritable,
        }
    }

    fn may(&self, path: &AbsolutePath, rights: FsRights) -> bool {
        let rules = self.plan.landlock.as_ref();
        rules.is_none_or(|rules| is_granted(rules, path, rights, &is_directory))
    }

    fn reads(&self, path: &AbsolutePath, right: FsRights) -> Outcome {
        let seen = self.view(path).shows_the_host();
        allowed(seen && self.may(path, right), Errno::ACCESS)
    }

    fn writes(&self, path: &AbsolutePath, right: FsRights) -> Outcome {
        if self.view(path) == View::Hidden {
            return Err(Errno::ACCESS.raw_os_error());
        }
        allowed(self.view(path).is_writable(), Errno::ROFS)?;
        allowed(self.may(path, right), Errno::ACCESS)
    }

    /// Whether the directory that holds an entry may be changed in this way.
    fn changes_holder(&self, path: &AbsolutePath, right: FsRights) -> Outcome {
        let Some(holder) = path.parent() else {
            return Err(Errno::BUSY.raw_os_error());
        };
        self.writes(&holder, right)
    }

    fn makes(&self, path: &AbsolutePath, right: FsRights) -> Outcome {
        allowed(!self.is_taken(path), Errno::EXIST)?;
        self.changes_holder(path, right)
    }

    fn removes(&self, path: &AbsolutePath, right: FsRights) -> Outcome {
        allowed(!is_mount_point(self.plan, path), Errno::BUSY)?;
        let mut made = self.plan.placeholders.iter();
        let holds = made.any(|place| place.as_path().starts_with(path.as_path()));
        allowed(!holds, Errno::NOTEMPTY)?;
        self.changes_holder(path, right)
    }

    fn renames(&self, from: &AbsolutePath, to: &AbsolutePath) -> Outcome {
        allowed(!self.is_taken(to), Errno::EXIST)?;
        self.moves(from, to)
    }

    fn exchanges(&self, one: &AbsolutePath, two: &AbsolutePath) -> Outcome {
        self.moves(one, two)?;
        self.moves(two, one)
    }

    /// One half of an exchange, or a rename to a name that is free.
    fn moves(&self, from: &AbsolutePath, to: &AbsolutePath) -> Outcome {
        let (Some(before), Some(after)) = (from.parent(), to.parent()) else {
            return Err(Errno::BUSY.raw_os_error());
        };
        let into_itself = to.as_path().starts_with(from.as_path());
        allowed(!into_itself, Errno::INVAL)?;
        for entry in [from, to] {
            allowed(!is_mount_point(self.plan, entry), Errno::BUSY)?;
        }
        self.writes(&before, FsRights::default())?;
        self.writes(&after, FsRights::default())?;
        let same = mount_of(self.plan, &before) == mount_of(self.plan, &after);
        allowed(same, Errno::XDEV)?;
        let what = match fs::symlink_metadata(from) {
            Ok(found) if found.is_dir() => Moved::Directory,
            Ok(found) if found.is_symlink() => Moved::Link,
            _ => Moved::File,
        };
        let rules = self.plan.landlock.as_ref();
        let rename = Move { from, to, what };
        let granted = rules.is_none_or(|rules| may_move(rules, rename, &is_directory));
        allowed(granted, Errno::ACCESS)
    }

    /// Whether something is at a name that was free: what the session puts there so that nobody else can.
    fn is_taken(&self, path: &AbsolutePath) -> bool {
        is_mount_point(self.plan, path) || self.plan.placeholders.contains(path)
    }

    /// What the filter does, and what is left of the network.
    fn socket(&self, attempt: &Attempt) -> Option<Outcome> {
        let family = match attempt {
            Attempt::Connect(..) | Attempt::Bind(_) => 2,
            _ => 1,
        };
        if self.filter("socket", [family, 1, 0, 0, 0, 0]) != Verdict::Allow {
            return Some(Err(Errno::PERM.raw_os_error()));
        }
        let own = self.plan.network != NetworkNamespace::Host;
        let rules = self.plan.landlock.as_ref();
        let withheld = rules.map_or(0, |rules| rules.handled_net.bits());
        let asked = match attempt {
            Attempt::Connect(Transport::Tcp, ..) => NetRights::CONNECT_TCP.bits(),
            Attempt::Bind(_) => NetRights::BIND_TCP.bits(),
            _ => 0,
        };
        let ports = rules.is_some_and(|rules| !rules.ports.is_empty());
        if withheld & asked != 0 && !ports {
            return Some(Err(Errno::ACCESS.raw_os_error()));
        }
        match attempt {
            Attempt::Connect(..) if own => Some(Err(Errno::CONNREFUSED.raw_os_error())),
            Attempt::Abstract(_) if own => Some(Err(Errno::CONNREFUSED.raw_os_error())),
            Attempt::Abstract(_) => {
                let scopes = self.plan.landlock.as_ref().map(|rules| rules.scopes);
                let kept = scopes.is_some_and(|scopes| scopes.bits() & 1 != 0);
                Some(allowed(!kept, Errno::PERM))
            }
            Attempt::Unix(path) if self.plan.tier == Tier::Full => {
                let seen = self.view(&absolute(path)).shows_the_host();
                Some(allowed(seen, Errno::ACCESS))
            }
            Attempt::Bind(_) if self.plan.network == NetworkNamespace::Nothing => {
                Some(Err(Errno::NETUNREACH.raw_os_error()))
            }
            Attempt::Bind(_) | Attempt::Connect(..) => Some(Ok(())),
            _ => None,
        }
    }

    fn call(&self, row: usize) -> Option<Outcome> {
        let (name, args) = HARMLESS[row];
        match self.filter(name, args) {
            Verdict::Errno(errno) => Some(Err(i32::from(errno))),
            // What the kernel makes of it is its own business.
            _ => None,
        }
    }

    fn filter(&self, name: &str, args: [u64; 6]) -> Verdict {
        let data = SyscallData {
            nr: number(here(), name).unwrap(),
            arch: here().audit(),
            instruction_pointer: 0,
            args,
        };
        match run(self.plan.filter.instructions(), &data).unwrap() {
            Verdict::Log => Verdict::Allow,
            other => other,
        }
    }
}

fn is_directory(path: &AbsolutePath) -> bool {
    path.as_path().is_dir()
}

fn allowed(holds: bool, otherwise: Errno) -> Outcome {
    match holds {
        true => Ok(()),
        false => Err(otherwise.raw_os_error()),
    }
}

/// What was compared.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) attempts: usize,
    pub(crate) allowed: usize,
    pub(crate) excused: usize,
    pub(crate) unjudged: usize,
}

/// The model of a plan against the oracle, for all these attempts.
pub(crate) fn compare(
    lowered: &Lowered,
    attempts: &[Attempt],
    tree: &[PathBuf],
    tally: &mut Tally,
) -> Result<(), String> {
    let Lowered {
        policy,
        plan,
        enforcement,
    } = lowered;
    let judge = Judge::new(policy, enforcement, plan.tier, tree.iter());
    for attempt in attempts {
        let Some(predicted) = predict(plan, attempt) else {
            tally.unjudged += 1;
            continue;
        };
        let expected = judge.expect(attempt);
        tally.attempts += 1;
        tally.allowed += usize::from(expected.is_allowed());
        let excuse = judge
            .compare(attempt, predicted, &expected)
            .map_err(|why| {
                format!(
                    "the model of mounts and Landlock: {:?}: {why}\n{plan}",
                    plan.tier
                )
            })?;
        tally.excused += usize::from(excuse.is_some());
    }
    Ok(())
}

/// Lowers a policy for a tier and compares the model of its plan with the oracle.
pub(crate) fn compare_policy(
    stage: &Stage,
    policy: &CanonicalSandboxPolicy,
    attempts: &[Attempt],
    tier: Tier,
    tally: &mut Tally,
) -> Result<bool, String> {
    let Some(lowered) = lower(stage, policy, tier)? else {
        return Ok(false);
    };
    let tree = crate::case::entries(stage.workspace.parent().unwrap());
    compare(&lowered, attempts, &tree, tally)?;
    Ok(true)
}

#[test]
fn plans_for_linux_mean_what_the_oracle_says() {
    for tier in TIERS {
        let mut tally = Tally::default();
        let (mut cases, mut refused) = (0, 0);
        try_cases(150, |case, stage, policy| {
            cases += 1;
            let attempts = tries::all(stage, case.named(stage), &case.moves);
            let lowered = compare_policy(stage, policy, &attempts, tier, &mut tally)?;
            refused += usize::from(!lowered);
            Ok(())
        });
        println!("model of Linux, {tier:?}: {cases} policies, {refused} refused, {tally:?}");
        assert!(refused * 2 < cases, "{refused} of {cases}");
        assert!(tally.allowed * 5 > tally.attempts, "{tally:?}");
        assert!(tally.allowed * 5 < tally.attempts * 4, "{tally:?}");
        assert!(
            tier == Tier::Landlock || tally.excused * 5 < tally.attempts,
            "{tally:?}"
        );
    }
}
