//! Where the things of a stage are, as `KEY=VALUE` arguments of a probe.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// What can stand behind a key.
trait Value: Sized {
    fn read(text: &OsStr) -> Option<Self>;
    fn write(&self) -> OsString;
}

impl Value for PathBuf {
    fn read(text: &OsStr) -> Option<Self> {
        Some(text.into())
    }
    fn write(&self) -> OsString {
        self.clone().into_os_string()
    }
}

impl Value for String {
    fn read(text: &OsStr) -> Option<Self> {
        text.to_str().map(str::to_owned)
    }
    fn write(&self) -> OsString {
        self.into()
    }
}

macro_rules! number {
    ($($type:ty)*) => {$(
        impl Value for $type {
            fn read(text: &OsStr) -> Option<Self> {
                text.to_str()?.parse().ok()
            }
            fn write(&self) -> OsString {
                self.to_string().into()
            }
        }
    )*};
}
number!(i32 u16 u32 u64);

macro_rules! site {
    ($($(#[$doc:meta])* $key:ident: $type:ty,)*) => {
        /// Where the things of a stage are. What is absent is empty or zero.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Site {
            $($(#[$doc])* pub $key: $type,)*
        }

        impl Site {
            /// As arguments.
            #[must_use]
            pub fn arguments(&self) -> Vec<OsString> {
                let mut all = Vec::new();
                $(
                    let mut argument = OsString::from(concat!(stringify!($key), "="));
                    argument.push(Value::write(&self.$key));
                    all.push(argument);
                )*
                all
            }

            fn set(&mut self, key: &str, value: &OsStr) -> bool {
                match key {
                    $(stringify!($key) => Value::read(value).map(|value| self.$key = value).is_some(),)*
                    _ => false,
                }
            }
        }
    };
}

site! {
    /// In the command line of every process of this run, and of no other.
    token: String,
    /// The writable root, with a repository.
    workspace: PathBuf,
    /// A second writable root, without a repository.
    plain: PathBuf,
    /// What the command has no business to write.
    outside: PathBuf,
    /// The user's home.
    home: PathBuf,
    /// Sockets of services, below `/run` where that can be written.
    run: PathBuf,
    /// A server on 127.0.0.1.
    tcp4: u16,
    /// A server on ::1.
    tcp6: u16,
    /// A datagram server on 127.0.0.1.
    udp4: u16,
    /// A datagram server on ::1.
    udp6: u16,
    /// A server on 169.254.169.254, in a network namespace of the test.
    metadata: u16,
    /// The name of a server's abstract socket.
    abstract_name: String,
    /// A port of 127.0.0.1 that nobody listens on, and that the stage tries.
    knock: u16,
    /// A socket file that appears after the launch, for the probe that asks for it.
    late: PathBuf,
    /// A file that appears when the run is over, for the probes that wait for it.
    over: PathBuf,
    /// A terminal of the same user.
    terminal: PathBuf,
    /// A System V message queue of the same user.
    messages: i32,
    /// A process of the same user.
    victim: i32,
    /// Where the victim keeps its secret.
    victim_memory: u64,
    /// The victim's descriptor of a file with its secret.
    victim_file: i32,
    /// A descriptor of a file outside, open for writing, that was not closed.
    leaked_file: i32,
    /// A descriptor of a file with a secret that was not closed.
    leaked_secret: i32,
    /// A connected socket that was not closed.
    leaked_socket: i32,
    /// A segment of shared memory of the same user.
    segment: i32,
    /// How many processes or threads to start; the limit under test must be lower.
    processes: u32,
    /// How many MiB to touch; the limit under test must be lower.
    memory: u64,
    /// How large a file to make, in MiB; the limit under test must be lower.
    file_size: u64,
    /// How many seconds of processor time to use; the limit under test must be lower.
    cpu: u64,
}

impl Site {
    /// Reads arguments.
    ///
    /// # Errors
    /// The argument that is not `KEY=VALUE` with a known key and a fitting value.
    pub fn parse(arguments: &[OsString]) -> Result<Self, OsString> {
        let mut site = Self::default();
        for argument in arguments {
            let bytes = argument.as_encoded_bytes();
            let good = bytes
                .iter()
                .position(|byte| *byte == b'=')
                .and_then(|at| argument.to_str().map(|text| text.split_at(at)))
                .is_some_and(|(key, value)| {
                    site.set(key, OsStr::new(value.strip_prefix('=').unwrap_or(value)))
                });
            if !good {
                return Err(argument.clone());
            }
        }
        Ok(site)
    }
}

#[cfg(test)]
mod tests {
    use super::Site;

    #[test]
    fn a_site_is_read_back() {
        let site = Site {
            token: "t1".to_owned(),
            workspace: "/srv/app with=sign".into(),
            victim: -4,
            memory: 7,
            ..Site::default()
        };
        assert_eq!(Site::parse(&site.arguments()).unwrap(), site);
    }

    #[test]
    fn nonsense_is_named() {
        for bad in ["victim=x", "nokey", "other=1"] {
            assert_eq!(Site::parse(&[bad.into()]).unwrap_err(), bad);
        }
    }
}
