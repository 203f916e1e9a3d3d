//! Who else runs on this workspace.
