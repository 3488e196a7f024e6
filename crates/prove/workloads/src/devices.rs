//! The devices of a workload.

use nandle_io::{DeviceId, Io};
use serde::Serialize;

/// A part of a workload that lies somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The tables, which are read.
    Input,
    /// Runs or partitions.
    Temporary,
    /// The result, which is written.
    Output,
}

impl Role {
    /// All of them, in the order of their areas on a device.
    pub const ALL: [Self; 3] = [Self::Input, Self::Temporary, Self::Output];

    /// What it is called in sentences.
    pub fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Temporary => "temporary data",
            Self::Output => "output",
        }
    }
}

/// A part of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Area {
    /// The device, in its world.
    pub device: DeviceId,
    /// Where it begins.
    pub start_bytes: u64,
    /// How long it is.
    pub length_bytes: u64,
}

impl Area {
    pub(crate) fn has(&self, device: DeviceId, offset_bytes: u64) -> bool {
        let behind = self.start_bytes.saturating_add(self.length_bytes);
        device == self.device && (self.start_bytes..behind).contains(&offset_bytes)
    }
}

/// Whether reads of the input bring it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InputContents {
    /// They only take their time, and the rows are made from the seed.
    #[default]
    Generated,
    /// They do: it was [written](crate::fill) before.
    OnDevice,
}

/// A world, and where in it what lies.
pub struct World {
    /// All devices; one clock.
    pub io: Box<dyn Io>,
    /// The tables. Without an area the rows come without a read.
    pub input: Option<Area>,
    /// Temporary data. What is written to it has to come back.
    pub temporary: Area,
    /// The result. Without an area the rows go nowhere.
    pub output: Option<Area>,
    /// What reads of the input bring.
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
