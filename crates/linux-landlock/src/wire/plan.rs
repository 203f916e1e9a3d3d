//! The plan on its way to the helper.

use palisade_policy::AbsolutePath;

use super::codec::{Malformed, Reader, Wire, wire_struct};
use crate::host::CgroupSupport;
use crate::plan::{
    Device, EnvValue, FsRights, GitOverlay, LimitMechanism, Limits, MaskKind, Mount, NetRights,
    NetworkNamespace, OverlayStore, PathRule, Plan, PortRule, Ruleset, Scopes, Tier,
};
use crate::seccomp::{Filter, Instruction};

/// Implements [`Wire`] for an enum without data: the index in the list.
macro_rules! wire_choice {
    ($type:ty: $($variant:path),* $(,)?) => {
        impl Wire for $type {
            fn put(&self, out: &mut Vec<u8>) {
                let known = [$($variant),*];
                let index = known.iter().position(|choice| choice == self);
                index.and_then(|index| u8::try_from(index).ok()).unwrap_or(u8::MAX).put(out);
            }

            fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
                let known = [$($variant),*];
                let index = usize::from(u8::take(reader)?);
                known.get(index).copied().ok_or(Malformed)
            }
        }
    };
}

wire_choice!(Tier: Tier::Landlock, Tier::Full);
wire_choice!(NetworkNamespace: NetworkNamespace::Host, NetworkNamespace::OwnLoopback, NetworkNamespace::Nothing, NetworkNamespace::Proxied);
wire_choice!(LimitMechanism: LimitMechanism::Rlimit, LimitMechanism::Cgroup, LimitMechanism::Sampled);
wire_choice!(MaskKind: MaskKind::Directory, MaskKind::File, MaskKind::Socket);
wire_choice!(Device: Device::Null, Device::Zero, Device::Full, Device::Random, Device::Urandom, Device::Tty);

wire_struct!(Limits {
    cpu_seconds,
    file_size,
    pids,
    memory
});
wire_struct!(CgroupSupport { pids, memory });
wire_struct!(GitOverlay {
    common_dir,
    git_dir
});
wire_struct!(PathRule { path, rights });
wire_struct!(PortRule { port, rights });
wire_struct!(Ruleset {
    handled_fs,
    handled_net,
    scopes,
    paths,
    ports
});
wire_struct!(Instruction { code, jt, jf, k });
wire_struct!(Plan {
    tier,
    network,
    placeholders,
    mounts,
    landlock,
    filter,
    limits,
    cgroups,
    environment,
    canaries,
    git,
    private_tmpdir,
});

impl Wire for FsRights {
    fn put(&self, out: &mut Vec<u8>) {
        self.bits().put(out);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        u64::take(reader).map(Self::from_bits)
    }
}

impl Wire for NetRights {
    fn put(&self, out: &mut Vec<u8>) {
        self.bits().put(out);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        u64::take(reader).map(Self)
    }
}

impl Wire for Scopes {
    fn put(&self, out: &mut Vec<u8>) {
        self.bits().put(out);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        u64::take(reader).map(Self)
    }
}

impl Wire for Filter {
    fn put(&self, out: &mut Vec<u8>) {
        self.instructions().to_vec().put(out);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Vec::take(reader).map(Self::from_instructions)
    }
}

impl Wire for EnvValue {
    fn put(&self, out: &mut Vec<u8>) {
        let (tag, text) = match self {
            Self::Literal(text) => (0_u8, text),
            Self::InTmp(text) => (1, text),
            Self::Unset(text) => (2, text),
        };
        tag.put(out);
        text.put(out);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        match u8::take(reader)? {
            0 => String::take(reader).map(Self::Literal),
            1 => String::take(reader).map(Self::InTmp),
            2 => String::take(reader).map(Self::Unset),
            _ => Err(Malformed),
        }
    }
}

impl Wire for OverlayStore {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Session => None,
            Self::Directory(path) => Some(path.clone()),
        }
        .put(out);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match <Option<AbsolutePath> as Wire>::take(reader)? {
            None => Self::Session,
            Some(path) => Self::Directory(path),
        })
    }
}

impl Wire for Mount {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Tmpfs { at, mode } => {
                0_u8.put(out);
                at.put(out);
                mode.put(out);
            }
            Self::Devices { devices } => {
                1_u8.put(out);
                devices.put(out);
            }
            Self::Keep { path, writable } => {
                2_u8.put(out);
                path.put(out);
                writable.put(out);
            }
            Self::Link { at, target } => {
                3_u8.put(out);
                at.put(out);
                target.put(out);
            }
            Self::Pin { path } => {
                4_u8.put(out);
                path.put(out);
            }
            Self::PinLink { path } => {
                5_u8.put(out);
                path.put(out);
            }
            Self::Protect { path } => {
                6_u8.put(out);
                path.put(out);
            }
            Self::Mask { path, kind } => {
                7_u8.put(out);
                path.put(out);
                kind.put(out);
            }
            Self::Overlay { path, store } => {
                8_u8.put(out);
                path.put(out);
                store.put(out);
            }
        }
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match u8::take(reader)? {
            0 => Self::Tmpfs {
                at: Wire::take(reader)?,
                mode: Wire::take(reader)?,
            },
            1 => Self::Devices {
                devices: Wire::take(reader)?,
            },
            2 => Self::Keep {
                path: Wire::take(reader)?,
                writable: Wire::take(reader)?,
            },
            3 => Self::Link {
                at: Wire::take(reader)?,
                target: Wire::take(reader)?,
            },
            4 => Self::Pin {
                path: Wire::take(reader)?,
            },
            5 => Self::PinLink {
                path: Wire::take(reader)?,
            },
            6 => Self::Protect {
                path: Wire::take(reader)?,
            },
            7 => Self::Mask {
                path: Wire::take(reader)?,
                kind: Wire::take(reader)?,
            },
            8 => Self::Overlay {
                path: Wire::take(reader)?,
                store: Wire::take(reader)?,
            },
            _ => return Err(Malformed),
        })
    }
}
