//! Arrays of devices in software, as address mappers: [`Arrays`] is a world around a world, whose further
//! devices map their addresses onto those of the inner one.
//!
//! - **raid0** stripes: chunk `k` of the array is chunk `k / n` of child `k mod n`.
//! - **raid10** stripes over mirrored pairs: children 2c and 2c + 1 hold the same, and are column `c` of a
//!   raid0. On an even number of children this is the *near* layout with two copies of Linux's md (`md(4)`).
//!
//! A request is cut at the chunks' borders, and what falls on one child, which is always contiguous there,
//! goes to it as one vectored request. The array's request completes when all its parts have, with the error
//! of the first that failed. A write goes to both legs of a mirror, and fails when one of them does: what the
//! range holds is then unknown until it is written again. A read goes to the leg with fewer requests in
//! flight, and on an error to the other.
//!
//! **Flush** flushes every child. When one fails (or a durable write does), what is durable is unknown, and
//! the array takes no more writes and flushes ([`Cause::Latched`](crate::Cause::Latched)) until it is opened
//! again.
//!
//! **No metadata** is kept, neither of the members nor of what was in flight. After a power cut the legs of a
//! mirror may differ where writes were in flight, and reads would alternate between the two: the program that opens a
//! raid10 again decides once which leg counts, and calls [`Arrays::resynchronise`].

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
