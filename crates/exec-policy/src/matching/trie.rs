//! Prefixes as a tree of tokens: one hash step per word, however many rules there are. Each program has a tree of its own,
//! which is made when somebody asks about the program: there are many, and a command is about a few.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, OnceLock};

use super::args::Arg;
use super::options::{self, Skip, Table, Tables};
use super::rule::CompiledRule;

/// A place in the tree.
pub(crate) type NodeId = u32;
/// A rule, by its index in the ruleset.
pub(crate) type RuleId = u32;
type Token = u32;

/// Where every walk begins.
const ROOT: NodeId = 0;

/// A position with more alternatives than this, all positions multiplied, is compared word by word instead.
const MAX_PATHS: usize = 1024;

/// How many ways through unknown options a strict walk tries.
const MAX_WAYS: usize = 64;

#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    /// Rules whose prefix ends here.
    pub(crate) rules: Vec<Entry>,
    /// Has children: options before the next position are looked through.
    inner: bool,
    /// A program whose own options may stand before a subcommand.
    has_globals: bool,
    /// Options of the program or subcommand that leads here.
    pub(crate) table: Option<Arc<Table>>,
    /// Options that only some rules know.
    extra: Option<Box<Table>>,
}

/// A rule at its last node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) rule: RuleId,
    /// How many positions the tree has checked; fewer than all only for very wide prefixes.
    pub(crate) checked: u32,
}

/// The trees of all programs, by their keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Forest(HashMap<Box<[u8]>, Planted>);

/// What becomes the tree of a program.
#[derive(Clone, Debug, Default)]
struct Planted {
    /// Rules, in their order, each with the name of the program in it.
    rules: Vec<(RuleId, String)>,
    trie: OnceLock<Trie>,
}

impl Forest {
    /// Adds a rule under a key for its program.
    pub(crate) fn add(&mut self, key: &[u8], program: &str, rule: RuleId) {
        let planted = match self.0.get_mut(key) {
            Some(planted) => planted,
            None => self.0.entry(key.into()).or_default(),
        };
        planted.rules.push((rule, program.to_owned()));
        planted.trie = OnceLock::new();
    }

    /// The tree of a program, if there is a rule about it. The rules and the tables must always be the same.
    pub(crate) fn of(&self, key: &[u8], rules: &[CompiledRule], tables: &Tables) -> Option<&Trie> {
        let planted = self.0.get(key)?;
        Some(planted.trie.get_or_init(|| {
            let mut trie = Trie::default();
            for (id, program) in &planted.rules {
                let rule = usize::try_from(*id).ok().and_then(|id| rules.get(id));
                if let Some(rule) = rule {
                    trie.insert(program, rule, *id, tables);
                }
            }
            trie
        }))
    }
}

/// The tree of a program. Its root is the first node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trie {
    tokens: HashMap<Box<[u8]>, Token>,
    edges: HashMap<u64, NodeId, BuildHasherDefault<EdgeHasher>>,
    nodes: Vec<Node>,
}

/// Where a walk came past.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visit {
    pub(crate) node: NodeId,
    /// The first word after the prefix.
    pub(crate) rest: usize,
    /// How many options were skipped that only some rules know.
    pub(crate) extra: usize,
}

/// What an exact walk skipped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skipped<'a> {
    /// Values of options of the built-in tables.
    pub(crate) values: Vec<Arg<'a>>,
    /// Options that only some rules know: the word they start at, and how many words they take.
    pub(crate) extra: Vec<(usize, usize)>,
}

/// Mixes the two numbers of an edge. They are handed out here, so that nobody can choose them to collide.
#[derive(Clone, Copy, Debug, Default)]
struct EdgeHasher(u64);

impl Hasher for EdgeHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(self.0.rotate_left(8) ^ u64::from(byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        let mixed = (value ^ (value >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

const fn edge(node: NodeId, token: Token) -> u64 {
    ((node as u64) << 32) | token as u64
}

impl Trie {
    fn insert(&mut self, program: &str, rule: &CompiledRule, id: RuleId, tables: &Tables) {
        if self.nodes.is_empty() {
            let root = self.new_node(tables.get(program));
            if let Some(node) = self.nodes.get_mut(root as usize) {
                node.has_globals = tables.has_globals(program);
            }
        }
        let positions = rule.prefix.get(1..).unwrap_or_default();
        let has_tables = tables.knows(program);
        let mut ends: Vec<(NodeId, String)> = vec![(ROOT, program.to_owned())];
        let mut checked = 1u32;
        for alternatives in positions {
            if ends.len().saturating_mul(alternatives.len()) > MAX_PATHS {
                break;
            }
            let mut next = Vec::with_capacity(ends.len().saturating_mul(alternatives.len()));
            for (node, path) in &ends {
                if let Some(globals) = &rule.globals {
                    self.add_extra(*node, globals);
                }
                for token in alternatives {
                    let path = if has_tables {
                        format!("{path} {token}")
                    } else {
                        String::new()
                    };
                    let child = self.child(*node, token.as_bytes(), || tables.get(&path));
                    next.push((child, path));
                }
            }
            ends = next;
            checked = checked.saturating_add(1);
        }
        for (node, _) in ends {
            if let Some(node) = self.nodes.get_mut(node as usize) {
                node.rules.push(Entry { rule: id, checked });
            }
        }
    }

    fn new_node(&mut self, table: Option<&Arc<Table>>) -> NodeId {
        let id = NodeId::try_from(self.nodes.len()).unwrap_or(NodeId::MAX);
        self.nodes.push(Node {
            table: table.cloned(),
            ..Node::default()
        });
        id
    }

    fn child<'t>(
        &mut self,
        node: NodeId,
        token: &[u8],
        table: impl FnOnce() -> Option<&'t Arc<Table>>,
    ) -> NodeId {
        let token = match self.tokens.get(token) {
            Some(token) => *token,
            None => {
                let id = Token::try_from(self.tokens.len()).unwrap_or(Token::MAX);
                self.tokens.insert(token.into(), id);
                id
            }
        };
        if let Some(child) = self.edges.get(&edge(node, token)) {
            return *child;
        }
        let child = self.new_node(table());
        self.edges.insert(edge(node, token), child);
        if let Some(node) = self.nodes.get_mut(node as usize) {
            node.inner = true;
        }
        child
    }

    fn add_extra(&mut self, node: NodeId, globals: &Table) {
        if let Some(node) = self.nodes.get_mut(node as usize) {
            let extra = node.extra.get_or_insert_default();
            for options in globals.written() {
                extra.add(options.clone());
            }
        }
    }

    pub(crate) fn node(&self, node: NodeId) -> Option<&Node> {
        self.nodes.get(node as usize)
    }

    fn step(&self, node: NodeId, word: &[u8]) -> Option<NodeId> {
        let token = self.tokens.get(word)?;
        self.edges.get(&edge(node, *token)).copied()
    }

    /// Follows the words exactly: an option that no table knows ends the walk.
    pub(crate) fn walk_exact<'a>(
        &'a self,
        words: &[Arg<'a>],
        visits: &mut Vec<Visit>,
        skipped: &mut Skipped<'a>,
    ) {
        let mut node = ROOT;
        let mut at = 1;
        let extra = 0;
        visits.push(Visit {
            node,
            rest: at,
            extra,
        });
        while let (Some(here), Some(word)) = (self.node(node), words.get(at).copied()) {
            if !here.inner {
                return;
            }
            if let Some(child) = word.known().and_then(|word| self.step(node, word)) {
                node = child;
                at = at.saturating_add(1);
                let extra = skipped.extra.len();
                visits.push(Visit {
                    node,
                    rest: at,
                    extra,
                });
                continue;
            }
            let rest = words.get(at..).unwrap_or_default();
            let plus = word.known().is_some_and(|word| word.first() == Some(&b'+'));
            if !plus && !word.may_be_option() {
                return;
            }
            let globals = here.table.as_ref().filter(|_| here.has_globals);
            let known = globals.map(|table| options::skip(table, rest));
            match known.unwrap_or(Skip::Unknown) {
                Skip::Known(used, value) => {
                    at = at.saturating_add(used);
                    skipped.values.extend(value);
                }
                Skip::Unknown => {
                    let Some(Skip::Known(used, _)) =
                        here.extra.as_ref().map(|extra| options::skip(extra, rest))
                    else {
                        return;
                    };
                    skipped.extra.push((at, used));
                    at = at.saturating_add(used);
                }
            }
        }
    }

    /// Follows the words generously: an unknown option may or may not take the next word. Says whether a word that is
    /// not known stands where a rule looks for one.
    pub(crate) fn walk_generous(&self, words: &[Arg<'_>], visits: &mut Vec<Visit>) -> bool {
        let mut undecided = false;
        // The one way there usually is needs no list.
        let mut current = Some((ROOT, 1usize));
        let mut ways: Vec<(NodeId, usize)> = Vec::new();
        let mut budget = MAX_WAYS;
        visits.push(Visit {
            node: ROOT,
            rest: 1,
            extra: 0,
        });
        while let Some((node, at)) = current.take().or_else(|| ways.pop()) {
            let (Some(here), Some(word)) = (self.node(node), words.get(at).copied()) else {
                continue;
            };
            if !here.inner {
                continue;
            }
            if budget == 0 {
                return true;
            }
            budget = budget.saturating_sub(1);
            undecided |= word.known().is_none();
            let mut go = |next: (NodeId, usize)| {
                if current.is_none() {
                    current = Some(next);
                } else if !ways.contains(&next) {
                    ways.push(next);
                }
            };
            if let Some(child) = word.known().and_then(|word| self.step(node, word)) {
                let rest = at.saturating_add(1);
                visits.push(Visit {
                    node: child,
                    rest,
                    extra: 0,
                });
                go((child, rest));
            }
            let plus = word.known().is_some_and(|word| word.first() == Some(&b'+'));
            if !plus && !word.may_be_option() {
                continue;
            }
            let rest = words.get(at..).unwrap_or_default();
            match here.table.as_ref().map(|table| options::skip(table, rest)) {
                Some(Skip::Known(used, _)) => go((node, at.saturating_add(used))),
                Some(Skip::Unknown) | None => {
                    go((node, at.saturating_add(1)));
                    if word.known().is_some_and(|word| !word.contains(&b'=')) {
                        go((node, at.saturating_add(2)));
                    }
                }
            }
        }
        undecided
    }
}
