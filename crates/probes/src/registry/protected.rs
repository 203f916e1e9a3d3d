//! Protected paths inside the workspace.

use super::{LANDLOCK_CANNOT_CARVE, elsewhere};
use crate::probe::Class::Protected;
use crate::probe::Expected::Residue;
use crate::probe::Mode::Write;
use crate::probe::Probe;

pub(super) const PROBES: &[Probe] = &[
    Probe::new(
        Protected,
        Some(45),
        "git-hooks-write",
        Write,
        "makes a hook in .git",
        attempt!(attempts::protected::hooks),
    )
    .landlock(LANDLOCK_CANNOT_CARVE),
    Probe::new(
        Protected,
        Some(46),
        "git-config-append",
        Write,
        "appends to the configuration of git",
        attempt!(attempts::protected::config),
    )
    .landlock(LANDLOCK_CANNOT_CARVE),
    Probe::new(
        Protected,
        Some(47),
        "git-rename-away",
        Write,
        "moves .git away and builds another",
        attempt!(attempts::protected::rename_away),
    )
    .landlock(LANDLOCK_CANNOT_CARVE),
    Probe::new(
        Protected,
        Some(50),
        "git-index-lock-dos",
        Write,
        "leaves a lock in .git",
        attempt!(attempts::protected::index_lock),
    )
    .landlock(LANDLOCK_CANNOT_CARVE),
    Probe::new(
        Protected,
        Some(51),
        "git-parent-rename",
        Write,
        "moves the directory away that holds a nested .git",
        attempt!(attempts::protected::parent_rename),
    )
    .landlock(LANDLOCK_CANNOT_CARVE),
    Probe::new(
        Protected,
        Some(52),
        "git-missing-root",
        Write,
        "makes a .git in a writable root that has none",
        attempt!(attempts::protected::missing_root),
    )
    .landlock(Residue("Landlock cannot forbid one name")),
    Probe::new(
        Protected,
        Some(53),
        "git-missing-nested",
        Write,
        "makes a .git in a new directory",
        attempt!(attempts::protected::missing_nested),
    )
    .residue("the kernel cannot forbid a name everywhere: found after the run"),
    Probe::new(
        Protected,
        Some(54),
        "git-other-gitdir",
        Write,
        "plants a bare repository under another name",
        attempt!(attempts::protected::bare),
    )
    .residue("made of ordinary files: found after the run"),
    Probe::new(
        Protected,
        Some(56),
        "git-file-pointer",
        Write,
        "rewrites the pointer of a work tree to its git directory",
        attempt!(attempts::protected::pointer),
    )
    .landlock(LANDLOCK_CANNOT_CARVE),
    Probe::new(
        Protected,
        Some(58),
        "git-hookspath-in-tree",
        Write,
        "edits a hook that is part of the tree",
        attempt!(attempts::protected::tree_hook),
    )
    .residue("part of the work: reported as a change"),
    Probe::new(
        Protected,
        Some(59),
        "git-attributes-filter",
        Write,
        "names a configured filter in .gitattributes",
        attempt!(attempts::protected::attributes),
    )
    .residue(
        "part of the work: what a filter runs stands in the configuration, which is protected",
    ),
    elsewhere(
        Protected,
        61,
        "git-concurrent-weaker-sandbox",
        Write,
        "moves the protected path in a second, weaker sandbox",
        "needs two sandboxes: tried by the tests of the launcher",
    ),
    Probe::new(
        Protected,
        Some(63),
        "cfg-agent-dirs",
        Write,
        "edits the configuration of agents",
        attempt!(attempts::protected::agents),
    )
    .landlock(LANDLOCK_CANNOT_CARVE),
    Probe::new(
        Protected,
        Some(64),
        "cfg-editor-tasks",
        Write,
        "edits what an editor runs",
        attempt!(attempts::protected::editor),
    )
    .landlock(LANDLOCK_CANNOT_CARVE),
    Probe::new(
        Protected,
        Some(65),
        "cfg-direnv-toolchain",
        Write,
        "edits what tools of the tree run",
        attempt!(attempts::protected::toolchain),
    )
    .residue("part of the work: reported as a change"),
    Probe::new(
        Protected,
        None,
        "git-exchange",
        Write,
        "exchanges .git with a directory of its own",
        attempt!(attempts::protected::exchange),
    )
    .landlock(LANDLOCK_CANNOT_CARVE),
    Probe::new(
        Protected,
        None,
        "git-second-name",
        Write,
        "links the configuration of git to another name and writes that",
        attempt!(attempts::protected::second_name),
    )
    .landlock(LANDLOCK_CANNOT_CARVE),
    Probe::new(
        Protected,
        None,
        "git-by-descriptor",
        Write,
        "makes, names and removes in .git by descriptors",
        attempt!(attempts::protected::by_descriptor),
    )
    .landlock(LANDLOCK_CANNOT_CARVE),
    Probe::new(
        Protected,
        None,
        "git-metadata",
        Write,
        "sets mode and times in .git",
        attempt!(attempts::protected::metadata),
    )
    .landlock(LANDLOCK_CANNOT_CARVE),
    Probe::new(
        Protected,
        None,
        "git-other-names",
        Write,
        "appends to the configuration of git by a link, a descriptor and the working directory",
        attempt!(attempts::protected::other_names),
    )
    .landlock(LANDLOCK_CANNOT_CARVE),
    Probe::new(
        Protected,
        None,
        "race-parent-exchange",
        Write,
        "writes into a nested .git while another thread exchanges the directory that holds it",
        attempt!(attempts::races::swapped_parent),
    )
    .landlock(LANDLOCK_CANNOT_CARVE),
    Probe::new(
        Protected,
        None,
        "race-placeholder",
        Write,
        "makes a .git where there is none while another thread moves what keeps the name",
        attempt!(attempts::races::placeholder),
    )
    .landlock(Residue("Landlock cannot forbid one name")),
    Probe::new(
        Protected,
        None,
        "race-placeholder-removed",
        Write,
        "leaves a process behind that makes a .git as soon as nothing keeps the name",
        attempt!(attempts::races::after_the_placeholder),
    )
    .landlock(Residue("Landlock cannot forbid one name")),
];
