//! Every file of the pure crates: layers, includes, trust, approvals.
