//! What a command names on its command line, put to the oracle: `palisade why` says the same about it.

use std::ffi::OsString;
use std::path::Path;

use palisade::Sandbox;
use palisade::runner::policy::{AbsolutePath, Access, HomeRoot, PolicyContext};

/// How many are told.
const MOST: usize = 3;

/// The arguments that name something which is there and which the policy does not let anybody read, each with its clause.
pub(super) fn denied(argv: &[OsString], cwd: &Path, sandbox: &Sandbox) -> Vec<String> {
    let context = PolicyContext::new(sandbox.host().facts.clone(), sandbox.workspace().clone())
        .with_home_root(HomeRoot::Allow);
    let Ok(policy) = sandbox.policy().resolve(&context) else {
        return Vec::new();
    };
    let arguments = argv.iter().skip(1);
    let real = arguments.filter_map(|word| std::fs::canonicalize(cwd.join(word)).ok());
    real.filter_map(|path| AbsolutePath::new(path).ok())
        .map(Access::Read)
        .filter_map(|access| {
            let verdict = policy.permits(&access);
            (!verdict.is_allowed()).then(|| format!("{access}: {}", verdict.clause))
        })
        .take(MOST)
        .collect()
}
