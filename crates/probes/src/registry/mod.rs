//! Every probe by name, with what is expected of it.
//!
//! The tables build on every system; only Linux has something to run.

/// The function of a probe, where there is one to run.
macro_rules! attempt {
    ($($function:tt)+) => {{
        #[cfg(target_os = "linux")]
        {
            Some(crate::$($function)+ as fn(&crate::Site) -> crate::Report)
        }
        #[cfg(not(target_os = "linux"))]
        {
            None
        }
    }};
}

mod devices;
mod files;
mod kernel;
mod metadata;
mod network;
mod processes;
mod protected;
mod rarer;
mod resources;
mod secrets;
mod unix;
mod useful;

use crate::probe::{Alone, Class, Expected, Mode, Probe};

static TABLES: [&[Probe]; 12] = [
    files::PROBES,
    rarer::PROBES,
    protected::PROBES,
    metadata::PROBES,
    secrets::PROBES,
    devices::PROBES,
    network::PROBES,
    unix::PROBES,
    processes::PROBES,
    kernel::PROBES,
    resources::PROBES,
    useful::PROBES,
];

/// Every probe, class by class.
pub fn all() -> impl Iterator<Item = &'static Probe> {
    TABLES.iter().copied().flatten()
}

/// The probe of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Probe> {
    all().find(|probe| probe.name == name)
}

const NO_CAPABILITY: Alone = Alone::Cannot("needs a capability that an ordinary user has not");

const LANDLOCK_CANNOT_CARVE: Expected =
    Expected::Residue("Landlock cannot take back a part of a writable root");

/// A row that nothing in this crate can try.
const fn elsewhere(
    class: Class,
    number: u16,
    name: &'static str,
    mode: Mode,
    about: &'static str,
    why: &'static str,
) -> Probe {
    Probe::new(class, Some(number), name, mode, about, None)
        .full(Expected::NotApplicable(why))
        .landlock(Expected::NotApplicable(why))
        .alone(Alone::NotRun(why))
}
