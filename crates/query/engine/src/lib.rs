//! SQL on planned reads. `DataFusion` is the engine and decodes the files. `nandle-reads` decides
//! which bytes are read when, and in how much memory. A [`Source`] is a table of this project or a
//! set of Parquet files. An [`Engine`] registers sources as tables and runs statements. It
//! must never read the system's clock.
//!
//! After the engine has planned a query, a rule of this crate (`scan`) determines for each row
//! group, by a dry run of the Parquet source, the bytes that it would read. It then replaces the
//! scan by a planned scan of those bytes.

mod account;
mod allowed;
mod checked;
mod elsewhere;
mod ending;
mod engine;
mod error;
mod explained;
mod grace;
mod keyless;
mod memory;
mod needs;
mod options;
mod outer;
mod output;
mod planning;
mod pool;
mod remote;
mod repartition;
mod rows;
mod rules;
mod run;
mod scan;
mod served;
mod session;
mod table;
mod temporary;
mod texts;
mod threads;
mod yielding;

pub use account::{Account, PredictedScans};
pub use checked::with_checked_functions;
pub use elsewhere::{Elsewhere, FreedElsewhere, ToldElsewhere};
pub use engine::{AroundWorld, Engine, EngineOptions, Statement, ThreadClock, WorldLayer};
pub use error::{EngineError, ErrorKind};
pub use grace::GraceHashJoin;
pub use memory::HeldMemory;
pub use needs::{CpuClock, Needed, NeededFile, NeededStep, Needs};
pub use options::{NandleOptions, Reads};
pub use outer::OuterSide;
pub use output::{Format, RowWriter, json_texts};
pub use planning::TextPlace;
pub use remote::{Host, ScanLeaf, ScanPart};
pub use repartition::with_single_writers;
pub use rows::Rows;
pub use served::{Command, KeptRows, Prepared, Request, SERVER_SETTINGS, Session, Sessions, Values, View};
pub use table::{Partitions, ReadsState, Source, Version};
pub use threads::STACK_BYTES;
