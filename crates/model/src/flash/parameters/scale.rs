//! The same drive with less capacity: fewer erase blocks a die, everything else alike.

use super::{FlashParameters, MappingParameters, ParameterError};

impl FlashParameters {
    /// This drive with another capacity, rounded up to whole superblocks. Chips, channels, over-provisioning in
    /// proportion and all times stay; a single-level region shrinks or grows with the capacity.
    /// `scaled_from_bytes` then says what the real drive holds.
    ///
    /// # Errors
    /// [`ParameterError::OutOfRange`] when the capacity is too small for one superblock or too large to map.
    pub fn with_capacity_bytes(mut self, capacity_bytes: u64) -> Result<Self, ParameterError> {
        let superblock_bytes = self.superblock_bytes().max(1);
        let real_bytes = self.scaled_from_bytes.unwrap_or(self.capacity_bytes);
        let scaled_bytes = capacity_bytes.div_ceil(superblock_bytes) * superblock_bytes;
        if let MappingParameters::Page(page) = &mut self.mapping
            && let Some(slc) = &mut page.slc_region
        {
            let share =
                u128::from(slc.bytes) * u128::from(scaled_bytes) / u128::from(self.capacity_bytes.max(1));
            slc.bytes = u64::try_from(share).unwrap_or(u64::MAX).max(superblock_bytes);
        }
        self.capacity_bytes = scaled_bytes;
        self.scaled_from_bytes = (scaled_bytes != real_bytes).then_some(real_bytes);
        self.validate()?;
        Ok(self)
    }
}
