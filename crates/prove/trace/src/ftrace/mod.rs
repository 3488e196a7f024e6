//! Live block events from the kernel's tracefs (`trace_pipe`): parses lines into [events](Event),
//! and [pairs](Pairing) requests with their completions. The caller decides which requests belong
//! to a trace.

mod event;
mod pairing;

pub use event::{Event, Letters, Request, Task};
pub use pairing::Pairing;
