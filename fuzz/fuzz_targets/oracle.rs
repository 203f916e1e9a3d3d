//! The oracle: any policy that resolves answers any access without panicking, and its remedies help.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use palisade_policy::{
    AbsolutePath, Access, CanonicalSandboxPolicy, HostFacts, HostName, Os, Peer, PolicyContext,
    PrivatePlaces, Protocol, UnixAddress, WorkspaceRoot,
};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    policy: &'a str,
    cwd: &'a str,
    private: bool,
    what: u8,
    first: &'a str,
    second: &'a str,
    port: u16,
}

impl Input<'_> {
    fn access(&self) -> Option<Access> {
        let first = || AbsolutePath::new(self.first).ok();
        Some(match self.what % 9 {
            0 => Access::Read(first()?),
            1 => Access::Write(first()?),
            2 => Access::Create(first()?),
            3 => Access::Delete(first()?),
            4 => Access::Rename {
                from: first()?,
                to: AbsolutePath::new(self.second).ok()?,
            },
            5 => Access::Execute(first()?),
            6 => Access::Connect {
                host: HostName::parse(self.first).ok()?,
                port: self.port,
                protocol: Protocol::Tcp,
            },
            7 => Access::Bind {
                host: HostName::parse(self.first).ok()?,
                port: self.port,
            },
            _ => Access::Unix {
                address: UnixAddress::Path(first()?),
                peer: Peer::Host,
            },
        })
    }
}

fuzz_target!(|input: Input<'_>| {
    let Ok(policy) = serde_json::from_str::<CanonicalSandboxPolicy>(input.policy) else {
        return;
    };
    let (Ok(cwd), Some(access)) = (WorkspaceRoot::new(input.cwd), input.access()) else {
        return;
    };
    let home = AbsolutePath::new("/home/dev").expect("a constant");
    let mut context = PolicyContext::new(HostFacts::new(Os::Linux).with_home(home), cwd);
    if input.private {
        context = context.with_private(PrivatePlaces::all());
    }
    let Ok(resolved) = policy.resolve(&context) else {
        return;
    };
    let verdict = resolved.permits(&access);
    assert!(!verdict.to_string().is_empty());
    if let Some(grant) = verdict.remedy {
        let granted = policy
            .with_grant(&grant)
            .and_then(|policy| policy.resolve(&context));
        let allowed = granted.is_ok_and(|policy| policy.permits(&access).is_allowed());
        assert!(allowed, "{grant} does not help");
    }
});
