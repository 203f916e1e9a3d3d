//! Bytes from a client or a server to what they say: pure, strict, and total over every input.
//!
//! Each reader says `None` (or `Wait`) while more bytes are needed, and a typed problem as soon as none would help. What two
//! programs could read in two ways is a problem, and is never repaired.

mod answer;
mod authority;
mod body;
mod cursor;
mod fields;
mod head;
mod hello;

mod opening;
mod socks;

pub use answer::{ResponseHead, read_response};
pub use authority::Authority;
pub use body::{BodyProblem, BodyScanner, Framing, Side};
pub use fields::{HeadLimits, HeadProblem};
pub use head::{RequestHead, Target, read_request};
pub use hello::{AfterHello, ClientHello, HelloProblem, after_client_hello, read_client_hello};
pub use opening::{Opening, classify};
pub use socks::{
    SocksGreeting, SocksProblem, SocksReply, SocksRequest, read_greeting, read_socks_request,
};
