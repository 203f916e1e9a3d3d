//! What a profile decides, under either model of precedence.

use palisade_policy::AbsolutePath;

use super::automaton::Automaton;
use super::operations;
use super::pattern::PatternProblem;
use super::request::{Address, Name, Request, Transport};
use crate::profile::{
    Decision, Endpoint, EndpointHost, Filter, Operation, ParameterName, Parameters, PathValue,
    Rule, Target, VnodeType,
};

/// Which rule decides where several could. Nobody has documented it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a profile is judged under all that are known, so a new one must break the builds"
)]
pub enum Precedence {
    /// Model H, which fits every published observation: the operation itself, then each operation that it falls back
    /// to. At each the last rule with a filter that holds decides; if none does, the last rule without filters.
    PerOperation,
    /// Model F, which most people write down: of all rules that apply, the last one decides.
    LastMatch,
}

impl Precedence {
    /// Both.
    pub const ALL: [Self; 2] = [Self::PerOperation, Self::LastMatch];
}

/// What a profile decides about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Ruling {
    /// Allow or deny.
    pub decision: Decision,
    /// The rule that decided, counted from 0; `None` if no rule applies, which denies.
    pub rule: Option<usize>,
}

impl Ruling {
    /// Whether the request is allowed.
    #[must_use]
    pub fn is_allowed(self) -> bool {
        self.decision == Decision::Allow
    }
}

/// Why rules do not compile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// A parameter that nobody set. The compiler of macOS refuses such a profile too.
    #[error("rule {rule}: the parameter {name} is not set")]
    UnsetParameter {
        /// The rule, counted from 0.
        rule: usize,
        /// The parameter.
        name: ParameterName,
    },
    /// An operation that is not known.
    #[error("rule {rule}: {operation} is no operation that is known")]
    UnknownOperation {
        /// The rule, counted from 0.
        rule: usize,
        /// The operation.
        operation: Operation,
    },
    /// A pattern outside the subset that every reader understands alike.
    #[error("rule {rule}: the pattern {pattern}: {problem}")]
    Pattern {
        /// The rule, counted from 0.
        rule: usize,
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        problem: PatternProblem,
    },
}

/// A request that cannot be decided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no operation that is known")]
#[non_exhaustive]
pub struct UnknownOperation(pub Operation);

/// A profile, ready to be asked.
#[derive(Clone, Debug)]
pub struct Model {
    rules: Vec<Compiled>,
}

#[derive(Clone, Debug)]
struct Compiled {
    decision: Decision,
    operations: Vec<&'static str>,
    conditions: Vec<Condition>,
}

/// A filter with its parameters filled in.
#[derive(Clone, Debug)]
enum Condition {
    Literal(Vec<u8>),
    Subpath(Vec<u8>),
    Ancestors(Vec<u8>),
    Regex(Automaton),
    VnodeType(VnodeType),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Remote(End),
    Local(End),
    Name(Name),
    NamePrefix(Name),
    Extension(String),
    Target(Target),
}

#[derive(Clone, Debug)]
enum End {
    Internet {
        transport: Option<Transport>,
        host: EndpointHost,
        port: Option<u16>,
    },
    Unix(Vec<Condition>),
}

impl Model {
    /// Compiles rules, with what their parameters stand for.
    ///
    /// # Errors
    /// A parameter is not set, an operation is not known, or a pattern is outside the subset.
    pub fn new(rules: &[Rule], parameters: &Parameters) -> Result<Self, CompileError> {
        let compiled = rules.iter().enumerate().map(|(index, rule)| {
            let compiler = Compiler {
                rule: index,
                parameters,
            };
            compiler.rule(rule)
        });
        Ok(Self {
            rules: compiled.collect::<Result<_, _>>()?,
        })
    }

    /// How many rules there are.
    #[must_use]
    pub const fn rule_count(&self) -> usize {
        self.rules.len()
    }

    /// What the profile decides.
    ///
    /// # Errors
    /// The operation is not known.
    pub fn decide(
        &self,
        request: &Request,
        precedence: Precedence,
    ) -> Result<Ruling, UnknownOperation> {
        let Some(operation) = operations::canonical(request.operation.name()) else {
            return Err(UnknownOperation(request.operation.clone()));
        };
        let deciding = match precedence {
            Precedence::PerOperation => {
                operations::chain(operation).find_map(|operation| self.at(operation, request))
            }
            Precedence::LastMatch => {
                let chain: Vec<_> = operations::chain(operation).collect();
                self.last(|rule| {
                    let about_it = rule.operations.iter().any(|named| chain.contains(named));
                    about_it && (rule.conditions.is_empty() || rule.holds(request))
                })
            }
        };
        Ok(match deciding {
            Some((index, decision)) => Ruling {
                decision,
                rule: Some(index),
            },
            None => Ruling {
                decision: Decision::Deny,
                rule: None,
            },
        })
    }

    /// Whether everything that is asked for is allowed, as a system call needs it. Nothing asked for is allowed.
    ///
    /// # Errors
    /// An operation is not known.
    pub fn allows<'a>(
        &self,
        requests: impl IntoIterator<Item = &'a Request>,
        precedence: Precedence,
    ) -> Result<bool, UnknownOperation> {
        for request in requests {
            if !self.decide(request, precedence)?.is_allowed() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What the rules about exactly this operation say: those with filters first, then those without.
    fn at(&self, operation: &'static str, request: &Request) -> Option<(usize, Decision)> {
        let about_it = |rule: &Compiled| rule.operations.contains(&operation);
        let filtered =
            |rule: &Compiled| about_it(rule) && !rule.conditions.is_empty() && rule.holds(request);
        self.last(filtered)
            .or_else(|| self.last(|rule| about_it(rule) && rule.conditions.is_empty()))
    }

    fn last(&self, applies: impl Fn(&Compiled) -> bool) -> Option<(usize, Decision)> {
        let mut rules = self.rules.iter().enumerate().rev();
        let found = rules.find(|(_, rule)| applies(rule));
        found.map(|(index, rule)| (index, rule.decision))
    }
}

/// Reads nothing, keeps nothing: compiles the rules and asks them once. Who asks often makes a [`Model`].
///
/// # Errors
/// The rules do not compile, or the operation is not known.
pub fn evaluate(
    rules: &[Rule],
    parameters: &Parameters,
    request: &Request,
    precedence: Precedence,
) -> Result<Ruling, EvaluateError> {
    Ok(Model::new(rules, parameters)?.decide(request, precedence)?)
}

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// The rules do not compile.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The request is about an operation that is not known.
    #[error(transparent)]
    Request(#[from] UnknownOperation),
}

struct Compiler<'a> {
    rule: usize,
    parameters: &'a Parameters,
}

impl Compiler<'_> {
    fn rule(&self, rule: &Rule) -> Result<Compiled, CompileError> {
        let operations = rule.operations.iter().map(|operation| {
            let unknown = || CompileError::UnknownOperation {
                rule: self.rule,
                operation: operation.clone(),
            };
            operations::canonical(operation.name()).ok_or_else(unknown)
        });
        Ok(Compiled {
            decision: rule.decision,
            operations: operations.collect::<Result<_, _>>()?,
            conditions: self.conditions(&rule.filters)?,
        })
    }

    fn conditions(&self, filters: &[Filter]) -> Result<Vec<Condition>, CompileError> {
        filters
            .iter()
            .map(|filter| self.condition(filter))
            .collect()
    }

    fn condition(&self, filter: &Filter) -> Result<Condition, CompileError> {
        let exactly = |name: Name| Ok(Condition::Name(name));
        let prefix = |name: Name| Ok(Condition::NamePrefix(name));
        match filter {
            Filter::Literal(path) => Ok(Condition::Literal(self.path(path)?)),
            Filter::Subpath(path) => Ok(Condition::Subpath(self.path(path)?)),
            Filter::PathAncestors(path) => Ok(Condition::Ancestors(self.path(path)?)),
            Filter::Regex(pattern) => match Automaton::new(pattern.as_str()) {
                Ok(automaton) => Ok(Condition::Regex(automaton)),
                Err(problem) => Err(CompileError::Pattern {
                    rule: self.rule,
                    pattern: pattern.as_str().to_owned(),
                    problem,
                }),
            },
            Filter::VnodeType(vnode_type) => Ok(Condition::VnodeType(*vnode_type)),
            Filter::All(inner) => Ok(Condition::All(self.conditions(inner)?)),
            Filter::Any(inner) => Ok(Condition::Any(self.conditions(inner)?)),
            Filter::Not(inner) => Ok(Condition::Not(Box::new(self.condition(inner)?))),
            Filter::Remote(endpoint) => Ok(Condition::Remote(self.end(endpoint)?)),
            Filter::Local(endpoint) => Ok(Condition::Local(self.end(endpoint)?)),
            Filter::GlobalName(name) => exactly(Name::Global(name.clone())),
            Filter::GlobalNamePrefix(name) => prefix(Name::Global(name.clone())),
            Filter::LocalName(name) => exactly(Name::Local(name.clone())),
            Filter::SysctlName(name) => exactly(Name::Sysctl(name.clone())),
            Filter::SysctlNamePrefix(name) => prefix(Name::Sysctl(name.clone())),
            Filter::IpcPosixName(name) => exactly(Name::IpcPosix(name.clone())),
            Filter::IpcPosixNamePrefix(name) => prefix(Name::IpcPosix(name.clone())),
            Filter::IokitRegistryEntryClass(name) => {
                exactly(Name::IokitRegistryEntryClass(name.clone()))
            }
            Filter::IokitUserClientClass(name) => exactly(Name::IokitUserClientClass(name.clone())),
            Filter::PreferenceDomain(name) => exactly(Name::PreferenceDomain(name.clone())),
            Filter::SocketDomain(name) => exactly(Name::SocketDomain(name.clone())),
            Filter::Extension(class) => Ok(Condition::Extension(class.clone())),
            Filter::Target(target) => Ok(Condition::Target(*target)),
        }
    }

    fn end(&self, endpoint: &Endpoint) -> Result<End, CompileError> {
        let internet = |transport, host: &EndpointHost, port: &Option<u16>| End::Internet {
            transport,
            host: *host,
            port: *port,
        };
        Ok(match endpoint {
            Endpoint::Ip { host, port } => internet(None, host, port),
            Endpoint::Tcp { host, port } => internet(Some(Transport::Tcp), host, port),
            Endpoint::Udp { host, port } => internet(Some(Transport::Udp), host, port),
            Endpoint::UnixSocket(filters) => End::Unix(self.conditions(filters)?),
        })
    }

    fn path(&self, value: &PathValue) -> Result<Vec<u8>, CompileError> {
        match value {
            PathValue::Fixed(text) => Ok(text.clone().into_bytes()),
            PathValue::Parameter(name) => match self.parameters.get(name) {
                Some(path) => Ok(bytes(path).to_vec()),
                None => Err(CompileError::UnsetParameter {
                    rule: self.rule,
                    name: name.clone(),
                }),
            },
        }
    }
}

fn bytes(path: &AbsolutePath) -> &[u8] {
    path.as_path().as_os_str().as_encoded_bytes()
}

impl Compiled {
    fn holds(&self, request: &Request) -> bool {
        self.conditions
            .iter()
            .any(|condition| condition.holds(request))
    }
}

impl Condition {
    fn holds(&self, request: &Request) -> bool {
        let path = request.path.as_ref().map(bytes);
        match self {
            Self::Literal(literal) => path == Some(literal),
            Self::Subpath(top) => path.is_some_and(|path| within(top, path)),
            // Every directory above, `/` too; not the path itself.
            Self::Ancestors(below) => {
                path.is_some_and(|path| path != below.as_slice() && within(path, below))
            }
            Self::Regex(automaton) => path.is_some_and(|path| automaton.is_match(path)),
            Self::VnodeType(vnode_type) => request.vnode_type == Some(*vnode_type),
            Self::All(inner) => inner.iter().all(|condition| condition.holds(request)),
            Self::Any(inner) => inner.iter().any(|condition| condition.holds(request)),
            Self::Not(inner) => !inner.holds(request),
            Self::Remote(end) => request
                .remote
                .as_ref()
                .is_some_and(|address| end.fits(address, request)),
            Self::Local(end) => request
                .local
                .as_ref()
                .is_some_and(|address| end.fits(address, request)),
            Self::Name(name) => request.name.as_ref() == Some(name),
            Self::NamePrefix(prefix) => request
                .name
                .as_ref()
                .is_some_and(|name| begins_with(name, prefix)),
            Self::Extension(class) => request.extensions.contains(class),
            Self::Target(target) => request
                .target
                .is_some_and(|actual| includes(*target, actual)),
        }
    }
}

impl End {
    fn fits(&self, address: &Address, request: &Request) -> bool {
        match (self, address) {
            (
                Self::Internet {
                    transport,
                    host,
                    port,
                },
                Address::Internet {
                    transport: actual,
                    loopback,
                    port: actual_port,
                },
            ) => {
                transport.is_none_or(|transport| transport == *actual)
                    && (*host == EndpointHost::Any || *loopback)
                    && port.is_none_or(|port| port == *actual_port)
            }
            (Self::Unix(conditions), Address::Unix(_)) => {
                conditions.is_empty() || conditions.iter().any(|condition| condition.holds(request))
            }
            _ => false,
        }
    }
}

/// Whether a path is the other or below it, by their bytes. A path that ends in a slash holds nothing, as on macOS.
fn within(top: &[u8], path: &[u8]) -> bool {
    match path.strip_prefix(top) {
        Some([]) => true,
        Some([first, ..]) => *first == b'/' || top == b"/",
        None => false,
    }
}

fn begins_with(name: &Name, prefix: &Name) -> bool {
    match (name, prefix) {
        (Name::Global(name), Name::Global(prefix))
        | (Name::Sysctl(name), Name::Sysctl(prefix))
        | (Name::IpcPosix(name), Name::IpcPosix(prefix)) => name.starts_with(prefix.as_str()),
        _ => false,
    }
}

/// Whether a process that stands in this relation to the asking one is meant by a target. Deduced from the names.
const fn includes(target: Target, actual: Target) -> bool {
    match target {
        Target::Itself => matches!(actual, Target::Itself),
        Target::Children => matches!(actual, Target::Children),
        Target::ProcessGroup => matches!(actual, Target::Itself | Target::ProcessGroup),
        // A child inherits its parent's sandbox.
        Target::SameSandbox => matches!(
            actual,
            Target::Itself | Target::Children | Target::SameSandbox
        ),
        Target::Others => !matches!(actual, Target::Itself),
    }
}
