//! What the kernel tells of requests while they happen, in the text of its tracefs (`trace_pipe`): [events](Event), line by line, and
//! the [pairs](Pairing) that they make. Which of the requests belong to a trace is the caller's to decide.

mod event;
mod pairing;

pub use event::{Event, Letters, Request, Task};
pub use pairing::Pairing;
