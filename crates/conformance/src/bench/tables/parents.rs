//! The same launches from small and from large processes: one that copied the caller's page tables would show here.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use palisade_linux_landlock::Tier;

use super::launch::TRUE;
use crate::bench::Bench;
use crate::bench::bare;
use crate::bench::machine::available_memory;
use crate::bench::result::{Row, Shown, Table, Whose};
use crate::bench::rounds::{Contestant, nanoseconds, race};
use crate::bench::stage::Stage;
use crate::bench::ways::Ways;

pub(super) const NAME: &str = "parents";

/// Resident MiB of the caller.
const SIZES: [u64; 3] = [10, 1024, 4096];
/// The largest against the smallest should be within a tenth.
const FLAT: f64 = 1.1;

/// A way to launch: what a worker is told, and what the row is called.
const WAYS: [(&str, &str, Whose); 5] = [
    ("bare", "bare posix_spawn", Whose::Bare),
    ("direct", "library, direct, landlock tier", Whose::Ours),
    (
        "next",
        "library, next command of a full session",
        Whose::Ours,
    ),
    ("cold", "library, cold, full tier", Whose::Ours),
    ("fork", "fork and exec, for contrast", Whose::Bare),
];

pub(super) fn measure(bench: &Bench<'_>) -> Result<Table> {
    let mut rows = Vec::new();
    let mut workers = Vec::new();
    for size in SIZES {
        match Worker::start(size, bench) {
            Ok(worker) => workers.push((size, RefCell::new(worker))),
            Err(error) => {
                let why = format!("{error:#}");
                let absent = |(_, name, whose)| Row::absent(case(size), name, whose, &why);
                rows.extend(WAYS.map(absent));
            }
        }
    }
    let mut contestants = Vec::new();
    for (word, name, whose) in WAYS {
        for (size, worker) in &workers {
            let run = move || Ok(vec![worker.borrow_mut().launch(word)?]);
            // The name tells sizes apart until the rows are made.
            let name = format!("{}\n{name}", case(*size));
            contestants.push(Contestant::sampled(name, whose, run));
        }
    }
    for raced in race(contestants, bench.pace(150, 60)) {
        let mut row = Row::of("", &raced, 0);
        if let Some((case, name)) = raced.name.split_once('\n') {
            (row.case, row.subject) = (case.to_owned(), name.to_owned());
        }
        rows.push(row);
    }
    for (_, worker) in workers {
        worker.into_inner().end()?;
    }
    let smallest = SIZES.into_iter().min().map_or_else(String::new, case);
    let largest = SIZES.into_iter().max().map_or_else(String::new, case);
    let mut table = Table {
        name: NAME.to_owned(),
        title: "The size of the caller".to_owned(),
        about: "Each caller is a process of its own that holds so much memory in small pages. `fork` copies page \
                tables, and is there to show that this table would show it."
            .to_owned(),
        ratio_to: "10 MiB".to_owned(),
        shown: Shown::Time,
        rows,
        remarks: Vec::new(),
    }
    .compare(|base, row| base.case == smallest && base.subject == row.subject);
    for row in &mut table.rows {
        if row.case == largest && row.whose == Whose::Ours {
            row.want_at_most(FLAT);
        }
    }
    Ok(table)
}

fn case(size: u64) -> String {
    format!("{size} MiB")
}

/// A process of a given size that launches what it is told to.
struct Worker {
    child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    fn start(size: u64, bench: &Bench<'_>) -> Result<Self> {
        // The workers live side by side, and nobody else should suffer.
        if let Some(available) = available_memory()
            && available < size * 5 / 4 + 512
        {
            bail!("{available} MiB of memory are available");
        }
        let mut child = Command::new(&bench.programs.conformance)
            .args(["bench", super::super::AS_PARENT, &size.to_string()])
            .arg(&bench.programs.helper)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let orders = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().context("no answers")?);
        let mut worker = Self {
            child,
            orders,
            answers,
        };
        worker.hear()?;
        Ok(worker)
    }

    fn launch(&mut self, way: &str) -> Result<f64> {
        let orders = self.orders.as_mut().context("it has ended")?;
        writeln!(orders, "{way}")?;
        self.hear()
    }

    fn hear(&mut self) -> Result<f64> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        let line = line.trim();
        line.parse().map_err(|_| match line {
            "" => anyhow::anyhow!("the process ended"),
            said => anyhow::anyhow!("{said}"),
        })
    }

    fn end(mut self) -> Result<()> {
        self.orders = None;
        let status = self.child.wait()?;
        anyhow::ensure!(status.success(), "a caller ended with {status}");
        Ok(())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.orders = None;
        // It ends when it is told nothing more.
        let _ = self.child.wait();
    }
}

/// A worker: as large as asked, it launches whatever a line names and answers with nanoseconds.
///
/// # Errors
/// The arguments make no sense, or nobody listens.
pub(in crate::bench) fn serve(mut arguments: impl Iterator<Item = OsString>) -> Result<ExitCode> {
    let size = arguments.next().context("no size")?;
    let size: usize = size.to_str().context("no size")?.parse()?;
    let helper = PathBuf::from(arguments.next().context("no helper")?);
    // Large pages would make the page tables small.
    rustix::thread::disable_transparent_huge_pages(true)?;
    // Written, so that it is resident.
    let ballast = vec![1_u8; size << 20];
    let stage = Stage::new()?;
    let ways = Ways::new(&stage, &helper)?;
    let program = Path::new(TRUE);
    let command = ways.command(program);
    let mut answers = std::io::stdout().lock();
    writeln!(answers, "0")?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let begun = Instant::now();
        let done = match line.as_str() {
            "bare" => bare::spawn(program),
            "fork" => bare::fork(program),
            "direct" => ways.direct(&command),
            "next" => ways.next(Tier::Full, &command),
            _ => ways.cold(Tier::Full, &command),
        };
        let time = begun.elapsed();
        match done {
            Ok(()) => writeln!(answers, "{:.0}", nanoseconds(time))?,
            Err(error) => writeln!(answers, "{}", format!("{error:#}").replace('\n', " "))?,
        }
    }
    std::hint::black_box(ballast);
    Ok(ExitCode::SUCCESS)
}
