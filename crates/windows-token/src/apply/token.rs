//! The token of a plan, made but not believed yet.

use std::io;

use crate::acl::Acl;
use crate::plan::TokenPlan;
use crate::sys::token::{PASS_THROUGH, Token};

/// The user's own token with what the plan takes away: made in one go, so that nothing runs with half of it.
pub(super) fn make(plan: &TokenPlan) -> io::Result<Token> {
    let token = Token::own()?.restrict(plan)?;
    let list: Acl = plan.default_dacl.iter().cloned().collect();
    token.set_default_dacl(&list.to_bytes().map_err(io::Error::other)?)?;
    token.remove_privileges(&plan.delete_privileges)?;
    // Without it hardly any program starts. Where the user does not have it, nobody has taken it away here.
    if token
        .privileges()?
        .iter()
        .any(|privilege| privilege.name == PASS_THROUGH && !privilege.enabled)
    {
        token.enable_privilege(PASS_THROUGH)?;
    }
    Ok(token)
}
