//! Devices of a workload.

use nandle_io::{DeviceId, Io};
use serde::Serialize;

/// Part of a workload that is placed on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Tables to read.
    Input,
    /// Runs or partitions.
    Temporary,
    /// Result to write.
    Output,
}

impl Role {
    /// Every role, in the order of the areas on a device.
    pub const ALL: [Self; 3] = [Self::Input, Self::Temporary, Self::Output];

    /// Name in running text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Temporary => "temporary data",
            Self::Output => "output",
        }
    }
}

/// A contiguous area of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// Device in its world.
    pub device: DeviceId,
    /// Start of the area, in bytes.
    pub start_bytes: u64,
    /// Length of the area, in bytes.
    pub length_bytes: u64,
}

impl Area {
    pub(crate) fn has(&self, device: DeviceId, offset_bytes: u64) -> bool {
        let behind = self.start_bytes.saturating_add(self.length_bytes);
        device == self.device && (self.start_bytes..behind).contains(&offset_bytes)
    }
}

/// Source of the input rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InputContents {
    /// Rows are generated from the seed. Reads of the input only take their time.
    #[default]
    Generated,
    /// Rows are read from the device, where [`fill`](crate::fill) wrote them before.
    OnDevice,
}

/// A world, and the areas of a workload on its devices.
pub struct World {
    /// All devices, with one clock.
    pub io: Box<dyn Io>,
    /// Area of the tables; none to generate rows without reads.
    pub input: Option<Area>,
    /// Area of the temporary data. Its device must keep contents.
    pub temporary: Area,
    /// Area of the result; none to discard the rows.
    pub output: Option<Area>,
    /// Source of the input rows.
    pub contents: InputContents,
}

impl World {
    pub(crate) fn area(&self, role: Role) -> Option<Area> {
        match role {
            Role::Input => self.input,
            Role::Temporary => Some(self.temporary),
            Role::Output => self.output,
        }
    }
}
