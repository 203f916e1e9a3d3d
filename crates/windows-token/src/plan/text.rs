//! A plan as policy authors read it.

use std::fmt;

use super::{DesktopPlan, HandlePlan, JobPlan, Plan, Purpose, TokenPlan, UiLimit};
use crate::acl::{Ace, AceFlags, AceKind, Rights};

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.token.fmt(f)?;
        writeln!(f, "access lists:")?;
        for edit in &self.acl_edits {
            writeln!(f, "  {} {}", edit.purpose, edit.path)?;
            for ace in &edit.add {
                writeln!(f, "    {ace}")?;
            }
        }
        for path in &self.hold {
            writeln!(f, "kept open: {path}")?;
        }
        self.job.fmt(f)?;
        writeln!(f, "handles: {}", self.handles)?;
        writeln!(f, "desktop: {}", self.desktop)?;
        writeln!(f, "environment:")?;
        for (name, value) in &self.environment {
            writeln!(f, "  {name}={value}")?;
        }
        Ok(())
    }
}

impl fmt::Display for TokenPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = [
            (self.disable_max_privilege, " disable-max-privilege"),
            (self.lua_token, " lua-token"),
            (self.write_restricted, " write-restricted"),
        ];
        f.write_str("token:")?;
        for (_, name) in flags.into_iter().filter(|(set, _)| *set) {
            f.write_str(name)?;
        }
        writeln!(f)?;
        for sid in &self.restricting {
            writeln!(f, "  may write as {sid}")?;
        }
        for sid in &self.disable {
            writeln!(f, "  may only deny {sid}")?;
        }
        for privilege in &self.delete_privileges {
            writeln!(f, "  without {privilege}")?;
        }
        for ace in &self.default_dacl {
            writeln!(f, "  what it makes: {ace}")?;
        }
        writeln!(f, "  must refuse: {}", Named(self.must_refuse))
    }
}

impl fmt::Display for JobPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("job:")?;
        if self.kill_on_close {
            f.write_str(" kill-on-close")?;
        }
        if self.no_breakaway {
            f.write_str(" no-breakaway")?;
        }
        writeln!(f)?;
        if let Some(count) = self.active_processes {
            writeln!(f, "  limit: {count} processes")?;
        }
        if let Some(bytes) = self.job_memory {
            writeln!(f, "  limit: {bytes} bytes of memory")?;
        }
        if let Some(seconds) = self.cpu_seconds {
            writeln!(f, "  limit: {seconds} processor seconds")?;
        }
        f.write_str("  closed:")?;
        for limit in &self.ui_limits {
            write!(f, " {limit}")?;
        }
        writeln!(f)
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::WritableRoot => "writable ",
            Self::Protected => "protected",
            Self::AboveProtected => "pinned   ",
            Self::Private => "private  ",
        })
    }
}

impl fmt::Display for UiLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Desktop => "desktops",
            Self::DisplaySettings => "display-settings",
            Self::ExitWindows => "exit-windows",
            Self::GlobalAtoms => "global-atoms",
            Self::Handles => "handles-of-others",
            Self::ReadClipboard => "clipboard-read",
            Self::WriteClipboard => "clipboard-write",
            Self::SystemParameters => "system-parameters",
        })
    }
}

impl fmt::Display for HandlePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StandardOnly => f.write_str("the three standard ones, and no others"),
        }
    }
}

impl fmt::Display for DesktopPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Private => f.write_str("its own"),
        }
    }
}

impl fmt::Display for Ace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            AceKind::Deny => "deny ",
            AceKind::Allow => "allow",
        };
        write!(f, "{kind} {}: {}", self.sid, Named(self.rights))?;
        let below = |flag| self.flags.contains(flag);
        match (
            below(AceFlags::CONTAINER_INHERIT),
            below(AceFlags::OBJECT_INHERIT),
        ) {
            (true, true) => f.write_str(", and below")?,
            (true, false) => f.write_str(", and directories below")?,
            (false, true) => f.write_str(", and files below")?,
            (false, false) => {}
        }
        if below(AceFlags::INHERITED) {
            f.write_str(", from above")?;
        }
        Ok(())
    }
}

/// Rights by the name of the set, or by the names of each.
struct Named(Rights);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SETS: [(Rights, &str); 5] = [
            (Rights::WRITABLE_ROOT, "read, write, execute, delete"),
            (Rights::CHANGES, "every change"),
            (
                Rights(Rights::CHANGES.0 & !Rights::DELETE_CHILD.0),
                "every change but of children",
            ),
            (Rights::GENERIC_ALL, "everything"),
            (Rights::FILE_ALL, "everything"),
        ];
        const EACH: [(Rights, &str); 14] = [
            (Rights::READ_DATA, "read-data"),
            (Rights::WRITE_DATA, "write-data"),
            (Rights::APPEND_DATA, "append-data"),
            (Rights::READ_EA, "read-ea"),
            (Rights::WRITE_EA, "write-ea"),
            (Rights::EXECUTE, "execute"),
            (Rights::DELETE_CHILD, "delete-child"),
            (Rights::READ_ATTRIBUTES, "read-attributes"),
            (Rights::WRITE_ATTRIBUTES, "write-attributes"),
            (Rights::DELETE, "delete"),
            (Rights::READ_CONTROL, "read-control"),
            (Rights::WRITE_DAC, "write-dac"),
            (Rights::WRITE_OWNER, "write-owner"),
            (Rights::SYNCHRONIZE, "synchronize"),
        ];
        if let Some((_, name)) = SETS.iter().find(|(set, _)| *set == self.0) {
            return f.write_str(name);
        }
        let mut rest = self.0;
        let mut names = Vec::new();
        for (right, name) in EACH {
            if rest.contains(right) {
                names.push(name.to_owned());
                rest = rest & !right;
            }
        }
        if rest != Rights::NONE || names.is_empty() {
            names.push(rest.to_string());
        }
        f.write_str(&names.join(", "))
    }
}
