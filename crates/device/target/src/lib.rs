//! Targets named on the command line: [parsed](spec), [opened](Target) with checks that protect
//! foreign data, and described by [facts] from the system. This crate must never write to a
//! foreign file or device unless the caller states that the user explicitly requested it. It must
//! never write to sysfs or procfs, and never print.

mod arrays;
pub mod disk_load;
mod enlargement;
mod error;
pub mod facts;
mod open;
pub mod pressure;
mod roots;
mod spare;
pub mod spec;
mod target;

mod world;

pub use error::{Problem, TargetError};
pub use open::{Intent, ModelContents, OpenOptions};
pub use roots::Roots;
pub use spare::SpareFile;
pub use spec::TargetSpec;
pub use target::{Target, TargetKind};
pub use world::{IoChoice, OpenedIo, backend};
