//! What one analysis costs: a usual script, one argument list, and text that is opaque.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use palisade_shell_analysis::{Limits, Shell, analyze_argv, analyze_script};

fn analyze(criterion: &mut Criterion) {
    let limits = Limits::default();
    let four = "cd crates/core && cargo test -p core 2>&1 | tail -40; git status --short";
    criterion.bench_function("script/four-commands", |bencher| {
        bencher.iter(|| analyze_script(black_box(four), Shell::Bash, &limits));
    });
    let forty = [four; 10].join("\n");
    criterion.bench_function("script/forty-commands", |bencher| {
        bencher.iter(|| analyze_script(black_box(&forty), Shell::Bash, &limits));
    });
    let argv = ["git", "status", "--short"];
    criterion.bench_function("argv/one-command", |bencher| {
        bencher.iter(|| analyze_argv(black_box(&argv), &limits));
    });
    let inline = ["bash", "-lc", four];
    criterion.bench_function("argv/inline-script", |bencher| {
        bencher.iter(|| analyze_argv(black_box(&inline), &limits));
    });
    let opaque = "for f in a b c; do x=$(wc -l \"$f\") && echo \"$x\" >> out; done\n".repeat(16);
    criterion.bench_function("script/opaque-1-KiB", |bencher| {
        bencher.iter(|| analyze_script(black_box(&opaque), Shell::Bash, &limits));
    });
}

criterion_group!(benches, analyze);
criterion_main!(benches);
