//! Placement of physical units on dies. A superblock is one erase block of every plane of every
//! die. Its units go to the dies round robin, one program operation each, so sequential data is
//! striped.

use serde::{Deserialize, Serialize};

use super::super::chips::DieIndex;
use super::super::parameters::FlashParameters;
use super::super::units::saturating_u32;
use super::divisor::Divisor;

/// Sizes in mapping units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Geometry {
    pub(crate) logical_units: u32,
    units_per_superblock: Divisor,
    units_per_program: Divisor,
    pub(crate) unit_bytes: u64,
    dies: Divisor,
}

impl Geometry {
    pub(crate) fn of(parameters: &FlashParameters) -> Self {
        let unit_bytes = parameters.unit_bytes();
        let chips = &parameters.chips;
        Self {
            logical_units: saturating_u32(parameters.capacity_bytes.div_ceil(unit_bytes)),
            units_per_superblock: saturating_u32(parameters.superblock_bytes() / unit_bytes).into(),
            units_per_program: saturating_u32(parameters.units_per_program()).into(),
            unit_bytes,
            dies: chips.dies().into(),
        }
    }

    #[inline]
    pub(crate) fn units_per_superblock(&self) -> u32 {
        self.units_per_superblock.get()
    }

    #[inline]
    pub(crate) fn units_per_program(&self) -> u32 {
        self.units_per_program.get()
    }

    #[inline]
    pub(crate) fn dies(&self) -> u32 {
        self.dies.get()
    }

    /// Superblock of a physical unit.
    #[inline]
    pub(crate) fn superblock_of(&self, address: u32) -> u32 {
        self.units_per_superblock.quotient(address)
    }

    /// Superblock and offset of a unit: physical, or logical if superblocks are mapped.
    #[inline]
    pub(crate) fn split(&self, unit: u32) -> (u32, u32) {
        (self.units_per_superblock.quotient(unit), self.units_per_superblock.remainder(unit))
    }

    /// Program operation of a unit: an address gives its number in the drive, an offset in the
    /// superblock.
    #[inline]
    pub(crate) fn row_of(&self, unit: u32) -> u32 {
        self.units_per_program.quotient(unit)
    }

    /// Returns true if the first `units` units of a superblock are whole program operations.
    #[inline]
    pub(crate) fn are_whole_rows(&self, units: u32) -> bool {
        self.units_per_program.remainder(units) == 0
    }

    /// Die of the unit at `offset` in its superblock.
    #[inline]
    pub(crate) fn die_of(&self, offset: u32) -> DieIndex {
        self.dies.remainder(self.row_of(offset))
    }

    /// Page number, within its block, of the unit at `offset` in its superblock.
    #[inline]
    pub(crate) fn page_of(&self, offset: u32) -> u32 {
        self.dies.quotient(self.row_of(offset))
    }

    /// Superblocks of the user's capacity.
    pub(crate) fn logical_superblocks(&self) -> u32 {
        self.logical_units.div_ceil(self.units_per_superblock())
    }

    /// Bytes of one program operation.
    pub(crate) fn program_bytes(&self) -> u64 {
        u64::from(self.units_per_program()) * self.unit_bytes
    }
}
