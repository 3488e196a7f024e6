//! Storage devices: [buffers](buffer), [requests](Request), the [`Io`] trait (a world of devices
//! with one clock), the worlds that drive real devices, [arrays](mod@array) of devices, and a small
//! single-threaded [runtime]. This crate is independent of patterns, pages and profiles. It must
//! never print, exit, or fall back to another kind of I/O without reporting it in [`Backend`].

pub mod array;
pub mod buffer;
mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
mod counters;
mod device;
mod error;
mod file;
mod file_world;
mod forward;
mod heartbeat;
mod io;
mod nvme;
mod request;
pub mod runtime;
mod served;
mod slots;
mod threads;
mod tries;
mod uring;
mod vectors;
pub mod virtual_world;

pub use array::{ArrayError, Arrays};
pub use buffer::{Arena, ArenaError, Buffer, BufferMut};
pub use counters::DriveCounters;
pub use device::{Access, Device, DeviceId, DurableWrites, Shape};
pub use error::{Cause, IoError};
pub use file::{DeviceFile, FileError, FileLock, FileOptions, SyncCall};
pub use file_world::FileWorld;
pub use heartbeat::Heartbeat;
pub use io::{Backend, Full, Io, Wait, Wake, Waker};
pub use nandle_units::Nanos;
pub use nvme::nvme_log_page;
pub use request::{Completion, Durability, Operation, ReadBuffers, Request, WriteBuffers};
pub use threads::Threads;
pub use uring::{SetupError, Uring};
