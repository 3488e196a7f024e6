//! What the user names on the command line: [parsed](spec), [opened](Target) with the checks that keep foreign data
//! safe, and described by [what the system says](facts) of the device. It must never write to a file or a device that
//! is not nandle's own, unless the caller says that the user asked for it in so many words; never write to sysfs or
//! procfs; and never print.

mod arrays;
pub mod disk_load;
mod enlarge;
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
