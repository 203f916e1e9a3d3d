//! Policy files: any bytes are one or are refused; what is one can be loaded, shown, included and formatted without
//! changing what it says; and a project that nobody trusts loosens nothing.

use palisade_exec_policy::language::{
    Anchors, Layer, LoadContext, LoadedPolicy, PolicyFile, Source, fmt, includes, load, parse,
    show_resolved,
};
use palisade_policy::{AbsolutePath, WorkspaceRoot};

const LAYERS: [Layer; 4] = [Layer::System, Layer::User, Layer::Project, Layer::Session];

/// Reads the bytes as a file of each layer.
pub fn run(data: &[u8]) {
    for layer in LAYERS {
        let source = Source::new(layer, "policy.toml", data);
        let file = match parse(&source) {
            Ok(file) => file,
            Err(errors) => {
                assert!(!errors.to_string().is_empty());
                continue;
            }
        };
        formatted(&source, &file);
        let trusted = parse(&source.trusted()).expect("trust changes nothing about the text");
        included(&file);
        let Ok(strict) = load([file.clone()], &LoadContext::new()) else {
            continue;
        };
        shown(&strict);
        if let Ok(loaded) = load([trusted], &LoadContext::new()) {
            shown(&loaded);
        }
        if file.only_tightens() {
            let nothing = load([], &LoadContext::new()).expect("no file is a policy");
            tightens(&nothing, &strict);
        }
    }
}

/// Formatted once it stays as it is, and says the same.
fn formatted(source: &Source<'_>, file: &PolicyFile) {
    let once = fmt(source).expect("a policy file can be formatted");
    let again = Source::new(file.layer, "policy.toml", &once);
    assert_eq!(
        fmt(&again).expect("what was formatted is a policy file"),
        once
    );
    let back = parse(&again).expect("what was formatted is a policy file");
    let said = |file: &PolicyFile| -> Vec<_> {
        let rules = file.rules.iter();
        rules
            .map(|rule| {
                (
                    rule.id.clone(),
                    rule.prefix.clone(),
                    rule.decision,
                    rule.unsandboxed,
                )
            })
            .collect()
    };
    assert_eq!(said(&back), said(file));
}

/// A file that includes itself, by whatever pattern, is refused and not followed without end.
fn included(file: &PolicyFile) {
    let mut context = LoadContext::new();
    for request in includes(file) {
        context = context.with_include(&request, ["policy.toml"]);
    }
    let _ = load([file.clone()], &context);
}

fn shown(policy: &LoadedPolicy) {
    assert!(!show_resolved(policy).is_empty());
    let home = AbsolutePath::new("/home/dev").expect("it is absolute");
    let project = WorkspaceRoot::new("/srv/app").expect("it can be a root");
    let anchors = Anchors {
        project: &project,
        home: Some(&home),
    };
    if let Ok(canonical) = policy.canonical(&anchors) {
        let json = serde_json::to_string(&canonical).expect("a policy can be written");
        assert_eq!(serde_json::from_str(&json).ok(), Some(canonical));
    }
}

/// What a project adds that nobody trusts: no rule that allows, nothing outside the sandbox, no network.
fn tightens(before: &LoadedPolicy, after: &LoadedPolicy) {
    for rule in after.rules() {
        assert!(!rule.unsandboxed, "{}", rule.id);
    }
    let network = |policy: &LoadedPolicy| policy.sandbox_policy();
    let (before, after) = (network(before), network(after));
    assert!(
        after.mode == before.mode || after.uses_runtime_sandbox(),
        "{after:?}"
    );
}
