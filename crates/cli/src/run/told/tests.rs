//! Pages, as people read them.
