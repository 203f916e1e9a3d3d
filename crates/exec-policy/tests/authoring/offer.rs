//! Which prefixes may be kept, and which one is proposed.

use palisade_exec_policy::approvals::{Refused, may_offer, propose};
use proptest::prelude::*;

pub(crate) fn words(command: &str) -> Vec<&str> {
    command.split(' ').filter(|word| !word.is_empty()).collect()
}

#[test]
fn prefixes_that_grant_everything_are_refused() {
    let refused = [
        // Shells and what they are called.
        "sh",
        "bash",
        "zsh",
        "dash",
        "fish",
        "/bin/sh",
        "/usr/bin/bash",
        "bash -c",
        "bash -lc",
        "bash -x",
        "BASH",
        "bash.exe",
        "zsh -ic",
        "ksh -c ls",
        "bash scripts",
        "pwsh",
        "pwsh -Command",
        "powershell.exe -EncodedCommand",
        "cmd",
        "cmd /c",
        "cmd.exe /c dir",
        "eval",
        "source",
        ".",
        "exec ls",
        // Interpreters, versions, paths, endings, case.
        "python",
        "python3",
        "python3.11",
        "python3.13t",
        "PYTHON",
        "/usr/bin/python3",
        "/opt/x/python",
        "python.exe",
        "python -m",
        "python -c",
        "python -m runpy",
        "python -m pdb",
        "python -m http.server",
        "python -m timeit",
        "python3 script.py",
        "python3 -u",
        "python -m pip",
        "py -3",
        "pypy3 -m",
        "node",
        "node -e",
        "node -p",
        "nodejs",
        "node18",
        "node script.js",
        "ts-node",
        "tsx",
        "ruby",
        "ruby -e",
        "ruby3.2 -e",
        "perl",
        "perl -e",
        "perl5.36 -ne",
        "php -r",
        "php8.1",
        "lua5.4 -e",
        "deno",
        "deno run",
        "deno eval",
        "deno task",
        "bun",
        "bun run",
        "bun x",
        "bun -e",
        "osascript -e",
        "Rscript -e",
        "julia -e",
        "awk",
        "gawk",
        "sed",
        "sed -n",
        "vim",
        "vim -c",
        "less",
        "gdb",
        "sqlite3",
        "psql -c",
        "java",
        "java -jar",
        "tclsh",
        "expect",
        "irb",
        "elixir -e",
        "erl -eval",
        "swift",
        // Wrappers.
        "env",
        "env FOO=1 python",
        "env FOO=1 ls",
        "env -S",
        "sudo",
        "sudo -u x bash",
        "sudo ls",
        "doas",
        "su -c",
        "xargs",
        "xargs ls",
        "find",
        "find . -name x",
        "find . -exec",
        "timeout 5",
        "timeout 5 ls",
        "nice",
        "nohup",
        "stdbuf -oL",
        "setsid",
        "command",
        "time",
        "watch",
        "script -c",
        "parallel",
        "strace",
        "chroot",
        "unshare",
        "busybox",
        "busybox sh",
        "toybox ls",
        "systemd-run",
        "tmux",
        "ssh",
        "ssh host",
        "flock",
        "valgrind",
        "just",
        "task build",
        // Programs with subcommands, bare or open.
        "git",
        "git -c",
        "git -C",
        "git --git-dir=x",
        "git config",
        "git submodule",
        "git submodule foreach",
        "git bisect",
        "git bisect run",
        "git rebase",
        "git remote set-url",
        "git filter-branch",
        "git difftool",
        "/usr/bin/git",
        "GIT",
        "npm",
        "npm run",
        "npm run -s",
        "npm exec",
        "npm x",
        "npm explore",
        "npm config",
        "npm --prefix",
        "pnpm",
        "pnpm run",
        "pnpm dlx",
        "pnpm exec",
        "pnpm exec node",
        "yarn",
        "yarn run",
        "yarn dlx",
        "yarn node",
        "yarn exec bash",
        "npx",
        "npx -y",
        "npx ts-node",
        "npx tsx",
        "npx --package=x",
        "bunx",
        "bunx tsx",
        "uvx",
        "uvx python",
        "uvx --from",
        "uv",
        "uv run",
        "uv run python",
        "uv run python3 -m",
        "uv run --with x",
        "uv run bash -c",
        "uv tool",
        "uv tool run",
        "poetry",
        "poetry run",
        "poetry run python",
        "poetry shell",
        "poetry run env",
        "pdm run",
        "hatch run",
        "pipenv run",
        "pipenv shell",
        "pipx run",
        "conda run",
        "conda run python",
        "bundle exec",
        "bundle exec rake",
        "bundle exec ruby",
        "cargo",
        "cargo run",
        "cargo install",
        "cargo --config",
        "cargo +nightly",
        "cargo +nightly run",
        "cargo xtask",
        "go",
        "go run",
        "go generate",
        "go env",
        "dotnet",
        "dotnet run",
        "dotnet exec",
        "rustup run",
        "rustup run nightly bash",
        "docker",
        "docker run",
        "docker exec",
        "docker compose",
        "docker compose exec",
        "docker compose run",
        "docker build",
        "podman run",
        "docker-compose exec",
        "kubectl",
        "kubectl exec",
        "kubectl run",
        "kubectl apply",
        "gh",
        "gh api",
        "gh pr",
        "gh alias",
        "gh extension",
        "aws",
        "aws configure",
        "gcloud",
        "gcloud ssh",
        "make",
        "make -f",
        "make CC=x",
        "make --eval",
        "gradle",
        "mvn",
        "nix",
        "nix run",
        "nix develop",
        "nix-shell",
        "mise exec",
        "mise x node",
        "mise run",
        "brew sh",
        "terraform",
        "terraform apply",
        "pip",
        "pip config",
        "pip3",
        "pip3.11",
        // What destroys, sends or fetches.
        "rm",
        "rm -r",
        "dd",
        "chmod",
        "chown",
        "kill",
        "mv",
        "tee",
        "curl",
        "wget",
        "nc",
        "scp",
        "rsync",
        "systemctl restart",
        // Paths that anybody could fill.
        "./run.sh",
        "scripts/build",
        "/tmp/tool",
        "../tool",
        "/usr/bin/../../tmp/x",
        "~/bin/tool",
        "./git status",
        // Whatever the program: still open at the end.
        "tool -c",
        "tool -e",
        "tool --eval",
        "tool --exec",
        "tool python",
        "tool run bash",
        "tool bash -x",
        "tool sub node",
        "tool --shell",
        "tool python3-intel64",
        "FOO=1 ls",
        "-x",
        "tool sudo",
        "tool env",
    ];
    let kept: Vec<&str> = refused
        .into_iter()
        .filter(|prefix| may_offer(&words(prefix)).is_ok())
        .collect();
    assert!(kept.is_empty(), "these grant too much: {kept:#?}");
}

#[test]
fn subcommands_that_run_anything_are_refused() {
    let commands = [
        "rails runner",
        "rails r",
        "rails console",
        "rails c",
        "flask shell",
        "flask run",
        "zig run",
        "zig cc",
        "artisan tinker",
        "django-admin shell",
        "manage.py shell",
        "sbt console",
        "mvn exec:exec",
        "mvn exec:java",
        "mvn org.codehaus.mojo:exec-maven-plugin:java",
        "gradle :app:run",
        "lerna exec",
        "nx exec",
        "turbo run",
        "bazel run",
        "meson devenv",
        "jj util",
        "jj util exec",
        "flatpak run",
        "snap run",
        "heroku run",
        "heroku run:detached",
        "podman kube play",
        "docker attach",
        "docker container attach",
        "docker container exec",
        "yarn workspace app",
        "docker exec web",
        "docker run alpine",
        "cargo r",
    ];
    let generally =
        "run exec shell console runner r repl tinker devenv eval script x dlx exec:exec exec:java";
    let generally = generally.split(' ').flat_map(|sub| {
        [
            format!("frobnicate {sub}"),
            format!("frobnicate {sub} more"),
            format!("frobnicate deep {sub}"),
            format!("npx frobnicate {sub}"),
        ]
    });
    let kept: Vec<String> = commands
        .into_iter()
        .map(str::to_owned)
        .chain(generally)
        .filter(|prefix| may_offer(&words(prefix)).is_ok())
        .collect();
    assert!(kept.is_empty(), "these run anything: {kept:#?}");
}

#[test]
fn no_spelling_of_what_runs_anything_is_kept() {
    let programs = "coffee crystal nim dart gjs swipl gforth pike hy fennel janet execlineb zig rlwrap prlimit chronic \
        ccache distcc sccache proxychains proxychains4 torsocks setarch linux64 linux32 i386 x86_64 sg runcon chpst \
        softlimit envdir setuidgid choom systemd-nspawn systemd-run unbuffer sem tsp nq xterm kitty konsole \
        gnome-terminal alacritty ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 tar zip gcc cc clang \
        gcc-13 clang++-18 python3-intel64 python3.12-x86_64 perl5.34-x86_64-linux-gnu node.real sudo-rs \
        busybox.static sh.distrib";
    for program in words(programs) {
        for prefix in [
            vec![program],
            vec![program, "-x"],
            vec!["npx", program],
            vec!["uv", "run", program],
        ] {
            assert!(may_offer(&prefix).is_err(), "{prefix:?}");
        }
    }
    for prefix in [
        "tar xf",
        "tar -xf",
        "zip -r",
        "gcc main",
        "sudo-rs ls",
        "python3-intel64 x.py",
    ] {
        assert!(may_offer(&words(prefix)).is_err(), "{prefix}");
    }
}

#[test]
fn an_unknown_program_is_kept_with_a_subcommand_only() {
    let unknown = |prefix: &str| matches!(may_offer(&words(prefix)), Err(Refused::UnknownProgram(program)) if program.as_str() == "my-tool");
    for prefix in ["my-tool", "my-tool --json", "npx my-tool", "uv run my-tool"] {
        assert!(unknown(prefix), "{prefix}");
    }
    assert_eq!(may_offer(&["my-tool", "sync"]), Ok(()));
}

#[test]
fn prefixes_that_say_what_runs_are_kept() {
    let kept = [
        "git status",
        "git push",
        "git commit",
        "git stash list",
        "git submodule update",
        "git bisect start",
        "/usr/bin/git status",
        "npm test",
        "npm install",
        "npm ci",
        "npm run test",
        "npm run build:prod",
        "pnpm run lint",
        "pnpm exec eslint",
        "yarn run test",
        "yarn add",
        "npx eslint",
        "npx prettier",
        "uv run pytest",
        "uv run ruff check",
        "uv sync",
        "uv pip install",
        "poetry run pytest",
        "poetry install",
        "bundle exec rspec",
        "cargo test",
        "cargo build",
        "cargo add",
        "cargo clippy",
        "cargo nextest list",
        "go test",
        "go build",
        "go mod tidy",
        "dotnet test",
        "docker ps",
        "docker compose ps",
        "docker image ls",
        "kubectl get",
        "gh pr view",
        "gh issue list",
        "aws s3",
        "make test",
        "gradle test",
        "python -m pytest",
        "python3.11 -m mypy",
        "pip install",
        "ls",
        "pytest",
        "eslint",
        "rg",
        "deno test",
        "deno fmt",
        "bun test",
        "bun install",
        "mise run test",
        "terraform plan",
        "my-tool sync",
        "turbo run build",
        "npm run watch-css",
        "jj util gc",
        "clang-format",
        "rails test",
        "mvn test",
        "brew install",
        "mkdir",
        "tsc",
    ];
    let refused: Vec<(&str, Refused)> = kept
        .into_iter()
        .filter_map(|prefix| may_offer(&words(prefix)).err().map(|why| (prefix, why)))
        .collect();
    assert!(refused.is_empty(), "these say enough: {refused:#?}");
}

#[test]
fn nothing_unreadable_is_kept() {
    assert_eq!(may_offer::<&str>(&[]), Err(Refused::Empty));
    for token in [
        "carg\u{43e}",
        "cargo\u{200b}",
        "cargo\u{202e}",
        "cargo\n",
        "car\tgo",
        "car\u{0}go",
        "caf\u{e9}",
        "",
    ] {
        assert_eq!(may_offer(&[token]), Err(Refused::Hidden), "{token:?}");
        assert_eq!(
            may_offer(&["cargo", "test", token]),
            Err(Refused::Hidden),
            "{token:?}"
        );
    }
    assert_eq!(may_offer(&["x".repeat(4096)]), Err(Refused::TooLong));
    assert_eq!(may_offer(&["x"; 100]), Err(Refused::TooLong));
}

#[test]
fn runners_in_front_of_runners_end() {
    let mut chain = vec!["npx"; 12];
    chain.push("eslint");
    assert!(may_offer(&chain).is_err());
    assert!(may_offer(&["npx", "npx", "eslint"]).is_ok());
    assert!(may_offer(&["npx", "npx", "tsx"]).is_err());
}

#[test]
fn the_refusal_says_why() {
    for (prefix, expected) in [
        ("bash -lc", "`bash` is a shell and would run anything"),
        (
            "uv run python",
            "`python` is an interpreter and would run anything",
        ),
        ("git", "`git` alone says nothing; name what it does"),
        ("git -C", "the option `-C` leaves open what runs"),
        ("npm run", "`run` alone says nothing; name what it does"),
        (
            "env A=1 x",
            "`env` runs other commands and would run anything",
        ),
    ] {
        assert_eq!(may_offer(&words(prefix)).unwrap_err().to_string(), expected);
    }
}

proptest! {
    #[test]
    fn what_is_proposed_may_be_kept_and_begins_the_command(
        command in prop::collection::vec("[a-z./=:-]{0,8}|git|npm|run|python3|-c|-m|pytest|uv|bash", 0..6)
    ) {
        if let Some(amendment) = propose(&command, |_| true) {
            prop_assert!(may_offer(amendment.prefix()).is_ok());
            prop_assert!(command.starts_with(amendment.prefix()));
            prop_assert!(amendment.prefix().iter().all(|token| !token.contains('/') || token == &command[0]));
        }
    }

    /// Whatever stands in front: a prefix whose last word is a shell or interpreter is not kept.
    #[test]
    fn no_prefix_ends_in_an_open_interpreter(
        front in prop::collection::vec("[a-z]{1,6}|npx|uv|run|poetry|env|A=1", 0..5),
        last in prop::sample::select(vec!["bash", "python3", "node", "ruby", "/bin/sh", "perl5.36", "pwsh.exe", "tsx"]),
        options in prop::collection::vec("-[a-z]{1,3}", 0..3),
    ) {
        let mut prefix = front;
        prefix.push(last.to_owned());
        prefix.extend(options.into_iter().filter(|option| option != "-m"));
        prop_assert!(may_offer(&prefix).is_err(), "{prefix:?}");
    }
}
