//! What a verdict costs: one argument list against 10 to 10,000 rules, a script end to end, and loading.
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark without its data is no benchmark"
)]

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use palisade_exec_policy::language::model::Rule;
use palisade_exec_policy::language::{Layer, Source, parse};
use palisade_exec_policy::matching::{CommandFacts, PlaceFacts, Ruleset, RulesetInput, builtin};
use palisade_policy::{AbsolutePath, HostFacts, Os};
use palisade_shell_analysis::{Limits, Shell, analyze_argv, analyze_script};

const SIZES: [usize; 3] = [10, 1_000, 10_000];

fn text(rules: usize) -> String {
    let mut text = String::from("version = 1\n");
    for index in 0..rules {
        let decision = match index % 3 {
            0 => "allow",
            1 => "prompt",
            _ => "forbid",
        };
        writeln!(
            text,
            "[[rule]]\nid = \"r{index}\"\nprefix = [\"tool{}\", [\"get\", \"list{}\"], \"item{index}\"]\n\
             decision = \"{decision}\"\nwhy = \"rule {index}\"",
            index % 97,
            index % 13,
        )
        .unwrap();
    }
    text
}

fn rules(text: &str) -> Vec<Rule> {
    parse(&Source::new(Layer::User, "bench.toml", text))
        .unwrap()
        .rules
}

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

fn argv(c: &mut Criterion) {
    let place = place();
    let facts = CommandFacts::new(&place);
    for size in SIZES {
        let rules = rules(&text(size));
        let ruleset = Ruleset::compile(&RulesetInput::new(&rules));
        let hit = analyze_argv(&["tool0", "get", "item0"], &Limits::default());
        let miss = analyze_argv(&["other", "x"], &Limits::default());
        c.bench_function(&format!("argv/hit/{size}"), |b| {
            b.iter(|| ruleset.evaluate(black_box(&hit), black_box(&facts)));
        });
        c.bench_function(&format!("argv/miss/{size}"), |b| {
            b.iter(|| ruleset.evaluate(black_box(&miss), black_box(&facts)));
        });
    }
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

fn load(c: &mut Criterion) {
    let text = text(10_000);
    c.bench_function("load/toml-alone", |b| {
        b.iter(|| toml::from_str::<toml::Table>(black_box(&text)).unwrap());
    });
    c.bench_function("load/parse", |b| b.iter(|| rules(black_box(&text))));
    let parsed = rules(&text);
    c.bench_function("load/compile", |b| {
        b.iter(|| Ruleset::compile(&RulesetInput::new(black_box(&parsed))));
    });
    c.bench_function("load/parse-and-compile", |b| {
        b.iter(|| Ruleset::compile(&RulesetInput::new(&rules(black_box(&text)))));
    });
}

criterion_group!(benches, argv, script, load);
criterion_main!(benches);
