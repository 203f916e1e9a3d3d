//! From a resolved policy and facts to a plan: pure, so it builds and is tested on every system.
