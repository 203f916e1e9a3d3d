//! Reports, losses and the only way to a plan.

use palisade_policy::{
    AcceptedLosses, CanonicalSandboxPolicy, Enforcement, GitAccess, Guarantee, Level, LimitKind,
    LimitLevel, Lowered, Measure, NetworkAllowlistEntry, PathRules, ResourceLimits,
};

use crate::support::{resolved, root, workspace};

fn everything() -> Enforcement {
    Guarantee::ALL
        .into_iter()
        .fold(Enforcement::new(), |report, guarantee| {
            report.with(guarantee, Measure::enforced("the kernel"))
        })
}

fn lowered(policy: &CanonicalSandboxPolicy, report: Enforcement) -> Lowered<&'static str> {
    Lowered::new(&resolved(policy), "plan", report)
}

#[test]
fn a_fully_enforced_plan_is_admitted() {
    let (plan, report) = lowered(&workspace(), everything())
        .admit(&AcceptedLosses::none())
        .unwrap();
    assert_eq!(plan, "plan");
    assert_eq!(report, everything());
}

#[test]
fn silence_about_a_guarantee_is_a_loss() {
    let refusal = lowered(&workspace(), Enforcement::new())
        .admit(&AcceptedLosses::none())
        .unwrap_err();
    let lost: Vec<Guarantee> = refusal.losses.iter().map(|loss| loss.guarantee).collect();
    assert_eq!(lost, resolved(&workspace()).guarantees());
    assert!(
        refusal
            .losses
            .iter()
            .all(|loss| loss.level == Level::NotEnforced)
    );
}

#[test]
fn every_loss_is_refused_until_it_is_accepted_by_name() {
    for guarantee in resolved(&workspace()).guarantees() {
        for measure in [Measure::missing("old kernel"), Measure::detected("a scan")] {
            let report = everything().with(guarantee, measure);
            let refusal = lowered(&workspace(), report.clone())
                .admit(&AcceptedLosses::none())
                .unwrap_err();
            let line = format!("--accept-loss {guarantee}");
            assert!(refusal.to_string().contains(&line), "{refusal}");
            let others = AcceptedLosses::from_iter(
                Guarantee::ALL
                    .into_iter()
                    .filter(|other| *other != guarantee),
            );
            assert!(
                lowered(&workspace(), report.clone())
                    .admit(&others)
                    .is_err()
            );
            let named = AcceptedLosses::from_iter([guarantee]);
            assert!(lowered(&workspace(), report).admit(&named).is_ok());
        }
    }
}

#[test]
fn a_policy_asks_for_what_it_says() {
    let asks = |policy: &CanonicalSandboxPolicy| resolved(policy).guarantees();
    assert_eq!(asks(&CanonicalSandboxPolicy::full_access()), []);
    assert_eq!(asks(&CanonicalSandboxPolicy::external("x")), []);
    let read_only = asks(&CanonicalSandboxPolicy::read_only());
    assert!(!read_only.contains(&Guarantee::ProtectedPaths));
    assert!(read_only.contains(&Guarantee::DeniedReads));
    assert!(asks(&workspace()).contains(&Guarantee::ProtectedPaths));
    assert!(!asks(&workspace()).contains(&Guarantee::NetworkHosts));
    let full = asks(&CanonicalSandboxPolicy::read_only_with_full_network());
    assert!(!full.contains(&Guarantee::Network));
    let list = [NetworkAllowlistEntry::https("a.test").unwrap()];
    let limited = asks(&CanonicalSandboxPolicy::read_only_with_network(list));
    assert!(limited.contains(&Guarantee::NetworkHosts) && limited.contains(&Guarantee::Network));
    let commit = workspace().with_paths(PathRules::default().with_git(GitAccess::Commit));
    assert!(asks(&commit).contains(&Guarantee::GitImport));
}

#[test]
fn limits_refuse_only_if_they_are_required() {
    let policy =
        |limits| CanonicalSandboxPolicy::workspace_write_with_limits([root("/srv/app")], limits);
    let limits = ResourceLimits::unlimited().with_memory_mb(100);
    assert!(
        lowered(&policy(limits), everything())
            .admit(&AcceptedLosses::none())
            .is_ok()
    );
    let required = policy(limits.required());
    let sampled = everything().with_limit(LimitKind::Memory, LimitLevel::Sampled);
    let refusal = lowered(&required, sampled)
        .admit(&AcceptedLosses::none())
        .unwrap_err();
    assert_eq!(refusal.limits, [LimitKind::Memory]);
    let enforced = everything().with_limit(LimitKind::Memory, LimitLevel::Enforced);
    assert!(
        lowered(&required, enforced)
            .admit(&AcceptedLosses::none())
            .is_ok()
    );
}

#[test]
fn names_of_guarantees_read_back() {
    for guarantee in Guarantee::ALL {
        assert_eq!(guarantee.name().parse(), Ok(guarantee));
        let json = serde_json::to_string(&guarantee).unwrap();
        assert_eq!(json, format!("\"{guarantee}\""));
    }
    let error = "all".parse::<Guarantee>().unwrap_err().to_string();
    assert!(
        error.starts_with("`all` is not a guarantee; the names are writes-outside,"),
        "{error}"
    );
}

#[test]
fn a_refusal_says_why_and_what_would_help() {
    let report = everything().with(
        Guarantee::ProtectedPaths,
        Measure::missing("user namespaces are switched off").cured_by("palisade setup --apply"),
    );
    let refusal = lowered(&workspace(), report)
        .admit(&AcceptedLosses::none())
        .unwrap_err();
    insta::assert_snapshot!(refusal, @r"
    the sandbox would be weaker than the policy asks
      protected-paths is not enforced here: user namespaces are switched off
        to mend it: palisade setup --apply
        to accept the loss: --accept-loss protected-paths
    ");
}
