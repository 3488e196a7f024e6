//! Reading: converts a scan's columns and predicates to wants, and their bytes to rows.

mod batches;
mod bounds;
mod bytes;
mod candidates;
mod chunk;
mod codes;
mod file;
mod floats;
mod group;
mod plan;
mod predicate;
mod prune;
mod pumped;
mod rows;
mod values;
mod zones;

pub use self::batches::BatchDecoder;
pub use self::bytes::{DirectBytes, StepBytes, StepData};
pub use self::codes::{CodeBatch, CodeColumn, CodeDecoder, CodeRun, Codes, NULL_CODE, greatest_code};
pub use self::file::ParquetFile;
pub(crate) use self::file::{common_schema, value_type};
pub(crate) use self::floats::with_one_nan;
pub use self::plan::{ScanPlan, ScanSpec};
pub use self::predicate::Predicate;
pub use self::pumped::{PumpedBytes, StreamedBytes};
pub use self::zones::for_text;
