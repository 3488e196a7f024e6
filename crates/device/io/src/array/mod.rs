//! Arrays of devices in software, as address mappers: [`Arrays`] is a world around another one. Its
//! additional devices map their addresses onto those of the inner one.
//!
//! - **raid0** stripes: chunk `k` of the array is chunk `k / n` of child `k mod n`.
//! - **raid10** stripes over mirrored pairs: children 2c and 2c + 1 have the same contents, and are
//!   column `c` of a raid0. On an even number of children this is the *near* layout with two copies
//!   of Linux's md (`md(4)`).
//!
//! A request is split at chunk boundaries. Each child's share is contiguous and goes to it as one
//! vectored request. The array's request completes with its last part, with the error of the first
//! that failed. A write goes to both legs of a mirror and fails if either fails: the contents of
//! the range are then unknown until it is written again. A read goes to the leg with fewer requests
//! in flight, and after an error to the other.
//!
//! **Flush** flushes every child. If one fails (or a durable write does), the durable contents are
//! unknown. The array then refuses writes and flushes ([`Cause::Latched`](crate::Cause::Latched))
//! until it is opened again.
//!
//! **No metadata** is stored, neither of the members nor of requests in flight. After a power cut
//! the legs of a mirror may differ where writes were in flight, and reads would alternate between
//! the two. So a program that reopens a raid10 chooses the leg to keep and calls
//! [`Arrays::resynchronise`].

mod cut;
mod error;
mod finish;
mod geometry;
mod joint;
mod layout;
mod resynchronise;
mod start;
mod wake;
mod world;

pub use error::ArrayError;
pub use geometry::Leg;
pub use layout::{Piece, Stripes};
pub use world::Arrays;
