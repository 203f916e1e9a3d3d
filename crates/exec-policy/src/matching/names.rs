//! File names that mean something wherever they are: secrets, keys, start-up files, devices.
//!
//! These lists are a courtesy: they turn a likely mistake into a question. The sandbox keeps the secrets.

/// Whether a name is this lower-case one, case folded.
pub(crate) fn folds_to(name: &[u8], lower: &[u8]) -> bool {
    name.eq_ignore_ascii_case(lower)
}

fn any(name: &[u8], list: &[&str]) -> bool {
    list.iter().any(|entry| folds_to(name, entry.as_bytes()))
}

fn ends(name: &[u8], list: &[&str]) -> bool {
    list.iter().any(|entry| {
        name.len() > entry.len()
            && name
                .get(name.len().saturating_sub(entry.len())..)
                .is_some_and(|tail| folds_to(tail, entry.as_bytes()))
    })
}

fn starts(name: &[u8], list: &[&str]) -> bool {
    list.iter().any(|entry| {
        name.get(..entry.len())
            .is_some_and(|head| folds_to(head, entry.as_bytes()))
    })
}

/// `.git`, also by the short name that some file systems give it.
pub(crate) fn is_git_directory(name: &[u8]) -> bool {
    any(name, &[".git", "git~1"])
}

const SECRET_NAMES: &[&str] = &[
    ".env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".vault-token",
    ".dockercfg",
    ".ssh",
    ".gnupg",
    ".aws",
    "credentials.json",
    "secrets.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.toml",
    ".secrets",
    "service-account.json",
    "kubeconfig",
    "wallet.dat",
    "master.key",
    "terraform.tfstate",
    ".boto",
    ".s3cfg",
    ".claude.json",
    "rclone.conf",
];
/// Secrets that only the directory around them tells, outside the project.
const SECRET_PAIRS: &[[&str; 2]] = &[
    [".gem", "credentials"],
    [".config", "rclone"],
    [".config", "hub"],
    [".m2", "settings.xml"],
    [".m2", "settings-security.xml"],
    [".gradle", "gradle.properties"],
];
const SECRET_ENDINGS: &[&str] = &[
    ".pem",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".ppk",
    ".key",
    ".tfvars",
];
const PUBLIC_ENDINGS: &[&str] = &[
    ".example",
    ".sample",
    ".template",
    ".dist",
    ".defaults",
    ".pub",
    ".md",
];
const KEY_NAMES: &[&str] = &[
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_ecdsa_sk",
    "id_ed25519_sk",
    "identity",
];

/// Whether a file of this name holds a secret, in whatever directory.
pub(crate) fn is_secret(name: &[u8]) -> bool {
    // Most names are none of these by their looks.
    if !name.contains(&b'.') && !starts(name, &["id_", "_netrc", "kubeconfig"]) {
        return false;
    }
    if ends(name, PUBLIC_ENDINGS) {
        return false;
    }
    any(name, SECRET_NAMES)
        || starts(name, &[".env.", ".env-", ".env_"])
        // Code says these where it reads a variable.
        || (ends(name, &[".env"]) && !any(name, &["process.env", "import.meta.env", "meta.env"]))
        || is_key_copy(name)
        || ends(name, SECRET_ENDINGS)
        || (name.first() == Some(&b'.') && ends(name, &["_history"]))
        || (any(name, KEY_NAMES) && !folds_to(name, b"identity"))
}

/// `id_rsa.bak`.
fn is_key_copy(name: &[u8]) -> bool {
    KEY_NAMES.iter().any(|key| {
        starts(name, &[key])
            && !folds_to(key.as_bytes(), b"identity")
            && matches!(name.get(key.len()), Some(b'.' | b'~' | b'-'))
    })
}

/// Secrets outside the project that two names next to each other tell.
pub(crate) fn is_secret_pair(path: &[&[u8]]) -> bool {
    path.windows(2).any(|window| {
        SECRET_PAIRS.iter().any(|pair| {
            pair.iter()
                .zip(window)
                .all(|(entry, name)| folds_to(name, entry.as_bytes()))
        })
    })
}

/// Secrets of the system that only their path tells.
pub(crate) fn is_system_secret(path: &[&[u8]]) -> bool {
    match path {
        [etc, rest @ ..] if folds_to(etc, b"etc") => rest.iter().any(|name| {
            starts(name, &["shadow", "gshadow", "sudoers", "ssh_host_"])
                || any(name, &["security", "krb5.keytab"])
        }),
        [proc, _, rest @ ..] if folds_to(proc, b"proc") => rest.iter().any(|name| {
            any(
                name,
                &[
                    "environ", "mem", "cmdline", "maps", "root", "cwd", "fd", "auxv",
                ],
            )
        }),
        [proc, kcore] if folds_to(proc, b"proc") => any(kcore, &["kcore", "kallsyms", "kmsg"]),
        [dev, rest @ ..] if folds_to(dev, b"dev") => !harmless_device(rest),
        [run, ..] if folds_to(run, b"run") => true,
        [var, run, ..] if folds_to(var, b"var") && folds_to(run, b"run") => true,
        [root, ..] if folds_to(root, b"root") => true,
        _ => false,
    }
}

/// A private key or credential store. Some names count only outside the project.
pub(crate) fn is_private_key(path: &[&[u8]], outside: bool) -> bool {
    let Some(last) = path.last() else {
        return false;
    };
    if any(last, KEY_NAMES) && !folds_to(last, b"identity") {
        return true;
    }
    if let [etc, name, ..] = path
        && folds_to(etc, b"etc")
        && starts(name, &["shadow", "gshadow"])
    {
        return true;
    }
    if !outside {
        return false;
    }
    let below = |directory: &[u8]| {
        path.iter()
            .position(|name| folds_to(name, directory))
            .and_then(|at| path.get(at.saturating_add(1)..))
    };
    let open = |name: &[u8]| {
        ends(name, &[".pub"])
            || any(
                name,
                &[
                    "known_hosts",
                    "config",
                    "authorized_keys",
                    "known_hosts.old",
                ],
            )
    };
    if let Some(rest) = below(b".ssh") {
        return rest.first().is_none_or(|name| !open(name));
    }
    if let Some(rest) = below(b".aws") {
        return rest.first().is_none_or(|name| !any(name, &["config"]));
    }
    below(b".gnupg").is_some()
        || below(b".password-store").is_some()
        || below(b"keychains").is_some()
        || below(b"keyrings").is_some()
        || any(
            last,
            &[
                ".netrc",
                ".git-credentials",
                ".pgpass",
                ".vault-token",
                ".pypirc",
            ],
        )
}

const SYSTEM_DIRECTORIES: &[&str] = &[
    "applications",
    "bin",
    "boot",
    "dev",
    "etc",
    "home",
    "lib",
    "lib32",
    "lib64",
    "library",
    "mnt",
    "nix",
    "opt",
    "private",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "sys",
    "system",
    "users",
    "usr",
    "var",
    "volumes",
    "windows",
    "c:",
    "media",
];
const BELOW_SYSTEM: &[&str] = &[
    "usr", "var", "etc", "boot", "lib", "system", "library", "private", "sys", "proc", "dev",
];

/// The root of the file system or a directory that the system needs.
pub(crate) fn is_system_directory(path: &[&[u8]]) -> bool {
    match path {
        [] => true,
        [only] => any(only, SYSTEM_DIRECTORIES),
        [top, _] => any(top, BELOW_SYSTEM) || any(top, &["home", "users"]),
        _ => false,
    }
}

const STARTUP_NAMES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".inputrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".pam_environment",
    ".gitconfig",
    ".vimrc",
    ".exrc",
    ".emacs",
    ".tmux.conf",
    ".screenrc",
    ".pythonrc",
    ".npmrc",
    ".pypirc",
    ".curlrc",
    ".wgetrc",
    ".gdbinit",
    ".lldbinit",
    ".psqlrc",
    ".irbrc",
    ".pryrc",
    ".condarc",
    ".forward",
];
const STARTUP_BELOW_HOME: &[&[&str]] = &[
    &[".ssh"],
    &[".config", "fish"],
    &[".config", "autostart"],
    &[".config", "systemd"],
    &[".config", "git"],
    &[".config", "nvim"],
    &[".config", "environment.d"],
    &[".cargo", "config"],
    &[".cargo", "config.toml"],
    &[".cargo", "bin"],
    &[".local", "bin"],
    &["bin"],
    &["library", "launchagents"],
    &[".vim"],
    &[".emacs.d"],
    &[".gnupg"],
    &[".config", "palisade"],
    &[".oh-my-zsh"],
    &[".local", "share", "systemd"],
    &[".pip"],
    &[".config", "pip"],
    &[".m2"],
    &[".gradle"],
    &[".docker"],
    &[".kube"],
    &[".aws"],
];
const STARTUP_ETC: &[&str] = &[
    "profile",
    "profile.d",
    "bash.bashrc",
    "bashrc",
    "zsh",
    "zshrc",
    "zprofile",
    "zshenv",
    "environment",
    "crontab",
    "cron.d",
    "cron.daily",
    "cron.hourly",
    "cron.weekly",
    "cron.monthly",
    "systemd",
    "init.d",
    "rc.local",
    "ld.so.preload",
    "ld.so.conf",
    "ld.so.conf.d",
    "sudoers",
    "sudoers.d",
    "passwd",
    "shadow",
    "group",
    "gshadow",
    "pam.d",
    "ssh",
    "hosts",
    "resolv.conf",
    "nsswitch.conf",
    "gitconfig",
    "udev",
    "modprobe.d",
    "security",
    "apt",
    "xdg",
    "launchd.conf",
    "paths",
    "paths.d",
    "fstab",
    "inittab",
    "polkit-1",
];

/// A file that shells, git or the system run or obey by themselves.
pub(crate) fn is_startup_file(path: &[&[u8]], below_home: Option<&[&[u8]]>, outside: bool) -> bool {
    let listed = |below: &[&[u8]]| {
        STARTUP_BELOW_HOME.iter().any(|entry| {
            below.len() >= entry.len()
                && entry
                    .iter()
                    .zip(below)
                    .all(|(entry, name)| folds_to(name, entry.as_bytes()))
        })
    };
    if below_home.is_some_and(listed) {
        return true;
    }
    if outside && path.last().is_some_and(|name| any(name, STARTUP_NAMES)) {
        return true;
    }
    if outside && path.iter().any(|name| folds_to(name, b".ssh")) {
        return true;
    }
    match path {
        [etc, name, ..] if folds_to(etc, b"etc") => any(name, STARTUP_ETC),
        [var, spool, cron, ..] => {
            folds_to(var, b"var") && folds_to(spool, b"spool") && any(cron, &["cron", "at"])
        }
        _ => false,
    }
}

fn harmless_device(below_dev: &[&[u8]]) -> bool {
    below_dev.first().is_some_and(|name| {
        any(
            name,
            &[
                "null", "zero", "full", "stdin", "stdout", "stderr", "tty", "fd", "random",
                "urandom", "ptmx", "pts", "shm",
            ],
        )
    })
}

/// A device that is not harmless to write.
pub(crate) fn is_device(path: &[&[u8]]) -> bool {
    match path {
        [dev, rest @ ..] if folds_to(dev, b"dev") => !rest.is_empty() && !harmless_device(rest),
        _ => false,
    }
}
