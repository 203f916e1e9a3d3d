//! How long a decision takes: the default table, a command that runs, a command that asks.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use palisade_exec_policy::matrix::{Case, Request, VerdictKind};
use palisade_exec_policy::{
    AskForApproval, Risk, SandboxablePreference, decide, default_exec_approval_requirement,
};
use palisade_policy::{NetworkAccess, SandboxMode, SandboxPolicy};

fn case(verdict: VerdictKind, backend_works: bool) -> Case {
    Case {
        verdict,
        preference: SandboxablePreference::Auto,
        backend_works,
        mode: SandboxMode::WorkspaceWrite,
        request: Request::Nothing,
        risk: Risk::Unknown,
        approval: AskForApproval::OnRequest,
        network: NetworkAccess::Restricted,
    }
}

fn decisions(criterion: &mut Criterion) {
    let policy = SandboxPolicy::default();
    criterion.bench_function("default table, runs", |bencher| {
        bencher.iter(|| {
            default_exec_approval_requirement(black_box(AskForApproval::Never), black_box(&policy))
        });
    });
    let runs = case(VerdictKind::Allow, true).question();
    criterion.bench_function("decide, runs", |bencher| {
        bencher.iter(|| decide(black_box(&runs)));
    });
    let asks = case(VerdictKind::Prompt, false).question();
    criterion.bench_function("decide, asks", |bencher| {
        bencher.iter(|| decide(black_box(&asks)));
    });
}

criterion_group!(benches, decisions);
criterion_main!(benches);
