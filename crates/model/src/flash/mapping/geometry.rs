//! How physical units lie on dies. A superblock is one erase block of every plane of every die; its units go to
//! one die after the other, a program operation each, so that whatever is written in order is striped.

use serde::{Deserialize, Serialize};

use super::super::chips::DieIndex;
use super::super::parameters::FlashParameters;
use super::super::units::saturating_u32;

/// Sizes in mapping units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Geometry {
    pub(crate) logical_units: u32,
    pub(crate) units_per_superblock: u32,
    pub(crate) units_per_program: u32,
    pub(crate) unit_bytes: u64,
    pub(crate) dies: u32,
}

impl Geometry {
    pub(crate) fn of(parameters: &FlashParameters) -> Self {
        let unit_bytes = parameters.unit_bytes();
        let chips = &parameters.chips;
        Self {
            logical_units: saturating_u32(parameters.capacity_bytes.div_ceil(unit_bytes)),
            units_per_superblock: saturating_u32(parameters.superblock_bytes() / unit_bytes),
            units_per_program: saturating_u32(parameters.units_per_program()),
            unit_bytes,
            dies: chips.dies(),
        }
    }

    /// Die of the unit at `offset` in its superblock.
    #[inline]
    pub(crate) fn die_of(&self, offset: u32) -> DieIndex {
        (offset / self.units_per_program) % self.dies
    }

    /// Superblocks that the user's capacity takes.
    pub(crate) fn logical_superblocks(&self) -> u32 {
        self.logical_units.div_ceil(self.units_per_superblock)
    }

    /// Bytes of one program operation.
    pub(crate) fn program_bytes(&self) -> u64 {
        u64::from(self.units_per_program) * self.unit_bytes
    }
}
