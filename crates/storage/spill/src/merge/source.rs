use crate::rows::Row;
use crate::rows::reader::RunReader;
use crate::sort::MemoryRows;

/// Source of sorted rows.
pub(crate) enum Source {
    /// A run on the device.
    Run(RunReader),
    /// Rows in memory.
    Memory(Box<MemoryRows>),
}

impl Source {
    pub(crate) fn key(&self) -> &[u8] {
        match self {
            Self::Run(run) => run.key(),
            Self::Memory(rows) => rows.row().key,
        }
    }

    pub(crate) fn row(&self) -> Row<'_> {
        match self {
            Self::Run(run) => run.row(),
            Self::Memory(rows) => rows.row(),
        }
    }
}
