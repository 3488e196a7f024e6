//! SQL on planned reads. `DataFusion` is the engine and its decoder decodes; which bytes are read when, and in how much memory, is decided by
//! `nandle-reads`. A [`Source`] is a table of ours or Parquet files as they lie, an [`Engine`] has them as tables and runs statements. It alone
//! knows `DataFusion` and Tokio, and it must never read the system's clock.
//!
//! How it fits together: after the engine has planned a query, a rule of ours (`scan`) asks its Parquet source, row group by row group, which
//! bytes it would read (a rehearsal, without reading), and replaces the scan by one that reads those bytes by plan.

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
