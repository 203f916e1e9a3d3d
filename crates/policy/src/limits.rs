//! Resource limits. Zero means unlimited.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::{LimitError, PolicyError};

/// How much memory, time, disk and how many processes a command may use; 0 is unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "RawLimits")]
#[non_exhaustive]
pub struct ResourceLimits {
    /// Memory of the whole process tree, in MiB.
    pub max_memory_mb: u64,
    /// Processes alive at once.
    pub max_pids: u32,
    /// Bytes written, in MiB.
    pub max_disk_mb: u64,
    /// Processor time, in seconds.
    pub cpu_time_secs: u64,
    /// Wall-clock time, in seconds.
    pub timeout_secs: u64,
    /// Whether a limit that cannot be enforced refuses the run, instead of being reported.
    pub required: bool,
}

/// Seconds that still fit in 64 bits as milliseconds.
const MAX_SECONDS: u64 = u64::MAX / 1000;
/// MiB that still fit in 63 bits as bytes: the kernel counts many limits in signed numbers.
const MAX_MEGABYTES: u64 = (u64::MAX / 2) >> 20;

impl ResourceLimits {
    const fn preset(
        max_memory_mb: u64,
        max_pids: u32,
        max_disk_mb: u64,
        cpu_time_secs: u64,
        timeout_secs: u64,
    ) -> Self {
        Self {
            max_memory_mb,
            max_pids,
            max_disk_mb,
            cpu_time_secs,
            timeout_secs,
            required: false,
        }
    }

    /// No limit at all.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self::preset(0, 0, 0, 0, 0)
    }

    /// For small tools.
    #[must_use]
    pub const fn conservative() -> Self {
        Self::preset(512, 64, 1024, 60, 120)
    }

    /// For tests of a small project.
    #[must_use]
    pub const fn moderate() -> Self {
        Self::preset(2048, 256, 4096, 300, 600)
    }

    /// For builds of a large project.
    #[must_use]
    pub const fn generous() -> Self {
        Self::preset(8192, 1024, 16384, 0, 3600)
    }

    /// With this memory limit, in MiB.
    #[must_use]
    pub const fn with_memory_mb(self, max_memory_mb: u64) -> Self {
        Self {
            max_memory_mb,
            ..self
        }
    }

    /// With this number of processes.
    #[must_use]
    pub const fn with_pids(self, max_pids: u32) -> Self {
        Self { max_pids, ..self }
    }

    /// With this disk limit, in MiB.
    #[must_use]
    pub const fn with_disk_mb(self, max_disk_mb: u64) -> Self {
        Self {
            max_disk_mb,
            ..self
        }
    }

    /// With this processor time, in seconds.
    #[must_use]
    pub const fn with_cpu_secs(self, cpu_time_secs: u64) -> Self {
        Self {
            cpu_time_secs,
            ..self
        }
    }

    /// With this wall-clock time, in seconds.
    #[must_use]
    pub const fn with_timeout_secs(self, timeout_secs: u64) -> Self {
        Self {
            timeout_secs,
            ..self
        }
    }

    /// With every limit required to be enforced.
    #[must_use]
    pub const fn required(self) -> Self {
        Self {
            required: true,
            ..self
        }
    }

    /// The wall-clock limit, if there is one.
    #[must_use]
    pub const fn wall(&self) -> Option<Duration> {
        match self.timeout_secs {
            0 => None,
            seconds => Some(Duration::from_secs(seconds)),
        }
    }

    /// Checks that every limit can be counted in bytes and milliseconds.
    ///
    /// # Errors
    /// Names the first field that overflows, and its value.
    pub fn check(&self) -> Result<(), PolicyError> {
        let fields = [
            ("max_memory_mb", self.max_memory_mb, MAX_MEGABYTES),
            ("max_disk_mb", self.max_disk_mb, MAX_MEGABYTES),
            ("cpu_time_secs", self.cpu_time_secs, MAX_SECONDS),
            ("timeout_secs", self.timeout_secs, MAX_SECONDS),
        ];
        match fields.into_iter().find(|(_, value, max)| value > max) {
            Some((field, value, max)) => Err(PolicyError::at(field, LimitError { value, max })),
            None => Ok(()),
        }
    }
}

impl Default for ResourceLimits {
    /// Five minutes of wall-clock time, otherwise unlimited.
    fn default() -> Self {
        Self::unlimited().with_timeout_secs(300)
    }
}

/// Limits as they are written, before they are checked; what is left out keeps its default.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawLimits {
    max_memory_mb: u64,
    max_pids: u32,
    max_disk_mb: u64,
    cpu_time_secs: u64,
    timeout_secs: u64,
    required: bool,
}

impl Default for RawLimits {
    fn default() -> Self {
        let ResourceLimits {
            max_memory_mb,
            max_pids,
            max_disk_mb,
            cpu_time_secs,
            timeout_secs,
            required,
        } = ResourceLimits::default();
        Self {
            max_memory_mb,
            max_pids,
            max_disk_mb,
            cpu_time_secs,
            timeout_secs,
            required,
        }
    }
}

impl TryFrom<RawLimits> for ResourceLimits {
    type Error = PolicyError;

    fn try_from(raw: RawLimits) -> Result<Self, PolicyError> {
        let limits = Self {
            max_memory_mb: raw.max_memory_mb,
            max_pids: raw.max_pids,
            max_disk_mb: raw.max_disk_mb,
            cpu_time_secs: raw.cpu_time_secs,
            timeout_secs: raw.timeout_secs,
            required: raw.required,
        };
        limits.check()?;
        Ok(limits)
    }
}
