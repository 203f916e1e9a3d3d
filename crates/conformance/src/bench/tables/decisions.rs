//! May this command run? In this process with few and many rules, and as a process for each question, beside `codex`.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use palisade::runner::exec_policy::language::model::Rule;
use palisade::runner::exec_policy::language::{Layer, Source, parse};
use palisade::runner::exec_policy::matching::{
    CommandFacts, PlaceFacts, Ruleset, RulesetInput, builtin,
};
use palisade::runner::policy::{AbsolutePath, HostFacts, Os};
use palisade_shell_analysis::{Limits, Shell, analyze_argv, analyze_script};

use super::launch::TRUE;
use crate::bench::Bench;
use crate::bench::bare;
use crate::bench::result::{Row, Shown, Table, Whose};
use crate::bench::rounds::{Contestant, nanoseconds, race};
use crate::bench::stage::{Stage, write};
use crate::bench::ways::{self, PATIENCE, run_or_complain};

pub(super) const NAME: &str = "decisions";

const COUNTS: [usize; 3] = [10, 1_000, 10_000];
/// A command that the first rule allows, and one that no rule is about.
const HIT: [&str; 3] = ["tool0", "get", "item0"];
const MISS: [&str; 2] = ["other", "x"];
const SCRIPT: &str = "cd src && git status -s && cargo test -p core | tail -40";
/// How long a run of decisions in this process takes.
const REPEATED: Duration = Duration::from_millis(5);

const CHECK: &str = "a process: `palisade check`";
const NOTHING: &str = "a process: `palisade --version`";
const CODEX_CHECK: &str = "a process: `codex execpolicy check`";
const CODEX_NOTHING: &str = "a process: `codex --version`";

pub(super) fn measure(bench: &Bench<'_>) -> Result<Table> {
    let stage = Stage::new()?;
    let mut rows = in_process(bench)?;
    for count in COUNTS {
        let case = case(count);
        let raced = race(processes(bench, &stage, count)?, bench.pace(30, 25));
        rows.extend(raced.iter().map(|raced| Row::of(&case, raced, 0)));
        if bench.peers && !codex(bench).is_file() {
            rows.push(Row::absent(
                &case,
                CODEX_CHECK,
                Whose::Peer,
                "not installed",
            ));
        }
    }
    // First what belongs together; the script, which has rules of its own, last.
    rows.sort_by_key(|row| {
        COUNTS
            .iter()
            .position(|count| case(*count) == row.case)
            .unwrap_or(usize::MAX)
    });
    let remarks = remarks(&rows);
    Ok(Table {
        name: NAME.to_owned(),
        title: "Decisions".to_owned(),
        about: "*In this process* is one verdict about an argument list that was analysed already: what an embedder \
                pays for a command. `codex execpolicy check` decides in a process of its own that reads the rules \
                first, so it stands beside `palisade check`, which does the same; neither shows what a verdict costs \
                inside the other's program. Both read rules of the same shape and number, each in its own language."
            .to_owned(),
        ratio_to: "10 rules".to_owned(),
        shown: Shown::PerSecond,
        rows,
        remarks,
    }
    .compare(|base, row| base.case == "10 rules" && base.subject == row.subject))
}

fn case(count: usize) -> String {
    match count {
        1_000.. => format!("{},{:03} rules", count / 1_000, count % 1_000),
        _ => format!("{count} rules"),
    }
}

/// Verdicts of the library.
fn in_process(bench: &Bench<'_>) -> Result<Vec<Row>> {
    let host = HostFacts::new(Os::Linux).with_home(AbsolutePath::new("/home/dev")?);
    let place = PlaceFacts::new(&AbsolutePath::new("/srv/app")?, &host);
    let (facts, limits) = (CommandFacts::new(&place), Limits::default());
    let mut rows = Vec::new();
    for count in COUNTS {
        let rules = rules(Layer::User, "bench.toml", &ours(count)?)?;
        let ruleset = Ruleset::compile(&RulesetInput::new(&rules));
        let contestants = [
            ("in this process, a rule matches", HIT.as_slice()),
            ("in this process, no rule matches", MISS.as_slice()),
        ]
        .map(|(name, argv)| {
            let (analysis, ruleset, facts) = (analyze_argv(argv, &limits), &ruleset, &facts);
            Contestant::sampled(name, Whose::Ours, move || {
                repeat(|| {
                    black_box(ruleset.evaluate(black_box(&analysis), black_box(facts)));
                })
            })
        });
        let case = case(count);
        let raced = race(contestants.into(), bench.pace(60, 5));
        rows.extend(raced.iter().map(|raced| Row::of(&case, raced, 0)));
    }
    let mut built_in = Vec::new();
    for (name, text) in builtin::SOURCES {
        built_in.extend(rules(Layer::BuiltIn, name, text)?);
    }
    let ruleset = Ruleset::compile(&RulesetInput::new(&built_in));
    let script = Contestant::sampled(
        "in this process, a script of four commands, analysed and judged",
        Whose::Ours,
        || {
            repeat(|| {
                let analysis = analyze_script(black_box(SCRIPT), Shell::Bash, &limits);
                black_box(ruleset.evaluate(&analysis, &facts).rule_decision());
            })
        },
    );
    let raced = race(vec![script], bench.pace(60, 5));
    let of_script = |raced| Row::of("built-in rules", raced, 0);
    rows.extend(raced.iter().map(of_script));
    Ok(rows)
}

/// Processes that decide, and those that only start.
fn processes(bench: &Bench<'_>, stage: &Stage, count: usize) -> Result<Vec<Contestant<'static>>> {
    let aside = stage.aside("rules")?;
    let (toml, starlark) = (
        aside.join(format!("{count}.toml")),
        aside.join(format!("{count}.rules")),
    );
    write(&toml, ours(count)?)?;
    write(&starlark, theirs(count)?)?;
    let run = |name, whose, program: &Path, words: Vec<OsString>| {
        let mut process = bare::quiet(program, &stage.workspace);
        let homes = ["CODEX_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"];
        process
            .args(words)
            .envs(ways::environment(stage))
            .envs(homes.map(|name| (name, &aside)));
        Contestant::timed(name, whose, move || run_or_complain(&mut process, PATIENCE))
    };
    let words = |start: &[&str], file: Option<&Path>, end: &[&str]| {
        let start = start.iter().map(OsString::from);
        let end = end.iter().map(OsString::from);
        start.chain(file.map(Into::into)).chain(end).collect()
    };
    let question = ["--", HIT[0], HIT[1], HIT[2]];
    let palisade = &bench.programs.palisade;
    let mut all = vec![
        run(
            "a process: `/bin/true`",
            Whose::Bare,
            Path::new(TRUE),
            vec![],
        ),
        run(
            NOTHING,
            Whose::Ours,
            palisade,
            words(&["--version"], None, &[]),
        ),
        run(
            CHECK,
            Whose::Ours,
            palisade,
            words(&["check", "--policy"], Some(&toml), &question),
        ),
    ];
    let codex = codex(bench);
    if bench.peers && codex.is_file() {
        all.extend([
            run(
                CODEX_NOTHING,
                Whose::Peer,
                &codex,
                words(&["--version"], None, &[]),
            ),
            run(
                CODEX_CHECK,
                Whose::Peer,
                &codex,
                words(
                    &["execpolicy", "check", "--rules"],
                    Some(&starlark),
                    &question,
                ),
            ),
        ]);
    }
    Ok(all)
}

fn codex(bench: &Bench<'_>) -> PathBuf {
    bench.programs.peers.join("node/node_modules/.bin/codex")
}

/// What reading the rules and deciding takes, without the start of the process.
fn remarks(rows: &[Row]) -> Vec<String> {
    let median = |case: &str, subject: &str| {
        let mut rows = rows.iter();
        rows.find(|row| row.case == case && row.subject == subject)?
            .median()
    };
    let mut remarks = Vec::new();
    for count in COUNTS {
        let case = case(count);
        for (whose, check, nothing) in [
            ("palisade", CHECK, NOTHING),
            ("codex", CODEX_CHECK, CODEX_NOTHING),
        ] {
            if let (Some(check), Some(nothing)) = (median(&case, check), median(&case, nothing)) {
                remarks.push(format!(
                    "{case}: {whose} takes {:.2} ms to read them and decide once, besides starting and ending.",
                    (check - nothing) / 1e6
                ));
            }
        }
    }
    remarks
}

/// Nanoseconds for each.
fn repeat(mut decide: impl FnMut()) -> Result<Vec<f64>> {
    /// Decisions between two looks at the clock.
    const BATCH: u32 = 20;
    let begun = Instant::now();
    let mut decisions = 0;
    while begun.elapsed() < REPEATED {
        for _ in 0..BATCH {
            decide();
        }
        decisions += BATCH;
    }
    Ok(vec![nanoseconds(begun.elapsed()) / f64::from(decisions)])
}

fn rules(layer: Layer, name: &str, text: &str) -> Result<Vec<Rule>> {
    let file = parse(&Source::new(layer, name, text));
    Ok(file.context("the rules")?.rules)
}

/// So many rules in our language.
fn ours(count: usize) -> Result<String> {
    let mut text = String::from("version = 1\n");
    for index in 0..count {
        let (tool, list, decision) = shape(index, "forbid");
        writeln!(
            text,
            "[[rule]]\nid = \"r{index}\"\nprefix = [\"{tool}\", [\"get\", \"{list}\"], \"item{index}\"]\n\
             decision = \"{decision}\"\nwhy = \"rule {index}\""
        )?;
    }
    Ok(text)
}

/// The same rules in the language of codex.
fn theirs(count: usize) -> Result<String> {
    let mut text = String::new();
    for index in 0..count {
        let (tool, list, decision) = shape(index, "forbidden");
        writeln!(
            text,
            "prefix_rule(pattern=[\"{tool}\", [\"get\", \"{list}\"], \"item{index}\"], decision=\"{decision}\")"
        )?;
    }
    Ok(text)
}

fn shape(index: usize, forbid: &'static str) -> (String, String, &'static str) {
    let decision = match index % 3 {
        0 => "allow",
        1 => "prompt",
        _ => forbid,
    };
    (
        format!("tool{}", index % 97),
        format!("list{}", index % 13),
        decision,
    )
}
