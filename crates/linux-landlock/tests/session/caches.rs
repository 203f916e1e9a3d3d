//! The caches of tools: cold reads come from the user's own, writes stay in a layer that is ours.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use palisade_linux_landlock::host::LinuxHost;
use palisade_linux_landlock::survey::{self, SurveyOptions};
use palisade_linux_landlock::{LaunchError, LinuxLandlock, Plan, Session, Tier, private_places};
use palisade_policy::{AbsolutePath, AcceptedLosses, Backend as _};

use crate::support::start;
use crate::toolbox::{Bench, all_installed, find, has_venv, snapshot, toolchain};

/// A plan whose layers over caches are kept in a directory of the host.
fn stored_plan(bench: &Bench, store: &Path) -> Plan {
    let stage = &bench.stage;
    let mut host: LinuxHost = stage.host(Tier::Full);
    host.cache_store = Some(AbsolutePath::new(store).unwrap());
    let context = stage.context().with_private(private_places(&host));
    let policy = stage.workspace_write().resolve(&context).unwrap();
    survey::look(&mut host, &policy, &SurveyOptions::launch());
    let lowered = LinuxLandlock.lower(&policy, &host).unwrap();
    lowered.admit(&AcceptedLosses::none()).unwrap().0
}

fn stored(bench: &Bench, store: &Path) -> Session {
    start(&stored_plan(bench, store)).unwrap()
}

/// A directory for layers. The kernel leaves one in it that its owner cannot list, which this removes.
struct Store(PathBuf);

impl Store {
    fn new(bench: &Bench) -> Self {
        let path = bench.stage.outside.join("store");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        Self(path)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        for cache in fs::read_dir(&self.0).unwrap() {
            let _ = fs::remove_dir(cache.unwrap().path().join("work/work"));
        }
    }
}

fn make_caches(bench: &Bench) {
    for (path, text) in [
        (".cache/tool/entry", "cached\n"),
        (".cargo/config.toml", "[net]\noffline = true\n"),
        (".cargo/bin/tool", "#!/bin/sh\necho genuine\n"),
        (".cargo/credentials.toml", "secret token\n"),
        (".npm/_cacache/x", "x\n"),
    ] {
        let path = bench.stage.home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn writes_to_caches_stay_in_the_session() {
    let bench = Bench::new();
    make_caches(&bench);
    let before = snapshot(&bench.stage.home);
    let session = bench.session(Tier::Full);
    let text = bench.run(
        &session,
        "cat ~/.cache/tool/entry; echo changed > ~/.cache/tool/entry; cat ~/.cache/tool/entry
         echo new > ~/.cache/new; rm -r ~/.npm/_cacache; mv ~/.cargo/bin ~/.cargo/old; mkdir ~/.cargo/bin
         echo evil > ~/.cargo/bin/tool; chmod 777 ~/.cargo/config.toml; ln ~/.cargo/config.toml ~/.cargo/link
         cat ~/.cargo/credentials.toml 2>&1 || true",
    );
    assert!(
        text.starts_with("cached\nchanged\n") && !text.contains("secret"),
        "{text}"
    );
    // The next command of the session finds it all.
    assert_eq!(
        bench.run(
            &session,
            "cat ~/.cache/new ~/.cargo/bin/tool; test ! -e ~/.npm/_cacache"
        ),
        "new\nevil\n"
    );
    session.end();
    assert_eq!(snapshot(&bench.stage.home), before);
    let next = bench.session(Tier::Full);
    assert_eq!(
        bench.run(&next, "cat ~/.cache/tool/entry; ls ~/.cache"),
        "cached\ntool\n"
    );
}

/// What a link leads to is what the tool reads: a variable would put something empty in its place.
#[test]
fn a_cache_that_is_a_link_is_not_replaced_by_an_empty_one() {
    let bench = Bench::new();
    let elsewhere = bench.stage.outside.join("cache");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("entry"), "cached\n").unwrap();
    symlink(&elsewhere, bench.stage.home.join(".cache")).unwrap();
    let session = bench.session(Tier::Full);
    let text = bench.run(
        &session,
        "echo \"${XDG_CACHE_HOME-none} ${GOCACHE-none} ${npm_config_cache-none}\"; cat ~/.cache/entry",
    );
    assert_eq!(text, "none none /tmp/cache/npm\ncached\n");
}

#[test]
fn a_store_brings_the_layer_to_the_next_session() {
    let bench = Bench::new();
    make_caches(&bench);
    let store = Store::new(&bench);
    let before = snapshot(&bench.stage.home);
    for round in 0..4 {
        let session = stored(&bench, &store.0);
        let text = bench.run(
            &session,
            "cat ~/.cache/rounds 2>/dev/null || true; echo more >> ~/.cache/rounds; echo changed >> ~/.cache/tool/entry; rm -rf ~/.npm/_cacache",
        );
        assert_eq!(text, "more\n".repeat(round));
        // However it ends.
        if round % 2 == 0 {
            session.end();
        } else {
            drop(session);
        }
        assert_eq!(snapshot(&bench.stage.home), before, "round {round}");
    }
    let session = stored(&bench, &store.0);
    assert_eq!(
        bench.run(
            &session,
            "cat ~/.cache/tool/entry; test ! -e ~/.npm/_cacache && echo removed"
        ),
        "cached\nchanged\nchanged\nchanged\nchanged\nremoved\n"
    );
}

#[test]
fn two_sessions_never_share_a_layer() {
    let bench = Bench::new();
    make_caches(&bench);
    let store = Store::new(&bench);
    let first = stored(&bench, &store.0);
    bench.run(&first, "echo first > ~/.cache/who");
    let second = stored(&bench, &store.0);
    assert_eq!(
        bench.run(
            &second,
            "cat ~/.cache/tool/entry; test ! -e ~/.cache/who; echo second > ~/.cache/who"
        ),
        "cached\n"
    );
    assert_eq!(bench.run(&first, "cat ~/.cache/who"), "first\n");
    first.end();
    // What was first has the store until its end, and then it is free, at once.
    let third = stored(&bench, &store.0);
    assert_eq!(bench.run(&third, "cat ~/.cache/who"), "first\n");
    assert_eq!(bench.run(&second, "cat ~/.cache/who"), "second\n");
    // A command can neither reach the layers nor take the lock.
    let output = bench.try_run(
        &second,
        &format!(
            "for file in {}/*/lock; do flock -n $file echo locked; cat $file; done; echo x > {0}/new; rm -rf {0}/*",
            store.0.display()
        ),
    );
    assert!(!output.text.contains("locked\n"), "{}", output.text);
    assert_eq!(bench.run(&third, "cat ~/.cache/who"), "first\n");
}

#[test]
fn sessions_that_start_and_end_at_once_keep_the_store_sound() {
    let bench = Bench::new();
    make_caches(&bench);
    let store = Store::new(&bench);
    let plan = stored_plan(&bench, &store.0);
    let run = || {
        for _ in 0..5 {
            let session = start(&plan).unwrap();
            bench.run(
                &session,
                "n=$(cat ~/.cache/n 2>/dev/null || echo 0); echo $((n + 1)) > ~/.cache/next; mv ~/.cache/next ~/.cache/n; cat ~/.cache/tool/entry",
            );
            session.end();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(run);
        }
    });
    let session = start(&plan).unwrap();
    let count: u32 = bench
        .run(&session, "cat ~/.cache/n")
        .trim()
        .parse()
        .unwrap();
    assert!((1..=15).contains(&count), "{count}");
}

#[test]
fn a_store_that_others_can_fill_is_refused() {
    let bench = Bench::new();
    make_caches(&bench);
    let store = Store::new(&bench);
    let plan = stored_plan(&bench, &store.0);
    let refused = || match start(&plan) {
        Err(LaunchError::Step { .. }) => true,
        Err(other) => panic!("{other:?}"),
        Ok(_) => false,
    };
    let mode = |mode| fs::set_permissions(&store.0, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o777);
    assert!(refused());
    mode(0o700);
    assert!(!refused());
    // A link in place of a layer, or of the whole store, leads nowhere.
    let cache = fs::read_dir(&store.0)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let aside = bench.stage.outside.join("aside");
    fs::rename(&cache, &aside).unwrap();
    symlink(&aside, &cache).unwrap();
    assert!(refused());
    fs::remove_file(&cache).unwrap();
    fs::rename(&aside, &cache).unwrap();
    assert!(!refused());
}

/// Layers that the commands could write by themselves would change under the overlay.
#[test]
fn a_store_in_the_workspace_or_in_a_cache_is_not_used() {
    let bench = Bench::new();
    make_caches(&bench);
    for store in [
        bench.stage.workspace.join("store"),
        bench.stage.home.join(".cache/store"),
    ] {
        fs::create_dir(&store).unwrap();
        let session = stored(&bench, &store);
        bench.run(&session, "echo x > ~/.cache/x; cat ~/.cache/tool/entry");
        session.end();
        assert_eq!(fs::read_dir(&store).unwrap().count(), 0);
    }
}

const CRATE: &str = r#"
pub fn double(n: u32) -> u32 { dependency::add(n, n) }
#[test]
fn a_server_on_localhost() {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(double(21).to_string().as_bytes()).unwrap();
    });
    let mut text = String::new();
    TcpStream::connect(address).unwrap().read_to_string(&mut text).unwrap();
    server.join().unwrap();
    assert_eq!(text, "42");
}
"#;

/// A registry with one package below the user's own `.cargo`, as `cargo vendor` and `cargo local-registry` make them:
/// the package still has to be unpacked, so building writes to the cache.
fn make_registry(bench: &Bench) {
    let registry = bench.stage.home.join(".cargo/registry/local");
    fs::create_dir_all(registry.join("index/de/pe")).unwrap();
    bench.on_host(&format!(
        r#"
        mkdir -p ~/dependency-0.1.0/src; cd ~
        printf '[package]\nname = "dependency"\nversion = "0.1.0"\nedition = "2018"\n' > dependency-0.1.0/Cargo.toml
        echo 'pub fn add(a: u32, b: u32) -> u32 {{ a + b }}' > dependency-0.1.0/src/lib.rs
        tar -czf {0}/dependency-0.1.0.crate dependency-0.1.0; rm -r dependency-0.1.0
        sum=$(sha256sum < {0}/dependency-0.1.0.crate | cut -d' ' -f1)
        echo '{{"name":"dependency","vers":"0.1.0","deps":[],"cksum":"'$sum'","features":{{}},"yanked":false}}' > {0}/index/de/pe/dependency
        printf '[source.crates-io]\nreplace-with = "here"\n[source.here]\nlocal-registry = "%s"\n' {0} > ~/.cargo/config.toml
        "#,
        registry.display()
    ));
    bench.write(
        "Cargo.toml",
        "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2018\"\n[dependencies]\ndependency = \"0.1\"\n",
    );
    bench.write("src/lib.rs", CRATE);
    bench.write(
        "src/main.rs",
        "fn main() { println!(\"{}\", small::double(4)); }\n",
    );
}

#[test]
fn cargo_builds_and_tests_offline_with_a_dependency_from_the_users_cache() {
    let Some(toolchain) = toolchain() else {
        println!("skipped: the toolchain is not readable by this user");
        return;
    };
    let bench = Bench::new().with_programs(&toolchain);
    make_registry(&bench);
    let before = snapshot(&bench.stage.home);
    let session = bench.session(Tier::Full);
    assert_eq!(
        bench.run(&session, "cargo build --offline -q; ./target/debug/small"),
        "8\n"
    );
    let text = bench.run(&session, "cargo test --offline 2>&1");
    assert!(text.contains("a_server_on_localhost ... ok"), "{text}");
    // What the first command unpacked is there for the next one, and not for the user.
    let text = bench.run(
        &session,
        "ls ~/.cargo/registry/src/*; touch src/lib.rs; cargo build --offline 2>&1",
    );
    assert!(
        text.contains("dependency-0.1.0") && !text.contains("Compiling dependency"),
        "{text}"
    );
    session.end();
    assert_eq!(snapshot(&bench.stage.home), before);
}

#[test]
fn cargo_in_the_landlock_tier() {
    let Some(toolchain) = toolchain() else {
        println!("skipped: the toolchain is not readable by this user");
        return;
    };
    let bench = Bench::new().with_programs(&toolchain);
    bench.write(
        "Cargo.toml",
        "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2018\"\n",
    );
    bench.write(
        "src/main.rs",
        "fn main() { println!(\"built\"); }\n#[test] fn passes() {}\n",
    );
    let before = snapshot(&bench.stage.home);
    let session = bench.session(Tier::Landlock);
    assert_eq!(
        bench.run(
            &session,
            "cargo run --offline -q; cargo test --offline -q >/dev/null"
        ),
        "built\n"
    );
    session.end();
    assert_eq!(snapshot(&bench.stage.home), before);
}

#[test]
fn npm_installs_a_package_offline() {
    if !all_installed(&["node", "npm"]) {
        return;
    }
    let bench = Bench::new();
    fs::create_dir(bench.stage.home.join(".npm")).unwrap();
    bench.write(
        "left/package.json",
        r#"{"name":"left","version":"1.0.0","main":"index.js"}"#,
    );
    bench.write("left/index.js", "module.exports = n => n - 1;\n");
    bench.write("app/package.json", r#"{"name":"app","version":"1.0.0","private":true,"scripts":{"test":"node -e 'console.log(require(\"left\")(43))'"}}"#);
    let before = snapshot(&bench.stage.home);
    let session = bench.session(Tier::Full);
    let text = bench.run(
        &session,
        "(cd left && npm pack --silent)
         cd app && npm install --offline --no-audit --no-fund --silent ../left/left-1.0.0.tgz
         npm test --silent; npm ls --depth=0 | grep -o left@1.0.0; test -d ~/.npm/_cacache && echo cached",
    );
    assert_eq!(text, "left-1.0.0.tgz\n42\nleft@1.0.0\ncached\n");
    session.end();
    assert_eq!(snapshot(&bench.stage.home), before);
}

const WHEEL: &str = "
import zipfile
with zipfile.ZipFile('small-1.0-py3-none-any.whl', 'w') as wheel:
    wheel.writestr('small.py', 'answer = 42\\n')
    wheel.writestr('small-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: small\\nVersion: 1.0\\n')
    wheel.writestr('small-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: hand\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('small-1.0.dist-info/RECORD', 'small.py,,\\nsmall-1.0.dist-info/METADATA,,\\nsmall-1.0.dist-info/WHEEL,,\\nsmall-1.0.dist-info/RECORD,,\\n')
";

#[test]
fn pip_installs_a_wheel_offline() {
    if !has_venv() {
        return;
    }
    let bench = Bench::new();
    fs::create_dir_all(bench.stage.home.join(".cache/pip")).unwrap();
    bench.write("wheel.py", WHEEL);
    let before = snapshot(&bench.stage.home);
    let session = bench.session(Tier::Full);
    let text = bench.run(
        &session,
        "python3 wheel.py; python3 -m venv venv
         venv/bin/pip install --quiet --disable-pip-version-check --no-index ./small-1.0-py3-none-any.whl
         venv/bin/python -c 'import small; print(small.answer)'
         venv/bin/pip cache dir | grep -c '/.cache/pip$'; echo x > ~/.cache/pip/mark",
    );
    assert_eq!(text, "42\n1\n");
    session.end();
    assert_eq!(snapshot(&bench.stage.home), before);
}

/// Not everybody has these, and nobody has to.
#[test]
fn uv_and_go_where_they_are_installed() {
    for (program, script) in [
        (
            "uv",
            "python3 wheel.py; uv venv -q --offline uv-venv; VIRTUAL_ENV=uv-venv uv pip install -q --offline ./small-1.0-py3-none-any.whl; uv-venv/bin/python -c 'import small; print(small.answer)'",
        ),
        (
            "go",
            "export GOFLAGS=-mod=mod GOPROXY=off; go vet ./...; go test ./... >/dev/null; go run .",
        ),
    ] {
        if find(program).is_none() {
            println!("not installed: {program}");
            continue;
        }
        let bench = Bench::new();
        for cache in [".cache", "go", ".local/share/uv"] {
            fs::create_dir_all(bench.stage.home.join(cache)).unwrap();
        }
        bench.write("wheel.py", WHEEL);
        bench.write("go.mod", "module example.org/small\n\ngo 1.19\n");
        bench.write(
            "main.go",
            "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(42) }\n",
        );
        let before = snapshot(&bench.stage.home);
        let session = bench.session(Tier::Full);
        assert_eq!(bench.run(&session, script), "42\n", "{program}");
        session.end();
        assert_eq!(snapshot(&bench.stage.home), before, "{program}");
    }
}
