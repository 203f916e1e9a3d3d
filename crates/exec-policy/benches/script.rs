//! What a script costs: analysis alone, and with verdicts. One argument list against many rules is for `cargo xtask bench`.
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark without its data is no benchmark"
)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use palisade_exec_policy::language::model::Rule;
use palisade_exec_policy::language::{Layer, Source, parse};
use palisade_exec_policy::matching::{CommandFacts, PlaceFacts, Ruleset, RulesetInput, builtin};
use palisade_policy::{AbsolutePath, HostFacts, Os};
use palisade_shell_analysis::{Limits, Shell, analyze_script};

fn place() -> PlaceFacts {
    let host = HostFacts::new(Os::Linux).with_home(AbsolutePath::new("/home/dev").unwrap());
    PlaceFacts::new(&AbsolutePath::new("/srv/app").unwrap(), &host)
}

fn built_in() -> Vec<Rule> {
    builtin::SOURCES
        .iter()
        .flat_map(|(name, text)| {
            parse(&Source::new(Layer::BuiltIn, *name, *text))
                .unwrap()
                .rules
        })
        .collect()
}

fn script(c: &mut Criterion) {
    let place = place();
    let facts = CommandFacts::new(&place);
    let rules = built_in();
    let ruleset = Ruleset::compile(&RulesetInput::new(&rules));
    let text = "cd src && git status -s && cargo test -p core | tail -40";
    let limits = Limits::default();
    c.bench_function("script/analyse", |b| {
        b.iter(|| analyze_script(black_box(text), Shell::Bash, &limits));
    });
    c.bench_function("script/end-to-end", |b| {
        b.iter(|| {
            let analysis = analyze_script(black_box(text), Shell::Bash, &limits);
            ruleset.evaluate(&analysis, &facts).rule_decision()
        });
    });
}

criterion_group!(benches, script);
criterion_main!(benches);
