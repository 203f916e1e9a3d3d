//! Real tools in workspace-write without network: what developers and their agents run all day.

use std::fs;
use std::time::{Duration, Instant};

use palisade_linux_landlock::Tier;
use palisade_policy::CanonicalSandboxPolicy;

use crate::support::TIERS;
use crate::toolbox::{Bench, all_installed, has_venv};

#[test]
fn a_shell_with_pipes_redirections_and_temporary_files() {
    for tier in TIERS {
        let bench = Bench::new();
        let session = bench.session(tier);
        let text = bench.run(
            &session,
            r#"
            seq 1 100000 | sort -rn -S 100K | sed -n 1p
            seq 1 40 | xargs -P2 -n5 echo | wc -l
            file=$(mktemp); echo here > "$file"; cat "$file"; rm "$file"
            dir=$(mktemp -d); test -w "$dir"
            diff <(echo a) <(echo a) && echo same
            cat <<<"a here-string"
            cat <<END
a here-document
END
            mkfifo pipe; (echo through a pipe > pipe &); cat pipe
            tar -cf t.tar pipe && mkdir out && tar -xf t.tar -C out && find out -type p
            exec 3> numbered; echo third >&3; exec 3>&-; cat numbered
            echo to stderr > /dev/stderr
            "#,
        );
        assert_eq!(
            text,
            "100000\n8\nhere\nsame\na here-string\na here-document\nthrough a pipe\nout/pipe\nthird\nto stderr\n",
            "{tier:?}"
        );
    }
}

#[test]
fn tools_that_look_at_the_system() {
    let bench = Bench::new();
    let session = bench.session(Tier::Full);
    let text = bench.run(
        &session,
        r#"
        getent passwd "$(id -u)" | cut -d: -f3
        getent hosts localhost | grep -c localhost
        test -n "$(hostname)" && uname -s
        df -P . | wc -l
        mount | grep -c ' on /tmp type tmpfs'
        ps aux | grep -c ' [p]s aux$'
        ps -e -o pid= | wc -l
        nproc >/dev/null; free >/dev/null; uptime >/dev/null; who
        date +%Y >/dev/null; groups >/dev/null 2>&1 || true
        stat -c %F . ; readlink -f . >/dev/null; realpath .. >/dev/null; du -s . >/dev/null
        "#,
    );
    let uid = rustix::process::getuid().as_raw();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..6],
        [uid.to_string().as_str(), "1", "Linux", "2", "1", "1"],
        "{text}"
    );
    // Init, the shell, ps and wc, and nothing of the host.
    assert!(lines[6].trim().parse::<u32>().unwrap() <= 5, "{text}");
    assert_eq!(lines.last(), Some(&"directory"));
}

#[test]
fn make_and_a_compiler() {
    if !all_installed(&["make", "gcc"]) {
        return;
    }
    for tier in TIERS {
        let bench = Bench::new();
        bench.write(
            "main.c",
            "int answer(void); int main(void) { return answer() - 42; }\n",
        );
        bench.write("answer.c", "int answer(void) { return 42; }\n");
        bench.write(
            "Makefile",
            "CC = gcc\nall: program\nprogram: main.o answer.o\n\t$(CC) -pipe -o $@ $^\nclean:\n\trm -f program *.o\n",
        );
        let session = bench.session(tier);
        bench.run(
            &session,
            "make -j2 && ./program && make clean && test ! -e program",
        );
        // Without -pipe the compiler keeps its intermediate files in the temporary directory.
        bench.run(
            &session,
            "gcc -save-temps=obj -O2 -g main.c answer.c -o again && ./again",
        );
    }
}

/// Looking for leaks traces the program's own threads, and tracing is a call that the profile blocks. Everything else
/// that sanitisers find, they find.
#[test]
fn sanitisers_work_without_looking_for_leaks() {
    if !all_installed(&["gcc"]) {
        return;
    }
    let bench = Bench::new();
    bench.write(
        "over.c",
        "#include <stdlib.h>\nint main(int n, char **v) { char *p = malloc(4); p[n + 2] = 1; free(p); return 0; }\n",
    );
    let session = bench.session(Tier::Full);
    let text = bench.run(
        &session,
        "gcc -fsanitize=address,undefined over.c -o over; export ASAN_OPTIONS=detect_leaks=0
         ./over; (./over one-too-many 2>&1 || true) | grep -o heap-buffer-overflow | sort -u",
    );
    assert_eq!(text, "heap-buffer-overflow\n");
    let output = bench.try_run(&session, "ASAN_OPTIONS=detect_leaks=1 ./over");
    assert!(
        !output.exit.success() && output.text.contains("LeakSanitizer"),
        "{}",
        output.text
    );
}

const UNIT_TEST: &str = "
import os, tempfile, threading, unittest
class Works(unittest.TestCase):
    def test_temporary(self):
        with tempfile.TemporaryDirectory() as name:
            with open(os.path.join(name, 'file'), 'w') as file:
                file.write('x')
    def test_threads(self):
        seen = []
        threads = [threading.Thread(target=seen.append, args=(n,)) for n in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        self.assertEqual(sorted(seen), [0, 1, 2, 3])
";

const MULTIPROCESSING: &str = "
import multiprocessing as mp
from multiprocessing import shared_memory

def double(n):
    return 2 * n

def feed(queue, lock, total, name):
    block = shared_memory.SharedMemory(name=name)
    block.buf[0] = 7
    block.close()
    for n in range(10):
        with lock:
            total.value += 1
        queue.put(n)

if __name__ == '__main__':
    for method in ('fork', 'spawn', 'forkserver'):
        context = mp.get_context(method)
        with context.Pool(2) as pool:
            assert pool.map(double, range(10)) == [2 * n for n in range(10)]
        block = shared_memory.SharedMemory(create=True, size=64)
        queue, lock, total = context.Queue(), context.Lock(), context.Value('i', 0)
        children = [context.Process(target=feed, args=(queue, lock, total, block.name)) for _ in range(2)]
        for child in children: child.start()
        assert sum(queue.get() for _ in range(20)) == 90
        for child in children: child.join()
        assert total.value == 20 and block.buf[0] == 7 and [c.exitcode for c in children] == [0, 0]
        block.close(); block.unlink()
        with context.Manager() as manager:
            shared = manager.dict(); shared['a'] = 1
            assert dict(shared) == {'a': 1}
        print(method)
";

#[test]
fn python_with_a_virtual_environment_unittest_and_multiprocessing() {
    if !has_venv() {
        return;
    }
    let bench = Bench::new();
    bench.write("test_works.py", UNIT_TEST);
    bench.write("parallel.py", MULTIPROCESSING);
    let session = bench.session(Tier::Full);
    let text = bench.run(
        &session,
        "python3 -m venv --without-pip venv
         . venv/bin/activate
         python -c 'import sys; assert sys.prefix.endswith(\"/venv\"), sys.prefix'
         python -m unittest -q 2>&1 | tail -1
         python parallel.py
         python -c 'import asyncio, subprocess; print(asyncio.run(asyncio.to_thread(subprocess.check_output, [\"echo\", \"hi\"])).decode().strip())'",
    );
    assert_eq!(text, "OK\nfork\nspawn\nforkserver\nhi\n");
}

const NODE: &str = r#"
const assert = require('assert');
const { Worker } = require('worker_threads');
const { execFileSync, spawn, fork } = require('child_process');
const fs = require('fs'), http = require('http'), os = require('os'), path = require('path');

function worker(n) {
  return new Promise((resolve, reject) => {
    const worker = new Worker('require("worker_threads").parentPort.postMessage(2 * require("worker_threads").workerData)',
      { eval: true, workerData: n });
    worker.once('message', resolve).once('error', reject);
  });
}
(async () => {
  assert.deepStrictEqual(await Promise.all([1, 2, 3].map(worker)), [2, 4, 6]);
  assert.strictEqual(execFileSync('echo', ['child']).toString(), 'child\n');
  assert.strictEqual(await new Promise(done => spawn('sh', ['-c', 'exit 3']).on('close', done)), 3);
  if (process.argv[2] === 'network') {
    const server = http.createServer((_, answer) => answer.end('served'));
    await new Promise(done => server.listen(0, '127.0.0.1', done));
    const answer = await fetch(`http://127.0.0.1:${server.address().port}/`);
    assert.strictEqual(await answer.text(), 'served');
    server.closeAllConnections(); server.close();
  }
  const child = fork(__filename, ['child']);
  assert.strictEqual(await new Promise(done => child.once('message', done)), 'from the child');
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'watch-'));
  const seen = new Promise(done => { const watcher = fs.watch(temporary, (_, name) => { watcher.close(); done(name); }); });
  await fs.promises.writeFile(path.join(temporary, 'file'), 'x');
  assert.strictEqual(await seen, 'file');
  console.log('all of node');
})().catch(error => { console.error(error); process.exit(1); });
"#;

#[test]
fn node_with_workers_children_servers_and_watches() {
    if !all_installed(&["node"]) {
        return;
    }
    let bench = Bench::new();
    let child = "if (process.argv[2] === 'child') { process.send('from the child'); process.disconnect(); } else {";
    bench.write("all.js", &format!("{child}{NODE}}}"));
    let session = bench.session(Tier::Full);
    assert_eq!(bench.run(&session, "node all.js network"), "all of node\n");
    // No loopback in this tier, by design.
    let session = bench.session(Tier::Landlock);
    assert_eq!(bench.run(&session, "node all.js"), "all of node\n");
}

#[test]
fn sqlite_locks_between_processes() {
    if !all_installed(&["sqlite3"]) {
        return;
    }
    for tier in TIERS {
        let bench = Bench::new();
        let session = bench.session(tier);
        for journal in ["delete", "wal"] {
            let text = bench.run(
                &session,
                &format!(
                    r#"
                rm -f db ready held out
                sqlite3 db 'pragma journal_mode={journal}; create table t(n); insert into t values(0);' >/dev/null
                add() {{ for _ in $(seq 25); do sqlite3 -cmd '.timeout 60000' db 'begin immediate; update t set n = n + 1; commit;'; done; }}
                add & first=$!; add & wait $first; wait $!
                sqlite3 db 'select n from t'
                mkfifo held
                sqlite3 db < held & holder=$!
                exec 3> held
                echo 'begin exclusive; update t set n = -1; .shell touch ready' | sed 's/; \.shell/;\n.shell/' >&3
                while [ ! -e ready ]; do sleep 0.01; done
                sqlite3 db 'update t set n = 1' 2>&1 || echo refused
                echo 'rollback;' >&3; exec 3>&-; wait $holder
                sqlite3 db 'select n from t; pragma integrity_check'
                "#
                ),
            );
            assert!(
                text.starts_with("50\n")
                    && text.contains("locked")
                    && text.ends_with("refused\n50\nok\n"),
                "{tier:?} {journal}: {text}"
            );
        }
    }
}

#[test]
fn a_server_in_the_background_serves_the_next_command_and_ends_with_the_session() {
    if !all_installed(&["python3"]) {
        return;
    }
    let bench = Bench::new();
    bench.write("page", "served\n");
    let session = bench.session(Tier::Full);
    bench.run(
        &session,
        "echo kept > /tmp/between; nohup python3 -m http.server --bind 127.0.0.1 8765 >/tmp/log 2>&1 & echo $! > /tmp/pid",
    );
    let fetch = "
import sys, time, urllib.request
for _ in range(int(sys.argv[1])):
    try:
        print(urllib.request.urlopen('http://127.0.0.1:8765/page', timeout=5).read().decode(), end='')
        break
    except OSError:
        time.sleep(0.05)
else:
    print('nobody')
";
    bench.write("fetch.py", fetch);
    let text = bench.run(
        &session,
        "cat /tmp/between; python3 fetch.py 400; kill -0 $(cat /tmp/pid) && echo alive",
    );
    assert_eq!(text, "kept\nserved\nalive\n");
    // Not on the host's loopback, and not in another session that runs at the same time.
    assert!(std::net::TcpStream::connect(("127.0.0.1", 8765)).is_err());
    let other = bench.session(Tier::Full);
    assert_eq!(bench.run(&other, "ls /tmp; python3 fetch.py 1"), "nobody\n");
    session.end();
    let next = bench.session(Tier::Full);
    assert_eq!(bench.run(&next, "ls /tmp; python3 fetch.py 1"), "nobody\n");
}

#[test]
fn nothing_of_a_session_runs_after_it() {
    let bench = Bench::new();
    let session = bench.session(Tier::Full);
    bench.run(
        &session,
        "for n in 1 2 3; do (setsid -f sh -c 'while :; do date +%s%N > beat; sleep 0.02; done' >/dev/null 2>&1); done
         while [ ! -s beat ]; do sleep 0.01; done",
    );
    session.end();
    let beat = bench.stage.workspace.join("beat");
    let last = fs::read_to_string(&beat).unwrap();
    let until = Instant::now() + Duration::from_millis(200);
    while Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(fs::read_to_string(&beat).unwrap(), last);
}

#[test]
fn reading_tools_work_in_read_only_mode() {
    if !all_installed(&["git", "python3"]) {
        return;
    }
    for tier in TIERS {
        let bench = Bench::new();
        fs::remove_dir_all(bench.stage.workspace.join(".git")).unwrap();
        bench.write("file", "needle\n");
        bench.on_host(
            "git init -q -b main; git add .; git -c user.name=a -c user.email=a@b commit -qm first",
        );
        // The index is stale now: status wants to refresh it and must be content with not being able to.
        bench.on_host("touch -d '2020-01-01' file");
        let session = bench
            .stage
            .session(&CanonicalSandboxPolicy::read_only(), tier);
        let text = bench.run(
            &session,
            "git status --short; git log --format=%s; git diff; git blame -s file | grep -o needle; git grep -n needle
             grep -rn needle --include=file .; cat file; python3 -c 'print(1 + 1)'; find . -name file; mktemp >/dev/null",
        );
        assert_eq!(
            text, "first\nneedle\nfile:1:needle\n./file:1:needle\nneedle\n2\n./file\n",
            "{tier:?}"
        );
        assert!(!bench.try_run(&session, "echo x > file").exit.success());
    }
}

#[test]
fn python_in_the_landlock_tier() {
    if !all_installed(&["python3"]) {
        return;
    }
    let bench = Bench::new();
    bench.write("test_works.py", UNIT_TEST);
    let session = bench.session(Tier::Landlock);
    assert_eq!(
        bench.run(&session, "python3 -m unittest -q 2>&1 | tail -1"),
        "OK\n"
    );
    // Semaphores with names are files in `/dev/shm`, which is the host's here, and so is not written.
    let output = bench.try_run(
        &session,
        "python3 -c 'import multiprocessing as m; m.Process(target=print, args=(7,)).start(); m.Lock()' 2>&1",
    );
    assert!(
        !output.exit.success() && output.text.contains("Permission denied"),
        "{}",
        output.text
    );
}
