//! Gives up every privilege, for good: what init and its commands cannot do, nobody can make them do.

use rustix::io::Errno;
use rustix::process::DumpableBehavior;
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, capabilities,
    clear_ambient_capability_set, set_capabilities, set_capabilities_secure_bits, set_no_new_privs,
};

use super::{During, Failed};
use crate::step::Step;

/// Capabilities, new privileges and inspection by others: gone.
pub(super) fn renounce() -> Result<(), Failed> {
    drop_capabilities().during(Step::Capabilities)?;
    set_no_new_privs(true).during(Step::NoNewPrivileges)?;
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable).during(Step::Capabilities)
}

/// Capabilities kept in the session's own user namespace could undo its mounts, also under Landlock.
///
/// One call to the secure bits takes the place of emptying the bounding set: with them locked, user 0 means nothing to
/// exec, and with `no_new_privs` neither does a file. System calls only, so that it can run between fork and exec.
pub(super) fn drop_capabilities() -> Result<(), Errno> {
    let none = CapabilitySet::empty();
    let mut bits = CapabilitiesSecureBits::empty();
    for bit in [
        CapabilitiesSecureBits::NO_ROOT,
        CapabilitiesSecureBits::NO_ROOT_LOCKED,
        CapabilitiesSecureBits::NO_SETUID_FIXUP,
        CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED,
        CapabilitiesSecureBits::KEEP_CAPS_LOCKED,
        CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE,
        CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED,
    ] {
        bits |= bit;
    }
    let held = capabilities(None)?;
    match set_capabilities_secure_bits(bits) {
        Ok(()) => {}
        // Whoever has nothing cannot lock anything. Nor can it gain anything at exec: under `no_new_privs`, which every
        // caller of this sets next, the kernel gives user 0 no more than it had. Root in another sandbox is such a one.
        Err(Errno::PERM) if held.permitted.is_empty() => {}
        Err(errno) => return Err(errno),
    }
    clear_ambient_capability_set()?;
    set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )?;
    let left = capabilities(None)?;
    if left.effective.is_empty() && left.permitted.is_empty() && left.inheritable.is_empty() {
        Ok(())
    } else {
        Err(Errno::NOTRECOVERABLE)
    }
}
