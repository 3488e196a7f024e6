//! Counting by values of the leading column, if each value is in few row groups, like months in a
//! table that grows by the month. The groups of a value fit in processor caches. They are complete
//! once the last row group with the value was counted; then they are handed out, and their memory
//! is reused.
//!
//! ```text
//! thread: a row group ─► groups of each of its values ─► row group ends
//!            ├─► others have the value: kept until they end
//!            └─► none has: all its groups are results
//! ```
//!
//! A value is *mixed* if some of its rows were counted otherwise, because the memory was full or
//! the rows aren't contiguous. All its groups are counted with the rest, and none is handed out
//! early.

mod part;
mod value;
mod values;

pub(crate) use self::part::{Finished, ValuePart};
pub(crate) use self::values::Values;
