//! A plan as text, for people who write policies.

use std::fmt;

use super::{EnvValue, LimitMechanism, Mount, NetworkNamespace, OverlayStore, Plan, Ruleset, Tier};
use super::{FsRights, MaskKind, NetRights, Scopes};

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Landlock => "landlock",
            Self::Full => "full",
        })
    }
}

impl fmt::Display for NetworkNamespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "the host's",
            Self::OwnLoopback => "its own, loopback only",
            Self::Nothing => "none",
            Self::Proxied => "its own, loopback with a proxy",
        })
    }
}

impl fmt::Display for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tmpfs { at, mode } => write!(f, "fresh     {at} (mode {mode:04o})"),
            Self::Devices { devices } => {
                let names: Vec<&str> = devices.iter().map(|device| device.name()).collect();
                write!(f, "devices   /dev ({})", names.join(" "))
            }
            Self::Keep {
                path,
                writable: true,
            } => write!(f, "writable  {path}"),
            Self::Keep {
                path,
                writable: false,
            } => write!(f, "readable  {path}"),
            Self::Link { at, target } => write!(f, "link      {at} -> {target}"),
            Self::Pin { path } => write!(f, "pin       {path}"),
            Self::PinLink { path } => write!(f, "pin link  {path}"),
            Self::Protect { path } => write!(f, "protect   {path}"),
            Self::Mask {
                path,
                kind: MaskKind::Directory,
            } => write!(f, "mask      {path}/"),
            Self::Mask {
                path,
                kind: MaskKind::File | MaskKind::Socket,
            } => write!(f, "mask      {path}"),
            Self::Overlay {
                path,
                store: OverlayStore::Session,
            } => write!(f, "overlay   {path} (kept in memory)"),
            Self::Overlay {
                path,
                store: OverlayStore::Directory(store),
            } => write!(f, "overlay   {path} (kept in {store})"),
        }
    }
}

impl fmt::Display for LimitMechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rlimit => "resource limit",
            Self::Cgroup => "control group",
            Self::Sampled => "measured now and then",
        })
    }
}

impl fmt::Display for Ruleset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  withheld: {}", self.handled_fs)?;
        let net = [
            (NetRights::BIND_TCP, "bind-tcp"),
            (NetRights::CONNECT_TCP, "connect-tcp"),
        ];
        let scopes = [
            (Scopes::ABSTRACT_UNIX_SOCKET, "abstract-unix-socket"),
            (Scopes::SIGNAL, "signal"),
        ];
        let net = net
            .iter()
            .filter(|(right, _)| self.handled_net.bits() & right.bits() != 0)
            .map(|(_, name)| *name);
        let scopes = scopes
            .iter()
            .filter(|(scope, _)| self.scopes.bits() & scope.bits() != 0)
            .map(|(_, name)| *name);
        let more: Vec<&str> = net.chain(scopes).collect();
        if !more.is_empty() {
            writeln!(f, "  kept inside: {}", more.join(" "))?;
        }
        for rule in &self.paths {
            writeln!(
                f,
                "  {}: {}",
                rule.path,
                words(rule.rights, self.handled_fs)
            )?;
        }
        for rule in &self.ports {
            writeln!(f, "  port {}", rule.port)?;
        }
        Ok(())
    }
}

/// Rights in few words: reading and writing as a whole, whatever else by name.
fn words(rights: FsRights, handled: FsRights) -> String {
    let (read, write) = (FsRights::READ & handled, FsRights::WRITE & handled);
    if rights == read {
        "read".to_owned()
    } else if rights == (read | write) {
        "read and write".to_owned()
    } else {
        rights.to_string()
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "tier: {}", self.tier)?;
        writeln!(f, "network: {}", self.network)?;
        if !self.placeholders.is_empty() {
            writeln!(f, "made while the session runs:")?;
            for path in &self.placeholders {
                writeln!(f, "  {path}/")?;
            }
        }
        if !self.mounts.is_empty() {
            writeln!(f, "mounts, on a read-only root:")?;
            for mount in &self.mounts {
                writeln!(f, "  {mount}")?;
            }
        }
        match &self.landlock {
            Some(ruleset) => write!(f, "landlock:\n{ruleset}")?,
            None => writeln!(f, "landlock: none")?,
        }
        self.fmt_limits(f)?;
        if !self.environment.is_empty() {
            writeln!(f, "environment:")?;
            for (name, value) in &self.environment {
                match value {
                    EnvValue::Literal(text) => writeln!(f, "  {name}={text}")?,
                    EnvValue::Unset(text) => writeln!(f, "  {name}={text} unless set")?,
                    EnvValue::InTmp(below) if below.is_empty() => {
                        writeln!(f, "  {name}=(private directory)")?;
                    }
                    EnvValue::InTmp(below) => {
                        writeln!(f, "  {name}=(private directory)/{below}")?;
                    }
                }
            }
        }
        for git in &self.git {
            writeln!(f, "git: history of {} comes back", git.git_dir)?;
        }
        let canaries: Vec<String> = self.canaries.iter().map(ToString::to_string).collect();
        writeln!(f, "must refuse a new file: {}", canaries.join(" "))
    }
}

impl Plan {
    fn fmt_limits(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limits = &self.limits;
        if limits.cpu_seconds > 0 {
            writeln!(
                f,
                "limit: {} processor seconds each process",
                limits.cpu_seconds
            )?;
        }
        if limits.file_size > 0 {
            writeln!(f, "limit: {} bytes each file", limits.file_size)?;
        }
        if let Some((pids, mechanism)) = limits.pids {
            writeln!(f, "limit: {pids} processes ({mechanism})")?;
        }
        if let Some((memory, mechanism)) = limits.memory {
            writeln!(f, "limit: {memory} bytes of memory ({mechanism})")?;
        }
        Ok(())
    }
}
