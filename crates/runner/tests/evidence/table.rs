//! Outputs of real tools, kept as they were, and the precision and recall of what is concluded from them.

use std::collections::BTreeSet;

use palisade_runner::outcome::Outcome;

use crate::stage::{Stage, conclusions, enforced};

struct Case {
    code: i32,
    script: String,
    wanted: Vec<String>,
    /// Denied, but nobody can tell from what was written.
    untold: usize,
    output: String,
}

fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in include_str!("outputs.txt").lines() {
        if let Some(head) = line.strip_prefix("== ") {
            let (code, script) = head.split_once(' ').unwrap();
            cases.push(Case {
                code: code.parse().unwrap(),
                script: script.to_owned(),
                wanted: Vec::new(),
                untold: 0,
                output: String::new(),
            });
        } else if let Some(case) = cases.last_mut() {
            if line.starts_with("-> !") {
                case.untold += 1;
            } else if let Some(wanted) = line.strip_prefix("-> ") {
                case.wanted.push(wanted.to_owned());
            } else if let Some(output) = line.strip_prefix('|') {
                case.output
                    .push_str(output.strip_prefix(' ').unwrap_or(output));
                case.output.push('\n');
            }
        }
    }
    cases
}

#[test]
fn what_the_policy_allows_is_never_called_a_denial_and_most_denials_are_told() {
    let stage = Stage::new();
    let policy = stage.resolve(&stage.workspace_write());
    let (mut right, mut invented, mut missed) = (0, Vec::new(), Vec::new());
    let (mut denied, mut clean) = (0, 0);
    for case in cases() {
        let outcome = Outcome::Exited { code: case.code };
        let script = stage.fill(&case.script);
        let argv: Vec<&str> = script.split(' ').collect();
        let output = stage.fill(&case.output);
        let found: BTreeSet<String> =
            conclusions(&stage, &policy, &enforced(), &argv, &outcome, &output)
                .into_iter()
                .collect();
        let wanted: BTreeSet<String> = case.wanted.iter().cloned().collect();
        match wanted.is_empty() && case.untold == 0 {
            true => clean += 1,
            false => denied += 1,
        }
        right += found.intersection(&wanted).count();
        invented.extend(
            found
                .difference(&wanted)
                .map(|found| format!("{found} from {:?}", case.output)),
        );
        missed.extend(
            wanted
                .difference(&found)
                .map(|wanted| format!("{wanted} from {:?}", case.output)),
        );
        missed.extend((0..case.untold).map(|_| String::from("known")));
    }
    eprintln!(
        "{denied} cases with a denial, {clean} without: {right} told, {} invented, {} missed",
        invented.len(),
        missed.len()
    );
    assert!(denied >= 60 && clean >= 40, "{denied} {clean}");
    assert!(invented.is_empty(), "invented:\n{}", invented.join("\n"));
    let unknown: Vec<_> = missed.iter().filter(|missed| *missed != "known").collect();
    assert!(unknown.is_empty(), "missed:\n{unknown:#?}");
}
