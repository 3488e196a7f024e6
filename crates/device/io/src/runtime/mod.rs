//! Small single-threaded asynchronous runtime on one [`Io`](crate::Io).
//!
//! ```
//! use nandle_io::runtime::Runtime;
//! use nandle_io::{Nanos, Threads};
//!
//! let runtime = Runtime::new(Box::new(Threads::new(8)));
//! let handle = runtime.handle();
//! let answer = runtime.block_on(async move {
//!     let task = handle.spawn(async { 42 });
//!     handle.sleep(Nanos::from_micros(10)).await;
//!     task.await
//! });
//! assert_eq!(answer, 42);
//! ```
//!
//! Scheduling is deterministic: tasks run in the order of their wake-ups, timers fire by time and
//! then by age, and all time is the world's. So in a modelled world a run depends on its input
//! alone. In a real one, wake-ups from other threads and the devices' timing are input as well.
//!
//! Other threads reach a task through a [channel](channel()), which also batches work: one
//! [`recv_many`](Receiver::recv_many) takes all messages that have arrived.
//!
//! If nothing can ever wake a task again, the runtime panics with a deadlock that names the waiting
//! tasks.

mod channel;
mod device;
mod executor;
mod inbox;
mod requests;
mod task;
mod timers;

pub use channel::{Receiver, SendError, Sender, TrySendError, channel};
pub use device::{AsyncDevice, Reply};
pub use executor::{Handle, Runtime};
pub use inbox::ForeignWakes;
pub use task::{JoinHandle, YieldNow};
pub use timers::Sleep;
