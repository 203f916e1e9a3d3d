//! Names that are not handed on, each with the reason.

/// Why a name is in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Its value is a secret, or says where one is.
    Secret,
    /// Its value leads to a service that acts for the user outside the sandbox.
    Handle,
    /// Its value makes programs load or run code, or read other settings than the user's.
    Code,
}

/// One entry: a name in upper case, with `*` for any rest at either end.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) pattern: &'static str,
    pub(crate) kind: Kind,
}

/// Tried in this order, case folded, so that the plainest reason is given.
const TABLE: &[(Kind, &[&str])] = &[
    (Kind::Code, CODE),
    (Kind::Handle, HANDLES),
    (Kind::Secret, SECRETS),
];

const SECRETS: &[&str] = &[
    // Words that say it.
    "*TOKEN*",
    "*SECRET*",
    "*PASSWORD*",
    "*PASSWD*",
    "*PASSPHRASE*",
    "*CREDENTIAL*",
    "PASS",
    "*_PASS",
    "*_PWD",
    "SSHPASS",
    // Keys; a keyboard is none.
    "*API_KEY*",
    "*APIKEY*",
    "*ACCESS_KEY*",
    "*ACCESSKEY*",
    "*PRIVATE_KEY*",
    "*SIGNING_KEY*",
    "*ENCRYPTION_KEY*",
    "*_KEY",
    // Sessions and signatures that stand for the user.
    "*_AUTH",
    "*_AUTH_*",
    "*COOKIE*",
    "*BEARER*",
    "*_JWT",
    "*_PAT",
    "*WEBHOOK_URL*",
    // Where a password is part of the value, in one of too many forms.
    "*CONNECTION_STRING*",
    "*CONNSTR*",
    "*_DSN",
    "PGPASSFILE",
    "PGSERVICEFILE",
    // Families in which nearly everything identifies or authorises the user.
    "AWS_*",
    "AZURE_*",
    "GITHUB_*",
    "GH_*",
    "GITLAB_*",
    "GOOGLE_*",
    "OPENAI_*",
    "ANTHROPIC_*",
    "VAULT_*",
    "BW_*",
    "OP_SESSION_*",
    "ACTIONS_*",
];

const HANDLES: &[&str] = &[
    // Agents that sign and decrypt for the user.
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GPG_AGENT_INFO",
    "GNOME_KEYRING_*",
    // Buses, on which other programs can be told to run something.
    "DBUS_*",
    "AT_SPI_BUS_ADDRESS",
    "SESSION_MANAGER",
    "NOTIFY_SOCKET",
    "LISTEN_*",
    // Container and cluster daemons, most of which are root.
    "DOCKER_*",
    "CONTAINER_HOST",
    "CONTAINERD_*",
    "BUILDKIT_HOST",
    "PODMAN_*",
    "LIBVIRT_DEFAULT_URI",
    "KUBECONFIG",
    "KUBERNETES_*",
    // Displays: who can draw can also type.
    "DISPLAY",
    "WAYLAND_*",
    "XAUTHORITY",
    "ICEAUTHORITY",
    "SWAYSOCK",
    "I3SOCK",
    "HYPRLAND_INSTANCE_SIGNATURE",
    // Terminals and editors that run commands for whoever connects.
    "TMUX",
    "TMUX_*",
    "STY",
    "KITTY_LISTEN_ON",
    "WEZTERM_UNIX_SOCKET",
    "ALACRITTY_SOCKET",
    "ITERM_*",
    "NVIM",
    "NVIM_LISTEN_ADDRESS",
    "EMACS_SOCKET_NAME",
    "VSCODE_*",
];

const CODE: &[&str] = &[
    // The dynamic linker and the C library.
    "LD_*",
    "DYLD_*",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "GLIBC_TUNABLES",
    "HOSTALIASES",
    "RES_OPTIONS",
    // Shells.
    "BASH_ENV",
    "ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PROMPT_COMMAND",
    "PS4",
    "IFS",
    "CDPATH",
    "GLOBIGNORE",
    "ZDOTDIR",
    "FPATH",
    "INPUTRC",
    // Language runtimes.
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONINSPECT",
    "PYTHONBREAKPOINT",
    "PYTHONWARNINGS",
    "PYTHONUSERBASE",
    "PYTHONPLATLIBDIR",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_REPL_EXTERNAL_MODULE",
    "NPM_CONFIG_SCRIPT_SHELL",
    "NPM_CONFIG_NODE_OPTIONS",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "PERLLIB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "MAVEN_OPTS",
    "GRADLE_OPTS",
    "JULIA_LOAD_PATH",
    "LUA_INIT*",
    "LUA_PATH*",
    "LUA_CPATH*",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "R_PROFILE*",
    "R_ENVIRON*",
    "DOTNET_STARTUP_HOOKS",
    "COR_PROFILER*",
    "CORECLR_PROFILER*",
    "ERL_FLAGS",
    "ERL_AFLAGS",
    "ERL_ZFLAGS",
    // Build tools.
    "MAKEFILES",
    "MAKEFLAGS",
    "GNUMAKEFLAGS",
    "MFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC*",
    "CARGO_TARGET_*",
    "GCC_EXEC_PREFIX",
    "COMPILER_PATH",
    "GOFLAGS",
    // Git.
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_ASKPASS",
    "GIT_PROXY_COMMAND",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_CONFIG*",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    // Others that run a program they are told.
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "LESSOPEN",
    "LESSCLOSE",
    "VIMINIT",
    "EXINIT",
    "OPENSSL_CONF",
    "OPENSSL_MODULES",
    "OPENSSL_ENGINES",
    "GTK_MODULES",
    "GTK_PATH",
    "GIO_EXTRA_MODULES",
    "QT_PLUGIN_PATH",
];

/// Names that a pattern catches and that hold nothing of the kind.
const HARMLESS: &[&str] = &[
    "TOKENIZERS_PARALLELISM",
    "CARGO_TARGET_DIR",
    "SSH_AUTH_INFO",
];

/// The entry that speaks about a name, case folded.
pub(crate) fn name_rule(name: &[u8]) -> Option<Rule> {
    if HARMLESS
        .iter()
        .any(|harmless| name.eq_ignore_ascii_case(harmless.as_bytes()))
    {
        return None;
    }
    TABLE.iter().find_map(|(kind, patterns)| {
        let pattern = patterns.iter().find(|pattern| matches(pattern, name))?;
        Some(Rule {
            pattern,
            kind: *kind,
        })
    })
}

/// Whether a name is that of a secret: of a variable, a flag, a key of a mapping. Words can be joined by any of `_-.`.
pub(crate) fn is_secret_name(name: &[u8]) -> bool {
    let name: Vec<u8> = name
        .iter()
        .map(|byte| match byte {
            b'-' | b'.' => b'_',
            byte => *byte,
        })
        .collect();
    SECRETS.iter().any(|pattern| matches(pattern, &name))
}

fn matches(pattern: &str, name: &[u8]) -> bool {
    let (start, pattern) = match pattern.strip_prefix('*') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let (end, word) = match pattern.strip_suffix('*') {
        Some(rest) => (true, rest.as_bytes()),
        None => (false, pattern.as_bytes()),
    };
    let Some(spare) = name.len().checked_sub(word.len()) else {
        return false;
    };
    let at = |from: usize| {
        name.get(from..from + word.len())
            .is_some_and(|part| part.eq_ignore_ascii_case(word))
    };
    match (start, end) {
        (false, false) => spare == 0 && at(0),
        (false, true) => at(0),
        (true, false) => at(spare),
        (true, true) => (0..=spare).any(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str) -> Option<Kind> {
        name_rule(name.as_bytes()).map(|rule| rule.kind)
    }

    #[test]
    fn what_is_left_out() {
        for name in [
            "GITHUB_TOKEN",
            "npm_config__authToken",
            "DB_PASSWORD",
            "PGPASSWORD",
            "MYSQL_PWD",
            "STRIPE_KEY",
            "OPENAI_API_KEY",
            "AWS_PROFILE",
            "AWS_ACCESS_KEY_ID",
            "SSH_PRIVATE_KEY_B64",
            "CLIENT_SECRET_ID",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "SENTRY_DSN",
            "AZURE_STORAGE_CONNECTION_STRING",
            "SMTP_PASS",
        ] {
            assert_eq!(kind(name), Some(Kind::Secret), "{name}");
        }
        for name in [
            "SSH_AUTH_SOCK",
            "DBUS_SESSION_BUS_ADDRESS",
            "DOCKER_HOST",
            "KUBECONFIG",
            "TMUX",
            "DISPLAY",
        ] {
            assert_eq!(kind(name), Some(Kind::Handle), "{name}");
        }
        for name in [
            "LD_PRELOAD",
            "ld_audit",
            "BASH_ENV",
            "ENV",
            "NODE_OPTIONS",
            "GIT_SSH_COMMAND",
            "GIT_CONFIG_COUNT",
            "PERL5OPT",
        ] {
            assert_eq!(kind(name), Some(Kind::Code), "{name}");
        }
    }

    #[test]
    fn what_is_not() {
        for name in [
            "KEYBOARD",
            "KEYMAP",
            "MONKEY",
            "PWD",
            "OLDPWD",
            "EDITOR",
            "PAGER",
            "GIT_AUTHOR_NAME",
            "CARGO_HOME",
            "CARGO_TARGET_DIR",
            "TOKENIZERS_PARALLELISM",
            "PASSIVE_FTP",
            "COMPASS",
            "ENVIRONMENT",
            "NODE_ENV",
            "CI",
            "XDG_CACHE_HOME",
            "AUTHOR",
            "HOSTNAME",
            "TERM_PROGRAM",
            "NO_COLOR",
            "VIRTUAL_ENV",
            "BUILD_DIR",
        ] {
            assert_eq!(kind(name), None, "{name}");
        }
    }

    #[test]
    fn no_entry_is_listed_twice() {
        let all: Vec<_> = TABLE.iter().flat_map(|(_, list)| list.iter()).collect();
        let once: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(all.len(), once.len());
    }
}
