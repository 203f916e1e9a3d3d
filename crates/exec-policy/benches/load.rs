//! What loading a policy costs on top of reading its TOML. The ratio at 10,000 rules is what counts.
#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a benchmark ends where its assumption fails"
)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use palisade_exec_policy::language::{Layer, Source, load_sources, parse};
use palisade_exec_policy::matching::{Ruleset, RulesetInput};

/// Rules as people write them: some alternatives, some flags, an example each.
fn policy(rules: usize) -> String {
    let mut text = "version = 1\n".to_owned();
    for index in 0..rules {
        text.push_str(&format!(
            "[[rule]]\nid = \"rule-{index}\"\nprefix = [\"tool-{}\", [\"sub-{index}\", \"other-{index}\"]]\n\
             decision = \"{}\"\nwhy = \"Because of {index}\"\nmatch = [\"tool-{} sub-{index} x\"]\n",
            index % 100,
            ["allow", "prompt", "forbid"][index % 3],
            index % 100,
        ));
        if index % 10 == 0 {
            text.push_str("flags.forbid = [\"--output\", \"-o\"]\n");
        }
    }
    text
}

fn load(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("load");
    for rules in [10, 1_000, 10_000] {
        let text = policy(rules);
        group.throughput(Throughput::Elements(rules as u64));
        // What any program does that reads TOML, and the part of it that keeps places.
        group.bench_with_input(BenchmarkId::new("toml", rules), &text, |bencher, text| {
            bencher.iter(|| toml::from_str::<toml::Table>(black_box(text)).unwrap());
        });
        group.bench_with_input(BenchmarkId::new("places", rules), &text, |bencher, text| {
            bencher.iter(|| toml::de::DeTable::parse(black_box(text)).unwrap());
        });
        group.bench_with_input(BenchmarkId::new("policy", rules), &text, |bencher, text| {
            bencher.iter(|| {
                load_sources([Source::new(Layer::User, "rules.toml", black_box(text))]).unwrap()
            });
        });
        let source = Source::new(Layer::User, "rules.toml", text.as_str());
        let parsed = parse(&source).unwrap().rules;
        group.bench_with_input(
            BenchmarkId::new("matcher", rules),
            &parsed,
            |bencher, parsed| {
                bencher.iter(|| Ruleset::compile(&RulesetInput::new(black_box(parsed))));
            },
        );
    }
    group.finish();
}

criterion_group!(benches, load);
criterion_main!(benches);
