//! The cost of a canonical mapping, of resolving it and of one question to the oracle.
#![expect(
    clippy::unwrap_used,
    reason = "a benchmark ends where its assumption fails"
)]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use palisade_policy::{
    AbsolutePath, Access, HostFacts, NetworkAccess, Os, PolicyContext, SandboxMode, SandboxPolicy,
    WorkspaceRoot,
};

fn canonical(c: &mut Criterion) {
    let root = WorkspaceRoot::new("/srv/app").unwrap();
    let facts = HostFacts::new(Os::Linux).with_home(AbsolutePath::new("/home/dev").unwrap());
    let context = PolicyContext::new(facts, root.clone());
    let policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, NetworkAccess::Restricted);
    let canonical = policy.to_canonical_policy(&root);
    let resolved = canonical.resolve(&context).unwrap();
    let allowed = Access::Write(AbsolutePath::new("/srv/app/src/lib.rs").unwrap());
    let denied = Access::Write(AbsolutePath::new("/etc/hosts").unwrap());

    c.bench_function("map to canonical", |b| {
        b.iter(|| black_box(policy).to_canonical_policy(black_box(&root)));
    });
    c.bench_function("clone the canonical policy", |b| {
        b.iter(|| black_box(&canonical).clone());
    });
    c.bench_function("resolve", |b| {
        b.iter(|| black_box(&canonical).resolve(black_box(&context)));
    });
    c.bench_function("permit a write", |b| {
        b.iter(|| resolved.permits(black_box(&allowed)));
    });
    c.bench_function("deny a write and find its remedy", |b| {
        b.iter(|| resolved.permits(black_box(&denied)));
    });
}

criterion_group!(benches, canonical);
criterion_main!(benches);
