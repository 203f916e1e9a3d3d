//! The table of programs: names separated by blanks, case folded and without versions.

use super::programs::Kind::{
    Destructive, Flat, Interpreter, Network, Runner, Shell, Subcommands, Wrapper,
};
use super::programs::{Kind, Subs};

const NODE_PACKAGES: Subs = Subs {
    open: "explore config set edit node init create publish unpublish adduser login token start-env \
            workspace",
    runs: "exec x dlx",
    group: "run run-script rum urn workspaces cache dist-tag pkg",
};

const PYTHON_ENVIRONMENTS: Subs = Subs {
    open: "shell config publish init",
    runs: "run x",
    group: "self env tool pip python cache source script",
};

const CONTAINERS: Subs = Subs {
    open: "run exec attach create build buildx cp commit load import plugin machine unshare debug kube",
    runs: "",
    group: "compose container image volume network system context builder manifest swarm service stack pod",
};

const CLOUD: Subs = Subs {
    open: "ssh run console configure exec alias extension",
    runs: "",
    group: "",
};

/// Programs by what they are.
pub(crate) const PROGRAMS: &[(Kind, &str)] = &[
    (
        Shell,
        "sh bash dash zsh ksh mksh pdksh rksh ash csh tcsh fish rbash elvish nu nushell xonsh ion oil osh ysh \
            rc es yash posh pwsh powershell powershell_ise cmd command.com wsl eval source . exec trap alias \
            builtin enable export set shopt declare typeset readonly unset mapfile readarray",
    ),
    (
        Interpreter,
        "python pythonw py pypy ipython bpython jython micropython node nodejs ts-node tsx esr jiti \
            babel-node vite-node zx qjs d8 electron ruby irb pry jruby rake perl raku php php-cgi phpdbg hhvm \
            lua luajit osascript jsc julia rscript r tclsh wish expect guile racket scheme chez csi sbcl clisp \
            ecl clojure clj bb babashka lein elixir iex erl escript mix ghci runghc runhaskell stack ocaml utop \
            swift scala scala-cli kotlin groovy groovysh jshell java javaw jrunscript dotnet-script fsi csharp \
            mono octave matlab maxima gnuplot gp awk gawk mawk nawk original-awk sed gsed ed ex vi vim vimdiff \
            gvim view nvim emacs emacsclient nano pico micro helix hx kak less more most man info gdb lldb \
            rust-gdb rust-lldb dlv pdb sqlite psql mysql mariadb mongosh mongo redis-cli sqlplus sqlcmd duckdb \
            clickhouse cscript wscript mshta rundll32 regsvr32 msbuild installutil tcc wasmtime wasmer qemu \
            nix-shell nix-build guix ansible ansible-playbook terraform-console m4 bc dc xslt jupyter marimo \
            streamlit coffee crystal nim dart gjs swipl gforth pike hy fennel janet execlineb",
    ),
    (
        Wrapper,
        "env genv sudo doas su runuser pkexec gosu su-exec sudoedit runas xargs gxargs find gfind fd fdfind \
            parallel nice ionice timeout gtimeout nohup stdbuf gstdbuf setsid command time gtime watch script \
            scriptreplay flock strace ltrace dtrace dtruss perf chroot unshare nsenter setpriv capsh bwrap \
            firejail systemd-run busybox toybox taskset chrt numactl caffeinate start-stop-daemon daemonize at \
            batch crontab tmux screen dtach abduco zellij entr watchexec nodemon chokidar onchange concurrently \
            npm-run-all run-s run-p dotenv cross-env env-cmd direnv with-contenv dumb-init tini xvfb-run \
            dbus-run-session ssh-agent gpg-agent fakeroot proot valgrind rr hyperfine coproc noglob nocorrect \
            repeat ssh mosh slogin rsh rlogin telnet sshpass autossh adb vagrant open xdg-open start explorer \
            code git-shell cargo-watch bacon just task tox nox invoke fab honcho foreman overmind supervisord \
            pm2 forever mprocs rlwrap prlimit chronic ccache distcc sccache proxychains proxychains4 torsocks \
            setarch linux64 linux32 i386 x86_64 sg runcon chpst softlimit envdir setuidgid choom systemd-nspawn \
            unbuffer sem tsp nq xterm kitty konsole gnome-terminal alacritty ld ld.so tar gtar bsdtar zip cc gcc \
            clang c++ g++ clang++",
    ),
    (
        Destructive,
        "rm grm rmdir unlink del erase rd shred srm dd mkfs mke2fs fdisk parted wipefs truncate chmod chown \
            chgrp chattr setfacl kill killall pkill taskkill mount umount losetup reboot shutdown halt poweroff \
            init telinit systemctl service launchctl sc iptables nft ufw insmod rmmod modprobe sysctl useradd \
            userdel usermod passwd visudo chpasswd reg regedit bcdedit diskutil defaults diskpart format \
            vssadmin tee ln install mv cp patch",
    ),
    (
        Network,
        "curl wget aria2c http https httpie xh nc ncat netcat socat scp sftp ftp tftp lftp rsync rclone \
            openssl certutil bitsadmin nmap dig nslookup host whois mail sendmail mutt ngrok cloudflared",
    ),
    (Runner, "npx pnpx bunx uvx pipx-run nvm-exec"),
    (
        Subcommands(Subs {
            open: "config filter-branch difftool mergetool instaweb daemon shell upload-pack receive-pack \
            upload-archive send-email svn p4 clone init hook maintenance update-index credential var fast-import \
            rebase",
            runs: "",
            group: "submodule bisect remote worktree stash lfs notes subtree sparse-checkout bundle reflog",
        }),
        "git",
    ),
    (Subcommands(NODE_PACKAGES), "npm pnpm yarn cnpm tnpm"),
    (
        Subcommands(Subs {
            open: "run eval repl task x serve install compile jupyter init upgrade",
            runs: "",
            group: "",
        }),
        "deno",
    ),
    (
        Subcommands(Subs {
            open: "run x exec create init upgrade repl",
            runs: "",
            group: "pm",
        }),
        "bun",
    ),
    (
        Subcommands(Subs {
            open: "run r install script miri watch xtask make config publish login owner yank init new fuzz uninstall \
            +nightly",
            runs: "",
            group: "nextest",
        }),
        "cargo",
    ),
    (
        Subcommands(Subs {
            open: "run default self override",
            runs: "",
            group: "toolchain component target show",
        }),
        "rustup",
    ),
    (
        Subcommands(Subs {
            open: "run generate tool env install",
            runs: "",
            group: "mod work",
        }),
        "go",
    ),
    (
        Subcommands(Subs {
            open: "run exec script fsi tool new watch",
            runs: "",
            group: "nuget",
        }),
        "dotnet",
    ),
    (
        Subcommands(PYTHON_ENVIRONMENTS),
        "uv poetry pdm hatch rye pipenv pixi",
    ),
    (
        Subcommands(Subs {
            open: "runpip inject install",
            runs: "run",
            group: "",
        }),
        "pipx",
    ),
    (
        Subcommands(Subs {
            open: "config",
            runs: "",
            group: "cache",
        }),
        "pip",
    ),
    (
        Subcommands(Subs {
            open: "config init",
            runs: "run",
            group: "env",
        }),
        "conda mamba micromamba",
    ),
    (
        Subcommands(Subs {
            open: "config console open plugin init",
            runs: "exec",
            group: "",
        }),
        "bundle bundler",
    ),
    (
        Subcommands(Subs {
            open: "exec push install",
            runs: "",
            group: "",
        }),
        "gem",
    ),
    (
        Subcommands(Subs {
            open: "exec run-script run config global create-project",
            runs: "",
            group: "",
        }),
        "composer",
    ),
    (Subcommands(CONTAINERS), "docker podman nerdctl"),
    (
        Subcommands(Subs {
            open: "run exec up create build",
            runs: "",
            group: "",
        }),
        "docker-compose podman-compose",
    ),
    (
        Subcommands(Subs {
            open: "exec run cp debug attach proxy port-forward edit plugin config delete apply create replace patch",
            runs: "",
            group: "rollout auth top",
        }),
        "kubectl oc k3s k0s minikube",
    ),
    (
        Subcommands(Subs {
            open: "plugin install upgrade",
            runs: "",
            group: "repo",
        }),
        "helm",
    ),
    (
        Subcommands(Subs {
            open: "apply destroy console import init",
            runs: "",
            group: "state workspace",
        }),
        "terraform tofu terragrunt pulumi",
    ),
    (
        Subcommands(Subs {
            open: "api alias extension config secret auth codespace cs ssh-key gpg-key",
            runs: "",
            group: "pr issue repo run workflow release gist cache label project ruleset search variable org",
        }),
        "gh glab hub",
    ),
    (
        Subcommands(CLOUD),
        "aws gcloud az doctl heroku fly flyctl vercel netlify wrangler firebase",
    ),
    (
        Subcommands(Subs {
            open: "run shell develop repl eval build profile copy",
            runs: "",
            group: "flake store",
        }),
        "nix",
    ),
    (
        Subcommands(Subs {
            open: "shell activate use plugin env settings",
            runs: "exec x",
            group: "run tasks",
        }),
        "mise asdf rtx volta fnm nvm pyenv rbenv nodenv sdk proto",
    ),
    (
        Subcommands(Subs {
            open: "sh ruby irb edit exec create",
            runs: "",
            group: "services",
        }),
        "brew",
    ),
    (
        Subcommands(Subs {
            open: "edit-sources moo",
            runs: "",
            group: "",
        }),
        "apt apt-get dnf yum apk zypper pacman port choco scoop winget snap flatpak",
    ),
    (
        Subcommands(Subs {
            open: "",
            runs: "",
            group: "",
        }),
        "make gmake ninja nmake mage bazel bazelisk buck buck2 pants gradle gradlew mvn mvnw ant sbt mill \
            cmake meson xcodebuild zig rush ng vue-cli-service artisan symfony django-admin manage.py flask hg svn \
            sl bzr fossil darcs pijul",
    ),
    (
        Subcommands(Subs {
            open: "exec",
            runs: "",
            group: "run",
        }),
        "turbo nx lerna moon",
    ),
    (
        Subcommands(Subs {
            open: "runner r console c dbconsole db",
            runs: "",
            group: "",
        }),
        "rails",
    ),
    (
        Subcommands(Subs {
            open: "config",
            runs: "",
            group: "util git op operation bookmark workspace",
        }),
        "jj",
    ),
    (
        Flat,
        "ls cat head tail wc grep egrep fgrep rg ag sort uniq cut tr diff cmp comm stat file tree du df pwd \
            echo printf date whoami id uname which type basename dirname realpath readlink test true false seq \
            jq yq pytest mypy ruff black flake8 isort pylint pyright eslint prettier tsc vitest jest mocha \
            rustfmt clippy-driver gofmt golangci-lint shellcheck shfmt clang-format clang-tidy hadolint \
            markdownlint taplo typos actionlint mkdir touch sha256sum md5sum nproc hostname uptime ps sleep \
            tokei cloc stylelint biome py.test rspec rubocop",
    ),
];

/// Subcommands that run anything, whatever the program, unless the table knows better.
pub(crate) const OPEN_SUBCOMMANDS: &str =
    "run exec shell console runner r repl tinker devenv eval script x dlx dbshell runmain";

/// Interpreters whose modules may be kept by name, because the module alone decides what they do.
pub(crate) const MODULES: &str = "pytest unittest mypy black ruff flake8 isort pylint pyright build compileall tabnanny pydoc \
            json.tool pip_audit bandit mkdocs sphinx";

/// Options whose value is code, whatever the program.
pub(crate) const CODE_OPTIONS: &str = "-c -e -E -lc -ic -ec -xc -lic -cl -ne -pe -r -x -exec -execdir -ok -command -encodedcommand -enc \
            -file --eval --exec --execute --command --cmd --run --print --expression --script --shell \
            --init-command --pre --rcfile --init-file --require --import --loader --exec-path --config \
            --upload-pack --receive-pack --rsh --use-compress-program --to-command --checkpoint-action /c /k /r";
