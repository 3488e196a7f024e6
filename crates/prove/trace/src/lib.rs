//! Block traces: what was read and written where, in which order, as tools and engines record it. This crate
//! reads the common formats, writes its own and fio's, and says what a trace's page writes look like
//! to a drive. It must never touch the device that a trace names, and it knows nothing of write policies.
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
pub use times::TimesBack;
pub use writer::{Writer, WrittenFormat};
pub use zones::Zones;
