//! The rules as text, for whoever writes a policy.

use std::fmt;

use super::rules::{Action, Argument, Clause, Decision, Rules, Test};
use super::{Arch, Namespaces, Sockets, tables};

/// Where lines of names are broken.
const WIDTH: usize = 100;

impl fmt::Display for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arch = match self.arch {
            Arch::X86_64 => "x86_64",
            Arch::Aarch64 => "aarch64",
        };
        let sockets = match self.sockets {
            Sockets::PairsOnly => "pairs of sockets only",
            Sockets::OwnNetwork => "a network of its own",
            Sockets::HostNetwork => "the network of the host",
        };
        let namespaces = match self.namespaces {
            Namespaces::Own => "namespaces of its own",
            Namespaces::Host => "no namespaces",
        };
        writeln!(f, "{arch}, {sockets}, {namespaces}")?;
        for action in [Action::Eperm, Action::Enosys, Action::Log] {
            let names = self.rules.values().filter(|rule| {
                rule.decision.clauses.is_empty() && self.enforced(rule.decision.otherwise) == action
            });
            let mut names: Vec<_> = names.map(|rule| rule.name).collect();
            names.sort_unstable();
            write_names(f, action, &names)?;
        }
        for (names, decision) in self.judged() {
            writeln!(f, "{}:", names.join(", "))?;
            for Clause { tests, action } in decision.clauses {
                write!(f, "  {} if ", self.enforced(*action))?;
                for (index, test) in tests.iter().enumerate() {
                    let and = if index == 0 { "" } else { ", " };
                    write!(f, "{and}{test}")?;
                }
                writeln!(f)?;
            }
            writeln!(f, "  else {}", self.enforced(decision.otherwise))?;
        }
        if self.arch == Arch::X86_64 {
            writeln!(f, "x32: {}", self.unknown())?;
        }
        let ceiling = tables::ceiling(self.arch);
        writeln!(
            f,
            "numbers above {ceiling} or not in the table: {}",
            self.unknown()
        )?;
        writeln!(f, "other architectures: {}", self.foreign())?;
        writeln!(f, "everything else: {}", Action::Allow)
    }
}

impl Rules {
    /// What is judged by its arguments, by name; calls with the same rule together.
    fn judged(&self) -> Vec<(Vec<&'static str>, Decision)> {
        let mut rules: Vec<_> = self.rules.values().collect();
        rules.retain(|rule| !rule.decision.clauses.is_empty());
        rules.sort_unstable_by_key(|rule| rule.name);
        let mut judged: Vec<(Vec<_>, Decision)> = Vec::new();
        for rule in rules {
            match judged.iter_mut().find(|group| group.1 == rule.decision) {
                Some((names, _)) => names.push(rule.name),
                None => judged.push((vec![rule.name], rule.decision)),
            }
        }
        judged
    }
}

fn write_names(f: &mut fmt::Formatter<'_>, action: Action, names: &[&str]) -> fmt::Result {
    if names.is_empty() {
        return Ok(());
    }
    write!(f, "always {action} ({}):", names.len())?;
    let mut column = WIDTH;
    for name in names {
        if column + 1 + name.len() > WIDTH {
            write!(f, "\n ")?;
            column = 1;
        }
        write!(f, " {name}")?;
        column += 1 + name.len();
    }
    writeln!(f)
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Allow => "allow",
            Self::Log => "log",
            Self::Eperm => "EPERM",
            Self::Enosys => "ENOSYS",
            Self::Kill => "kill",
        })
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        if self.mask != u32::MAX {
            write!(f, " & {:#010x}", self.mask)?;
        }
        Ok(())
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneOf(argument, values) => {
                write!(f, "{argument} = ")?;
                for (index, value) in values.iter().enumerate() {
                    let or = if index == 0 { "" } else { " | " };
                    write!(f, "{or}{}({:#x})", value.0, value.1)?;
                }
                Ok(())
            }
            Self::AnyBit(argument, bits, name) => {
                write!(f, "{argument} has any of {name}({bits:#x})")
            }
            Self::Null(argument) => write!(f, "{argument} is null"),
        }
    }
}
