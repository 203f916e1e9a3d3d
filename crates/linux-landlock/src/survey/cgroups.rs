//! Where a control group of our own can be made: in a subtree that somebody delegated to this user.

use std::path::{Path, PathBuf};

use palisade_policy::AbsolutePath;
use rustix::fs::{Access, access};

use crate::host::CgroupSupport;

const MOUNT: &str = "/sys/fs/cgroup";

/// Finds the own group, and says for each controller whether a group below it would help.
pub(super) fn find() -> CgroupSupport {
    let Ok(own) = super::kernel_file::read_text("/proc/self/cgroup") else {
        return CgroupSupport::default();
    };
    in_tree(Path::new(MOUNT), &own)
}

/// The same for a tree that is mounted elsewhere.
fn in_tree(mount: &Path, own: &str) -> CgroupSupport {
    let below = |base: PathBuf, path: &str| base.join(path.trim_start_matches('/'));
    let mut support = CgroupSupport::default();
    for line in own.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        if controllers.is_empty() {
            let group = below(mount.to_path_buf(), path);
            let enabled = std::fs::read_to_string(group.join("cgroup.subtree_control"));
            let enabled = enabled.unwrap_or_default();
            let usable = |name: &str| {
                (enabled.split_whitespace().any(|enabled| enabled == name)
                    && writable(&group.join("cgroup.procs"))
                    && writable(&group))
                .then(|| AbsolutePath::new(&group).ok())
                .flatten()
            };
            support.pids = support.pids.or_else(|| usable("pids"));
            support.memory = support.memory.or_else(|| usable("memory"));
        } else {
            for controller in controllers.split(',') {
                let group = below(mount.join(controllers), path);
                let usable = || {
                    writable(&group)
                        .then(|| AbsolutePath::new(&group).ok())
                        .flatten()
                };
                match controller {
                    "pids" => support.pids = support.pids.or_else(usable),
                    "memory" => support.memory = support.memory.or_else(usable),
                    _ => {}
                }
            }
        }
    }
    support
}

fn writable(path: &Path) -> bool {
    access(path, Access::WRITE_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    #[test]
    fn a_delegated_group_offers_what_is_enabled_for_its_children() {
        let tree = tree();
        let group = tree.path().join("user.slice/app");
        std::fs::create_dir_all(&group).unwrap();
        std::fs::write(group.join("cgroup.subtree_control"), "cpu pids\n").unwrap();
        std::fs::write(group.join("cgroup.procs"), "").unwrap();
        let support = in_tree(tree.path(), "0::/user.slice/app\n");
        assert_eq!(support.pids, AbsolutePath::new(&group).ok());
        assert_eq!(support.memory, None);
    }

    #[test]
    fn a_hierarchy_for_one_controller_is_found_by_its_name() {
        let tree = tree();
        let group = tree.path().join("pids/own");
        std::fs::create_dir_all(&group).unwrap();
        let support = in_tree(tree.path(), "4:pids:/own\n3:memory:/own\nnonsense\n");
        assert_eq!(support.pids, AbsolutePath::new(&group).ok());
        assert_eq!(support.memory, None);
    }

    #[test]
    fn no_group_is_no_support() {
        let tree = tree();
        let support = in_tree(tree.path(), "0::/gone\n");
        assert_eq!(support, CgroupSupport::default());
    }
}
