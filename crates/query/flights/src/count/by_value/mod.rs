//! Counting value by value of the leading column, where each value is in few row groups, as each month is in a table that grows by the
//! month. The groups of a value are few enough for a processor's caches, and they are complete once the last row group that has it was
//! counted: they are handed out, and their memory is used for the next value.
//!
//! ```text
//! thread: a row group ─► the groups of each of its values ─► row group ends ─┬─► others have the value: kept here until they end
//!                                                                            └─► none has: all its groups are results
//! ```
//!
//! A value of which some rows were counted otherwise, because memory was used up or because rows don't lie together, is *mixed*: all its groups
//! are counted with the rest, and none is handed out early.

mod part;
mod value;
mod values;

pub(crate) use self::part::{Finished, ValuePart};
pub(crate) use self::values::Values;
