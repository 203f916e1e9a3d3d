//! The same from the files on: random rules of a user and of a project that nobody trusts, asked about a random script.

use arbitrary::Arbitrary;
use palisade_exec_policy::language::{Layer, Source};
use palisade_exec_policy::matching::{CommandFacts, Evaluation, PlaceFacts};
use palisade_exec_policy::{RuleDecision, Rules, SegmentVerdict};
use palisade_policy::{AbsolutePath, HostFacts, Os};
use palisade_shell_analysis::{Analysis, Limits, Shell, Word, analyze_script};

use super::{Setting, Strictness, strictness};

/// Words that meet each other.
const WORDS: [&str; 8] = ["git", "push", "ls", "rm", "-f", "--force", "a", "cat"];
/// What a script is made of besides.
const PARTS: [&str; 24] = [
    " && ",
    " | ",
    "; ",
    "\n",
    " || ",
    "$x",
    "$(",
    "`",
    "(",
    ")",
    "'",
    "\"",
    "env ",
    "sudo ",
    "bash -c ",
    "xargs ",
    " > ",
    " <(",
    "A=1 ",
    "\\",
    "*",
    "if true; then ",
    "; fi",
    " &",
];

#[derive(Arbitrary, Debug)]
pub(crate) struct Case {
    script: Vec<u8>,
    user: Vec<RandomRule>,
    project: Vec<RandomRule>,
    opaque_default: u8,
}

#[derive(Arbitrary, Debug)]
struct RandomRule {
    prefix: [u8; 3],
    length: u8,
    decision: u8,
    unsandboxed: bool,
    flags: bool,
}

impl RandomRule {
    fn prefix(&self) -> Vec<&'static str> {
        let words = self
            .prefix
            .iter()
            .map(|word| WORDS[usize::from(*word) % WORDS.len()]);
        words.take(1 + usize::from(self.length % 3)).collect()
    }

    fn decision(&self) -> &'static str {
        ["allow", "prompt", "forbid"][usize::from(self.decision % 3)]
    }

    fn text(&self, id: &str) -> String {
        let mut text = format!("[[rule]]\nid = \"{id}\"\nprefix = {:?}\n", self.prefix());
        text.push_str(&format!(
            "decision = \"{}\"\nwhy = \"fuzz\"\n",
            self.decision()
        ));
        if self.flags {
            text.push_str("when.flags = [\"--force\", \"-f\"]\n");
        } else if self.unsandboxed && self.decision() != "forbid" {
            text.push_str("unsandboxed = true\n");
        }
        text
    }
}

fn file(rules: &[RandomRule], beginning: &str) -> String {
    let rules = rules.iter().take(4).enumerate();
    let rules = rules.map(|(i, rule)| rule.text(&format!("rule-{i}")));
    rules.fold(format!("version = 1\n{beginning}"), |text, rule| {
        text + &rule
    })
}

impl Case {
    fn script(&self) -> String {
        let part = |byte: &u8| match usize::from(*byte) {
            byte if byte < 128 => format!("{} ", WORDS[byte % WORDS.len()]),
            byte => PARTS[byte % PARTS.len()].to_owned(),
        };
        self.script.iter().take(24).map(part).collect()
    }

    pub(crate) fn run(&self, setting: &Setting) {
        let home = AbsolutePath::new("/home/dev").expect("it is absolute");
        let host = HostFacts::new(Os::Linux).with_home(home);
        let place = PlaceFacts::new(
            &AbsolutePath::new("/srv/app").expect("it is absolute"),
            &host,
        );
        let facts = CommandFacts::new(&place);
        let beginning = match self.opaque_default % 4 {
            0 => "[defaults]\nopaque = \"prompt\"\n",
            1 => "[defaults]\nunmatched = \"forbid\"\n",
            _ => "",
        };
        let user = file(&self.user, beginning);
        let project = file(&self.project, "");
        let load = |sources: &[(Layer, &str)]| {
            let sources = sources
                .iter()
                .map(|(layer, text)| Source::new(*layer, layer.name(), text));
            Rules::load(sources, &place).ok()
        };
        let (Some(alone), Some(both)) = (
            load(&[(Layer::User, &user)]),
            load(&[(Layer::User, &user), (Layer::Project, &project)]),
        ) else {
            return;
        };
        let script = self.script();
        let analysis = analyze_script(&script, Shell::Bash, &Limits::default());
        let before = judge(setting, &alone.evaluate(&analysis, &facts), &analysis);
        let after = judge(setting, &both.evaluate(&analysis, &facts), &analysis);
        assert!(
            after >= before,
            "a project that nobody trusts loosens {script:?} from {before:?} to {after:?}:\n{user}\n{project}"
        );
        for rule in self.user.iter().take(4).chain(self.project.iter().take(4)) {
            if rule.decision() == "forbid" && !rule.flags && runs(&analysis, &rule.prefix()) {
                assert_eq!(
                    after,
                    Strictness::Forbids,
                    "{script:?} is forbidden:\n{user}\n{project}"
                );
            }
        }
    }
}

/// Decides, and holds the decision to the laws.
fn judge(setting: &Setting, evaluation: &Evaluation<'_>, analysis: &Analysis) -> Strictness {
    let verdicts = evaluation.verdicts();
    let decision = setting.decide(&verdicts, evaluation.risk());
    setting.hold(&verdicts, &decision);
    if analysis.plain.is_err() {
        assert_ne!(evaluation.rule_decision(), RuleDecision::Allow);
        let allows = |verdict: &SegmentVerdict<'_>| matches!(verdict, SegmentVerdict::Allow { .. });
        assert!(
            !verdicts.iter().all(allows),
            "what nobody can read is allowed"
        );
        assert_ne!(strictness(&decision), Strictness::RunsUnsandboxed);
    }
    strictness(&decision)
}

/// Whether the script plainly runs a command that begins so.
fn runs(analysis: &Analysis, prefix: &[&str]) -> bool {
    let Ok(plain) = &analysis.plain else {
        return false;
    };
    plain.commands.iter().any(|command| {
        let words: Option<Vec<&[u8]>> = command.words.iter().map(Word::literal).collect();
        words.is_some_and(|words| {
            words.len() >= prefix.len()
                && prefix
                    .iter()
                    .zip(words)
                    .all(|(wanted, word)| wanted.as_bytes() == word)
        })
    })
}
