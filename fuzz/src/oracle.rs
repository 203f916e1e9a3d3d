//! The oracle: any policy that resolves answers any access without panicking, and its remedies help.

use palisade_policy::Grant;

use crate::random_policy::Input;

/// Asks a random policy about a random access.
pub fn run(data: &[u8]) {
    let Some(input) = crate::structured::<Input>(data) else {
        return;
    };
    let (Some(policy), Some(context), Some(access)) =
        (input.policy(), input.context(), input.what.access())
    else {
        return;
    };
    let Ok(resolved) = policy.resolve(&context) else {
        return;
    };
    let verdict = resolved.permits(&access);
    assert!(!verdict.to_string().is_empty());
    assert!(!verdict.is_allowed() || verdict.remedy.is_none());
    if let Some(grant) = verdict.remedy {
        let allows = |grant: &Grant| {
            let granted = policy.clone().with_grant(grant)?.resolve(&context)?;
            Ok::<_, palisade_policy::PolicyError>(granted.permits(&access).is_allowed())
        };
        assert_eq!(
            allows(&grant),
            Ok(true),
            "{grant} does not help with {access}"
        );
    }
}
