//! The same launches from a small and from a large process, in turns.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio as Pipe};
use std::time::{Duration, Instant};

use palisade_linux_landlock::{Helper, Session, Stdio, Tier};

use crate::helper::Built;
use crate::plans::Stage;
use crate::subjects::{bare, cold, median, warm};

/// The argument of a worker, before its size in MiB and its helper.
pub(crate) const ARGUMENT: &str = "--worker";
const SIZES: [usize; 2] = [10, 4096];
const KINDS: [&str; 3] = ["bare", "warm", "cold"];

/// A worker: as large as asked, it launches whatever a line names and answers with nanoseconds.
pub(crate) fn serve(megabytes: usize, helper: PathBuf) {
    // Written, so that it is resident.
    let ballast = vec![1_u8; megabytes << 20];
    let helper = Helper::new(helper);
    let stage = Stage::new();
    let plan = stage.plan(Tier::Full);
    let stdio = Stdio::null().unwrap();
    let session = Session::start(&plan, &helper).unwrap();
    for line in std::io::stdin().lock().lines() {
        let begin = Instant::now();
        match line.unwrap().as_str() {
            "bare" => bare(),
            "warm" => warm(&session, &stage.workspace, &stdio),
            _ => cold(&plan, &helper, &stage.workspace, &stdio),
        }
        println!("{}", begin.elapsed().as_nanos());
    }
    std::hint::black_box(ballast);
}

struct Worker {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Worker {
    fn start(megabytes: usize, helper: &Helper) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([ARGUMENT, &megabytes.to_string()])
            .arg(helper.program())
            .stdin(Pipe::piped())
            .stdout(Pipe::piped())
            .spawn()
            .unwrap();
        let orders = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            orders,
            answers,
        }
    }

    fn run(&mut self, kind: &str) -> Duration {
        writeln!(self.orders, "{kind}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        Duration::from_nanos(line.trim().parse().unwrap())
    }
}

/// The large process against the small one.
pub(crate) fn compare(_stage: &Stage, helper: &Built, rounds: usize) {
    let mut workers = SIZES.map(|size| Worker::start(size, &helper.helper));
    let mut times = KINDS.map(|_| SIZES.map(|_| Vec::new()));
    for round in 0..rounds {
        for (kind, times) in KINDS.iter().zip(&mut times) {
            for (worker, times) in workers.iter_mut().zip(times) {
                let time = worker.run(kind);
                if round >= rounds / 10 {
                    times.push(time);
                }
            }
        }
    }
    println!(
        "| from a parent of | {} MiB | {} MiB | ratio |\n|---|---:|---:|---:|",
        SIZES[0], SIZES[1]
    );
    for (kind, times) in KINDS.iter().zip(times) {
        let [small, large] = times.map(median);
        let ratio = large.as_secs_f64() / small.as_secs_f64();
        println!(
            "| {kind} | {} us | {} us | {ratio:.2} |",
            small.as_micros(),
            large.as_micros()
        );
    }
    for Worker {
        mut child, orders, ..
    } in workers
    {
        drop(orders);
        child.wait().unwrap();
    }
}
