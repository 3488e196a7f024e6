//! Block traces: reads and writes of a device, in order, as recorded by tools and engines. This
//! crate reads the common formats, writes its own and fio's, and computes statistics of a trace's
//! page writes. It must never access the device named by a trace, or depend on write policies.
//!
//! ```no_run
//! use nandle_trace::{ReadOptions, Reader, Statistics};
//!
//! let mut statistics = Statistics::new(4096);
//! for record in Reader::open("mariadb.csv.zst".as_ref(), &ReadOptions::default())? {
//!     statistics.add(record?)?;
//! }
//! println!("{} pages written", statistics.finish().pages_written);
//! # Ok::<(), nandle_trace::TraceError>(())
//! ```

mod detect;
mod error;
mod fit;
mod format;
pub mod ftrace;
mod limits;
mod lines;
mod reader;
mod record;
mod source;
mod statistics;
mod times;
mod writer;
mod zones;

pub use error::TraceError;
pub use fit::PageFit;
pub use format::{Columns, Format, InvalidColumns};
pub use limits::PAGE_STATISTICS_BYTES;
pub use reader::{ReadOptions, Reader};
pub use record::{Operation, Record};
pub use statistics::{
    AreaShare, RecordedLatency, RewriteShare, RunShare, SizeCount, SkewShare, Statistics, TraceStatistics,
    ZoneCounts,
};
pub use times::BackwardTimes;
pub use writer::{OutputFormat, Writer};
pub use zones::ZoneTranslator;
