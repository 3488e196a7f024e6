//! Scaling of a drive's capacity: fewer erase blocks per die, everything else alike.

use super::{FlashParameters, MappingParameters, ParameterError};

impl FlashParameters {
    /// Changes the capacity, rounded up to whole superblocks. Chips, channels, relative
    /// over-provisioning and all times stay. A single-level region and map memory scale with the
    /// capacity. `scaled_from_bytes` is then the real drive's capacity.
    ///
    /// # Errors
    /// [`ParameterError::OutOfRange`] if the capacity is too small for one superblock or too large
    /// to map.
    pub fn with_capacity_bytes(mut self, capacity_bytes: u64) -> Result<Self, ParameterError> {
        let superblock_bytes = self.superblock_bytes().max(1);
        let real_bytes = self.scaled_from_bytes.unwrap_or(self.capacity_bytes);
        let scaled_bytes = capacity_bytes.div_ceil(superblock_bytes) * superblock_bytes;
        let scale = Scale { to_bytes: scaled_bytes, from_bytes: self.capacity_bytes };
        if let MappingParameters::Page(page) = &mut self.mapping {
            if let Some(slc) = &mut page.slc_region {
                slc.bytes = scale.of(slc.bytes).max(superblock_bytes);
            }
            if let Some(memory) = &mut page.map_memory {
                memory.bytes = scale.of(memory.bytes).max(self.chips.page_bytes);
            }
        }
        self.capacity_bytes = scaled_bytes;
        self.scaled_from_bytes = (scaled_bytes != real_bytes).then_some(real_bytes);
        self.validate()?;
        Ok(self)
    }
}

struct Scale {
    to_bytes: u64,
    from_bytes: u64,
}

impl Scale {
    fn of(&self, bytes: u64) -> u64 {
        let share = u128::from(bytes) * u128::from(self.to_bytes) / u128::from(self.from_bytes.max(1));
        u64::try_from(share).unwrap_or(u64::MAX)
    }
}
