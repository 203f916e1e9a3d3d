//! What a plan enforces: a line for each guarantee, with the mechanism, and why and what would help where it is lost.

use palisade_policy::{
    Enforcement, GitAccess, Guarantee, LoopbackAccess, Measure, NetworkScope, ResolvedPolicy,
};

use super::areas::Areas;
use super::edits::{Built, Unguarded, WhyUnguarded};
use crate::acl::Rights;
use crate::host::{Entry, Residue, SecondNames, WindowsHost};
use crate::plan::Purpose;

const WRITES: &str = "write-restricted token, tried before it is used";
const ENTRIES: &str = "entries that deny, in access lists";
const NO_SOCKETS: &str = "a restricted token does not restrict sockets";
/// What would restrict more. Neither is built yet, and a report does not promise it.
const STRONGER: &str = "an AppContainer, or an account of its own with filters that an administrator installs; neither is built yet";

/// The report of a plan.
pub(super) fn report(
    policy: &ResolvedPolicy,
    host: &WindowsHost,
    areas: &Areas,
    built: &Built,
) -> Enforcement {
    let lost = |why: &str| Measure::missing(why).cured_by(STRONGER);
    let network = match policy.canonical().network() {
        NetworkScope::Full => Measure::missing("the policy opens the network"),
        NetworkScope::Off | NetworkScope::Only(_) => lost(NO_SOCKETS),
    };
    let hosts = match policy.canonical().network() {
        NetworkScope::Full => Measure::missing("the policy opens the whole network"),
        NetworkScope::Off | NetworkScope::Only(_) => lost(NO_SOCKETS),
    };
    let report = Enforcement::new()
        .with(Guarantee::WritesOutside, writes_outside(host, built))
        .with(
            Guarantee::ProtectedPaths,
            protected(policy, host, areas, built),
        )
        .with(
            Guarantee::DeniedReads,
            lost("the second check of a write-restricted token is only for writing"),
        )
        .with(
            Guarantee::MetadataOutside,
            lost(
                "it is documented nowhere which rights on an object count as writing, or whether a file outside can be \
                 given a second name; the token is tried for changing a file, its attributes, its access list and its \
                 owner, which proves it for files only",
            ),
        )
        .with(Guarantee::Network, network)
        .with(Guarantee::NetworkHosts, hosts)
        .with(
            Guarantee::UnixSockets,
            lost(
                "named pipes and remote calls of other programs on this machine can be reached, and what those do when \
                 they are asked, such as a scheduled task, is not restricted",
            ),
        )
        .with(
            Guarantee::ProcessIsolation,
            lost(
                "other processes of the same user can be seen, read and ended; that the token cannot change one is tried \
                 on the process that starts the session, and on no other",
            ),
        )
        .with(
            Guarantee::TreeKill,
            Measure::enforced("job that ends with its last handle, without a way out"),
        )
        .with(Guarantee::GitImport, git_import(policy))
        .with(
            Guarantee::SystemCalls,
            Measure::missing("Windows has no filter for the system calls of any program"),
        );
    notes(policy, host, areas, built, report)
}

fn writes_outside(host: &WindowsHost, built: &Built) -> Measure {
    if let Some(volume) = host.volumes_without_acls.first() {
        return Measure::missing(format!(
            "files on {volume} have no access lists, so whoever reaches them may write there"
        ))
        .cured_by(format!(
            "take {volume} away, or use a file system that keeps access lists, such as NTFS"
        ));
    }
    if let Some(place) = built.open_volumes.first() {
        return Measure::missing(format!(
            "{place} is on a volume without access lists, so everything there may be written"
        ))
        .cured_by("use a file system that keeps access lists, such as NTFS");
    }
    if let Some(path) = host.null_dacls.first() {
        return Measure::missing(format!(
            "{path} has no access list at all, so everybody may change it, restricted or not"
        ))
        .cured_by(format!("give {path} an access list"));
    }
    if let SecondNames::Found { count, example } = &host.second_names {
        return Measure::missing(format!(
            "{count} files in writable places have a second name, such as {example}: each has one access list, so it is \
             opened by both names"
        ))
        .cured_by("replace each by a copy of its own");
    }
    // A command can give a file outside a second name in its workspace, as far as anybody has shown, and when the next
    // session opens that, the file is open.
    let looked = host.second_names == SecondNames::None;
    // Seen by others on real machines, and never by us to be refused: files whose directory the user controls in full.
    let sees_children = host
        .second_check
        .is_some_and(|seen| seen.contains(Rights::CHANGES));
    if !sees_children {
        return Measure::missing(
            "nothing outside can be opened for writing or made by its path, but what lies in a directory that the user \
             controls in full can be deleted, renamed or moved into a writable place: the second check was seen not to \
             ask about that right. Nor is anything held that others write when they are asked: services, scheduled tasks, servers \
             of files",
        )
        .cured_by(STRONGER);
    }
    if !looked {
        return Measure::missing(
            "nobody looked for files with a second name: one that lies in a writable place and also outside is opened by \
             both names, and an earlier command may have made it",
        )
        .cured_by("look for them when the host is surveyed");
    }
    Measure::enforced(WRITES)
}

fn protected(policy: &ResolvedPolicy, host: &WindowsHost, areas: &Areas, built: &Built) -> Measure {
    let case = policy.context().facts.case;
    let closed = || areas.places.iter().filter(|(_, area)| !area.writable);
    let open = host.null_dacls.iter().find(|path| {
        closed().any(|(place, _)| place.covers(path, case) || path.covers(place, case))
    });
    if let Some(path) = open {
        return Measure::missing(format!(
            "{path} has no access list at all, so everybody may change it, and remove what it holds"
        ))
        .cured_by(format!("give {path} an access list"));
    }
    let holds_more = built.edits.iter().any(|edit| {
        edit.purpose == Purpose::Protected
            && areas
                .places
                .get(&edit.path)
                .is_some_and(|area| area.located.entry == Entry::Directory)
    });
    if let Residue::Found { count, example } = &host.residue {
        return Measure::missing(format!(
            "{count} objects in what is protected, such as {example}, have entries of their own that open them to \
             commands; an earlier one made them so"
        ))
        .cured_by("let them have only what they inherit, as with `icacls PATH /reset`");
    }
    if let Some(unguarded) = built.unguarded.first() {
        let (why, cure) = explain(unguarded);
        let more = match built.unguarded.len() {
            0 | 1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        return Measure::missing(format!("{why}{more}")).cured_by(cure);
    }
    if let Some(glob) = areas.truncated.first() {
        return Measure::missing(format!(
            "{glob} covers more files than are looked at, so some matches may be open"
        ))
        .cured_by("name the directories that hold them, or a narrower pattern");
    }
    let read_only = policy
        .read_only()
        .iter()
        .filter(|matcher| matcher.is_glob())
        .map(ToString::to_string)
        .find(|glob| areas.open_globs.contains(glob));
    if let Some(glob) = read_only {
        return Measure::missing(format!(
            "{glob} keeps what matched when the session began; what matches later can be written"
        ))
        .cured_by("name the paths instead of a pattern");
    }
    if holds_more && host.residue == Residue::Unknown {
        return Measure::missing(
            "not everything in what is protected was looked at, and what an earlier command made there can have entries \
             of its own that open it",
        )
        .cured_by("protect directories with fewer files in them");
    }
    Measure::enforced(ENTRIES)
}

/// Why something is open, and what would help.
fn explain(unguarded: &Unguarded) -> (String, String) {
    let path = &unguarded.path;
    match &unguarded.why {
        WhyUnguarded::Missing => (
            format!("{path} does not exist, and what does not exist has no access list"),
            format!("create {path}"),
        ),
        WhyUnguarded::NoAcls => (
            format!("{path} is on a volume without access lists"),
            "use a file system that keeps access lists, such as NTFS".to_owned(),
        ),
        WhyUnguarded::ForeignAcl => (
            format!("the access list of {path} cannot be changed by this user"),
            format!("let the owner of {path} grant that, or become its owner"),
        ),
        WhyUnguarded::Linked(real) => (
            format!("{path} leads to {real} through a link, and the link can be replaced"),
            format!("put {path} where it is named, or name {real}"),
        ),
    }
}

fn git_import(policy: &ResolvedPolicy) -> Measure {
    let asked = policy
        .canonical()
        .rules()
        .is_some_and(|(rules, _)| rules.git == GitAccess::Commit);
    match asked {
        true => Measure::missing(
            "a git directory cannot be overlaid here: it is read-only, and nothing comes back",
        ),
        false => Measure::enforced("nothing comes back"),
    }
}

fn notes(
    policy: &ResolvedPolicy,
    host: &WindowsHost,
    areas: &Areas,
    built: &Built,
    mut report: Enforcement,
) -> Enforcement {
    if built.unguarded.len() > 1 {
        for unguarded in built.unguarded.iter().skip(1) {
            report = report.with_note(format!("also open: {}", explain(unguarded).0));
        }
    }
    if !areas.open_globs.is_empty() {
        report = report.with_note(
            "patterns guard what matches when the session starts; what matches later is neither prevented nor reported",
        );
    }
    if host.second_names == SecondNames::Unknown {
        report = report.with_note(
            "nobody looked for files with a second name: one that lies in a writable place and also outside is opened \
             by both names",
        );
    }
    if host.session_tmp.is_none() {
        report = report.with_note("there is no directory for temporary files: TEMP is left alone");
    }
    let local = policy.canonical().rules().map(|(_, local)| local);
    if local.is_some_and(|local| local.loopback != LoopbackAccess::Host) {
        report = report.with_note("the loopback is the host's: there is no other");
    }
    if policy.canonical().resource_limits().max_disk_mb > 0 {
        report =
            report.with_note("what is written is not counted: the limit on the disk is not kept");
    }
    report
        .with_note("the null device cannot be opened for writing unless an administrator adds the logon session to its access list")
        .with_note("a pipe whose access list names only the user cannot be opened for writing by the command itself")
}
