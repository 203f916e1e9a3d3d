//! How sure it is that the file that was judged is the file that is touched.

use std::fmt;

/// How sure it is that the file that was judged is the file that is touched, whoever changes the tree meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Strength {
    /// Paths are made free of links and then used: whoever is fast enough can put a link in between.
    Checked,
    /// Name by name, each by the descriptor of the one before, and no link is followed.
    Stepwise,
    /// In one call in which the kernel refuses links (`openat2`).
    Kernel,
}

impl fmt::Display for Strength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Checked => "paths are checked before they are used",
            Self::Stepwise => "paths are walked by descriptor, without following links",
            Self::Kernel => "the kernel follows no link on the way",
        })
    }
}
