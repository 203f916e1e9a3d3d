//! What somebody hostile would try, one attempt each: a workspace that was prepared, a path that goes and comes back, the
//! terminal of another program, an operation that no rule names.

use palisade_policy::{
    AbsolutePath, AcceptedLosses, Backend as _, CanonicalSandboxPolicy, Guarantee, HostFacts, Os,
    PathCase, PathRules, PathSpec, PolicyContext, PrivatePlaces, RelativePath, WorkspaceRoot,
};
use palisade_seatbelt::host::{Entry, Located, SandboxExec};
use palisade_seatbelt::model::{Model, Precedence, Request, SystemCall, known_operations};
use palisade_seatbelt::profile::Operation;
use palisade_seatbelt::{MacHost, Seatbelt, survey};

use crate::disk::abs;
use crate::subject::compile;

const SESSION: &str = "/private/var/folders/x/session";
const ROOT: &str = "/Users/dev/app";

/// A profile, whole and with either half of its defences.
struct Judge([Model; 3]);

impl Judge {
    /// A policy with these rules for a workspace, lowered where paths are as this says.
    fn of(
        rules: PathRules,
        sensitive: bool,
        locate: impl Fn(&AbsolutePath) -> Option<Located>,
    ) -> Self {
        let cwd = WorkspaceRoot::new(ROOT).unwrap();
        let policy = match sensitive {
            true => CanonicalSandboxPolicy::workspace_write([cwd.clone()]),
            false => CanonicalSandboxPolicy::workspace_write_no_sensitive_blocking([cwd.clone()]),
        };
        let facts = HostFacts::new(Os::Macos)
            .with_home(abs("/Users/dev"))
            .with_uid(501);
        let context = PolicyContext::new(facts, cwd)
            .with_private(PrivatePlaces::default().with_overlays([abs(SESSION)]));
        let policy = policy.with_paths(rules).resolve(&context).unwrap();
        let mut host = MacHost::new(SandboxExec::Works).with_session_tmp(abs(SESSION));
        for path in survey::paths(&policy) {
            let located =
                locate(&path).unwrap_or_else(|| Located::new(path.clone(), Entry::Directory));
            host = host.with_place(path, located);
        }
        let all: AcceptedLosses = Guarantee::ALL.into_iter().collect();
        let lowered = Seatbelt.lower(&policy, &host).unwrap();
        let profile = lowered.admit(&all).unwrap().0.profile;
        Self([
            compile(&profile),
            compile(&profile.without_denies()),
            compile(&profile.without_carves()),
        ])
    }

    /// Whether somebody says yes: either model of precedence, about the whole or about either half.
    fn may(&self, request: &Request) -> bool {
        let decide = |model: &Model| {
            Precedence::ALL
                .map(|precedence| model.decide(request, precedence).unwrap().is_allowed())
        };
        self.0.iter().any(|model| decide(model).contains(&true))
    }

    /// Whether everybody says yes to the whole.
    fn must(&self, request: &Request) -> bool {
        Precedence::ALL
            .into_iter()
            .all(|precedence| self.0[0].decide(request, precedence).unwrap().is_allowed())
    }

    fn may_call(&self, call: &SystemCall) -> bool {
        call.requests().iter().all(|request| self.may(request))
    }
}

fn about(operation: &str, path: &str) -> Request {
    let operation = known_operations()
        .find(|known| known.name() == operation)
        .unwrap();
    Request::new(operation).at(abs(path))
}

/// What somebody types elsewhere is read by whoever opens that terminal first.
#[test]
fn the_terminals_of_other_programs_are_not_opened() {
    let profile = Judge::of(PathRules::default(), true, |_| None);
    for path in ["/dev/ttys000", "/dev/ttys123"] {
        for operation in ["file-read-data", "file-write-data"] {
            let request = about(operation, path);
            assert!(!profile.may(&request), "{operation} {path}");
            let own = request.with_extension("com.apple.sandbox.pty");
            assert!(profile.must(&own), "{operation} {path}");
        }
        // Which terminal this is may be asked.
        assert!(profile.must(&about("file-read-metadata", path)));
    }
    assert!(profile.must(&about("file-read-data", "/dev/null")));
}

/// Where a pattern begins behind a link, the link decides what the pattern is about.
#[test]
fn a_link_on_the_way_to_a_pattern_stays_what_it_is() {
    let conf = abs("/Users/dev/app/conf");
    let real = abs("/Users/dev/app/real");
    let rules = PathRules::default()
        .with_protected([])
        .with_read_only([PathSpec::parse("/Users/dev/app/conf/*.key").unwrap()]);
    let profile = Judge::of(rules, false, |path| {
        // A pattern is kept in small letters where case does not matter.
        let is_conf =
            path.covers(&conf, PathCase::Insensitive) && conf.covers(path, PathCase::Insensitive);
        is_conf.then(|| Located::new(real.clone(), Entry::Directory).through(vec![conf.clone()]))
    });
    let key = abs("/Users/dev/app/real/a.key");
    assert!(!profile.may_call(&SystemCall::OpenForWriting(key)));
    assert!(!profile.may_call(&SystemCall::Unlink(conf.clone())));
    let aside = SystemCall::Rename {
        from: conf,
        to: abs("/Users/dev/app/aside"),
        replaces: false,
    };
    assert!(!profile.may_call(&aside));
}

/// A link that the workspace spells otherwise than the policy is found by the policy's name, and known to the kernel by its
/// own.
#[test]
fn a_link_is_kept_in_place_however_it_is_spelled() {
    let link = abs("/Users/dev/app/.vscode");
    let real = abs("/Users/dev/app/settings");
    let rules = PathRules::default().with_protected([RelativePath::new(".vscode").unwrap()]);
    let profile = Judge::of(rules, false, |path| {
        (*path == link)
            .then(|| Located::new(real.clone(), Entry::Directory).through(vec![link.clone()]))
    });
    for spelled in [
        "/Users/dev/app/.vscode",
        "/Users/dev/app/.VSCODE",
        "/Users/dev/app/.VsCode",
    ] {
        let spelled = abs(spelled);
        for call in [
            SystemCall::Unlink,
            SystemCall::MakeDirectory,
            SystemCall::MakeSymlink,
        ] {
            let call = call(spelled.clone());
            assert!(!profile.may_call(&call), "{call:?}");
        }
    }
}

/// Operations that nobody needs to name: what is guarded is guarded under each that is known.
#[test]
fn no_operation_about_files_reaches_what_is_guarded() {
    let rules = PathRules::default()
        .with_protected([RelativePath::new(".git").unwrap()])
        .with_deny_read([PathSpec::parse("/Users/dev/app/secret").unwrap()]);
    let profile = Judge::of(rules, true, |_| None);
    let is_write = |operation: &Operation| {
        let name = operation.name();
        name.starts_with("file-")
            && !name.starts_with("file-read")
            && !["file-test-existence", "file-map-executable"].contains(&name)
    };
    let mut asked = 0;
    for operation in known_operations() {
        let name = operation.name().to_owned();
        let touches = name.starts_with("file") || name.starts_with("process-exec");
        if !touches {
            continue;
        }
        for below in ["", "/x", "/x/y"] {
            asked += 1;
            for secret in ["/Users/dev/app/secret", "/Users/dev/.ssh"] {
                let request = Request::new(operation.clone()).at(abs(&format!("{secret}{below}")));
                assert!(!profile.may(&request), "{name} {secret}{below}");
            }
            for protected in ["/Users/dev/app/.git", "/Users/dev/.zshrc", "/Library"] {
                let request =
                    Request::new(operation.clone()).at(abs(&format!("{protected}{below}")));
                if is_write(&operation) {
                    assert!(!profile.may(&request), "{name} {protected}{below}");
                }
            }
        }
        // What holds them is not moved or replaced, and no second names are made of anything.
        if ["file-write-unlink", "file-write-create"].contains(&name.as_str()) {
            let request = Request::new(operation.clone()).at(abs(ROOT));
            assert!(!profile.may(&request), "{name} {ROOT}");
        }
        if [
            "file-link",
            "file-clone",
            "file-mknod",
            "file-mount",
            "file-issue-extension",
        ]
        .contains(&name.as_str())
        {
            let request = Request::new(operation).at(abs("/Users/dev/app/x"));
            assert!(!profile.may(&request), "{name}");
        }
    }
    assert!(asked > 60, "{asked}");
}

/// What runs code elsewhere, or asks somebody who does, is open to nobody.
#[test]
fn no_way_leads_out_through_somebody_else() {
    let profile = Judge::of(PathRules::default(), true, |_| None);
    for operation in [
        "appleevent-send",
        "authorization-right-obtain",
        "device-camera",
        "device-microphone",
        "distributed-notification-post",
        "file-chroot",
        "file-mount",
        "fs-snapshot-mount",
        "generic-issue-extension",
        "hid-control",
        "ipc-posix-shm-write-data",
        "ipc-sysv-shm",
        "job-creation",
        "lsopen",
        "mach-priv-task-port",
        "mach-register",
        "mach-task-read",
        "mach-task-special-port-set",
        "nvram-set",
        "opendirectory-user-modify",
        "sysctl-write",
        "system-privilege",
        "system-fsctl",
        "user-preference-write",
    ] {
        let request = about(operation, "/Users/dev/app");
        assert!(!profile.may(&request), "{operation}");
    }
}
