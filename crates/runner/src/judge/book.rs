//! The policy files that rules are made of, kept so that they can be made anew when somebody agrees to more.

use std::sync::{Arc, OnceLock};

use palisade_exec_policy::language::{Layer, LoadContext, PolicyErrors, PolicyFile, Source, parse};
use palisade_exec_policy::matching::{PlaceFacts, builtin};
use palisade_exec_policy::{Rules, RulesError};
use palisade_policy::{AbsolutePath, HostFacts, Os};

/// What the rules that people agreed to are called in messages.
const KEPT: [&str; 2] = ["stored approvals", "approvals of this session"];

/// Policy files of all layers, parsed.
#[derive(Clone, Debug)]
pub struct RuleBook {
    /// Whether the built-in files come before these. They are read when rules are made: nobody holds them twice.
    with_builtin: bool,
    files: Vec<PolicyFile>,
    context: LoadContext,
    /// The rules of the files alone, once somebody has asked for them: making them takes longer than starting a process.
    alone: Arc<OnceLock<Arc<Rules>>>,
}

impl RuleBook {
    /// The built-in rules and nothing else.
    ///
    /// # Errors
    /// Never, unless this crate was built wrong.
    pub fn builtin() -> Result<Self, RulesError> {
        Self::with_builtin(Vec::new(), LoadContext::new())
    }

    /// The built-in rules and these files.
    ///
    /// # Errors
    /// Never: what is wrong with them is told when rules are made of them.
    pub fn with_builtin(files: Vec<PolicyFile>, context: LoadContext) -> Result<Self, RulesError> {
        Ok(Self {
            with_builtin: true,
            ..Self::only(files, context)
        })
    }

    /// The built-in rules and a policy in a string, as the user's own.
    ///
    /// # Errors
    /// The text is not a policy.
    pub fn from_text(name: &str, text: &str) -> Result<Self, RulesError> {
        let file = parse(&Source::new(Layer::User, name, text)).map_err(RulesError::Load)?;
        Self::with_builtin(vec![file], LoadContext::new())
    }

    /// These files and no others.
    #[must_use]
    pub fn only(files: Vec<PolicyFile>, context: LoadContext) -> Self {
        Self {
            with_builtin: false,
            files,
            context,
            alone: Arc::default(),
        }
    }

    /// The rules, together with those that people agreed to: texts of policy files, or empty.
    ///
    /// # Errors
    /// A file does not load, or an example does not hold.
    pub fn rules(&self, kept: &[String]) -> Result<Arc<Rules>, RulesError> {
        if kept.iter().any(|text| !text.is_empty()) {
            return self.with(kept).map(Arc::new);
        }
        if let Some(rules) = self.alone.get() {
            return Ok(Arc::clone(rules));
        }
        let rules = self.with(&[]).map(Arc::new)?;
        Ok(Arc::clone(self.alone.get_or_init(|| rules)))
    }

    fn with(&self, kept: &[String]) -> Result<Rules, RulesError> {
        if self.with_builtin && kept.iter().all(String::is_empty) {
            let files = self.files.clone();
            return Rules::from_files_with_builtin(files, &self.context, example_place);
        }
        let mut files = match self.with_builtin {
            true => builtin::files_to_judge().map_err(RulesError::Load)?,
            false => Vec::new(),
        };
        files.extend(self.files.iter().cloned());
        for (name, text) in KEPT.iter().zip(kept).filter(|(_, text)| !text.is_empty()) {
            let file: Result<_, PolicyErrors> = parse(&Source::new(Layer::User, *name, text));
            let mut file = file.map_err(RulesError::Load)?;
            // One id, one rule: what is agreed to twice is agreed to once.
            file.rules.retain(|rule| {
                !files
                    .iter()
                    .flat_map(|file| &file.rules)
                    .any(|one| one.id == rule.id)
            });
            files.push(file);
        }
        Rules::from_files(files, &self.context, &example_place()?)
    }
}

/// Where the examples of policies are judged: in a project called `/srv/app`, of somebody who lives in `/home/dev`. A
/// policy whose examples hold on one machine then loads on every other, whatever projects are called there.
///
/// # Errors
/// Never, unless this crate was built wrong.
pub fn example_place() -> Result<PlaceFacts, RulesError> {
    let path = |unix: &str, elsewhere: &str| {
        let path = if cfg!(windows) { elsewhere } else { unix };
        AbsolutePath::new(path).map_err(|_| RulesError::Examples(Vec::new()))
    };
    let project = path("/srv/app", r"C:\srv\app")?;
    let host = HostFacts::new(Os::Linux).with_home(path("/home/dev", r"C:\Users\dev")?);
    Ok(PlaceFacts::new(&project, &host))
}
