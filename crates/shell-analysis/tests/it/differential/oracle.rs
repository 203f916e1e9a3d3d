//! Runs scripts in a real shell and reports which programs it started, and how.
//!
//! Harmless by construction: an empty environment, a search path with nothing but recorders and three transparent
//! wrappers, no input, a scratch directory, limits on time and file size, and no slash in any script except in
//! `/dev/null` and `dir/c`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How one recorder was called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// Name and arguments; the path of a process substitution reads `<fd>`.
    pub(super) argv: Vec<String>,
    /// Values of `A`, `B` and `C_1`.
    pub(super) variables: [Option<String>; 3],
    /// The directory, relative to the scratch directory.
    pub(super) cwd: String,
}

pub(super) struct Oracle {
    root: PathBuf,
    shell: PathBuf,
    flags: &'static str,
}

/// Writes one record per call, in a single write. The control characters cannot occur in a plain script.
const RECORDER: &str = "#!/bin/sh
r=${0##*/}
for a do
  case $a in /dev/fd/*|/proc/*) while IFS= read -r l; do :; done <\"$a\"; a='<fd>';; esac
  r=\"$r\u{1}$a\"
done
r=\"$r\u{2}${A+=$A}\u{2}${B+=$B}\u{2}${C_1+=$C_1}\u{2}$PWD\"
printf '%s\u{3}' \"$r\" >>\"${0%/*}/../log\"
case $0 in */f*) exit 1;; esac
";

const TIMEOUT: Duration = Duration::from_secs(120);

impl Oracle {
    /// `None` if the shell is not installed.
    pub(super) fn new(name: &str) -> Option<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let shell = find(name)?;
        let root = std::env::temp_dir().join(format!(
            "palisade-differential-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        ));
        fs::create_dir_all(root.join("bin")).unwrap();
        for program in ["p0", "p1", "p2", "f0"] {
            let path = root.join("bin").join(program);
            fs::write(&path, RECORDER).unwrap();
            make_executable(&path);
        }
        for wrapper in ["env", "nice"] {
            if let Some(real) = find(wrapper) {
                link(&real, &root.join("bin").join(wrapper));
            }
        }
        Some(Self {
            root,
            shell,
            flags: if name == "zsh" { "-fc" } else { "-c" },
        })
    }

    /// Runs each script and returns the calls it made.
    pub(super) fn run(&self, scripts: &[&str]) -> Vec<Vec<Call>> {
        let log = self.root.join("log");
        fs::write(&log, "").unwrap();
        let mut driver = String::from("ulimit -f 2048\nulimit -t 100\n");
        self.fresh_directory(&mut driver);
        for script in scripts {
            // The read ends when the last process that inherited descriptor 9 does: zsh leaves pipeline members behind,
            // and nobody waits for a process substitution.
            driver.push_str(&format!(
                "{} {} {} 9>&1 </dev/null >/dev/null 2>&1 | {{ read -r x; }}\n",
                self.shell.display(),
                self.flags,
                quoted(script)
            ));
            driver.push_str("printf '\u{4}' >>../log\n");
        }
        self.drive(&driver);
        let log = fs::read(&log).unwrap();
        let log = String::from_utf8_lossy(&log);
        let mut runs: Vec<Vec<Call>> = log.split('\u{4}').map(|run| self.calls(run)).collect();
        assert_eq!(runs.pop(), Some(Vec::new()), "a late record");
        assert_eq!(runs.len(), scripts.len());
        runs
    }

    /// A directory with a few files to match and to read.
    fn fresh_directory(&self, driver: &mut String) {
        driver.push_str(&format!(
            "cd {0} && /bin/rm -rf work && /bin/mkdir -p work/dir work/sub && cd work && : >a.txt && : >b1 && : >dir/c && : >-z || exit 9\n",
            self.root.display()
        ));
    }

    fn drive(&self, driver: &str) {
        let script = self.root.join("driver");
        fs::write(&script, driver).unwrap();
        fs::create_dir_all(self.root.join("work")).unwrap();
        let mut child = Command::new("/bin/sh")
            .arg(&script)
            .current_dir(self.root.join("work"))
            .env_clear()
            .env("PATH", self.root.join("bin"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if start.elapsed() > TIMEOUT {
                child.kill().unwrap();
                panic!("a batch of scripts did not finish");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        assert!(status.success(), "the driver failed: {status}");
    }

    fn calls(&self, run: &str) -> Vec<Call> {
        let work = self.root.join("work");
        run.split_terminator('\u{3}')
            .map(|record| {
                let fields: Vec<&str> = record.split('\u{2}').collect();
                let [argv, a, b, c, cwd] = fields[..] else {
                    panic!("a torn record: {record:?}");
                };
                let value = |field: &str| field.strip_prefix('=').map(str::to_owned);
                let cwd = Path::new(cwd);
                Call {
                    argv: argv.split('\u{1}').map(str::to_owned).collect(),
                    variables: [value(a), value(b), value(c)],
                    cwd: cwd.strip_prefix(&work).unwrap_or(cwd).display().to_string(),
                }
            })
            .collect()
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        let _best_effort = fs::remove_dir_all(&self.root);
    }
}

/// No path but the two that are known to be safe, so that even a misread redirect stays in the scratch directory.
pub(super) fn is_harmless(script: &str) -> bool {
    let mut rest = script
        .replace("dir/c", "")
        .replace("dir/*", "")
        .replace("a/b", "")
        .replace("x/y", "")
        .replace("*/", "");
    while let Some(at) = rest.find("/dev/null") {
        let after = rest[at + "/dev/null".len()..].chars().next();
        if after.is_some_and(|c| !" \t\n;|&)".contains(c)) {
            return false;
        }
        rest.replace_range(at..at + "/dev/null".len(), "");
    }
    !rest.contains('/')
}

fn find(name: &str) -> Option<PathBuf> {
    ["/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        .iter()
        .map(|directory| Path::new(directory).join(name))
        .find(|path| path.exists())
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn link(target: &Path, path: &Path) {
    std::os::unix::fs::symlink(target, path).unwrap();
}
