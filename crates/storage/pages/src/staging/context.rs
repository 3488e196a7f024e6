use nandle_io::{Buffer, BufferMut};

use super::space::Slot;
use crate::PageError;
use crate::write_log::Context;

/// Extension for staging areas.
impl Context {
    /// Offset of a slot on the device.
    pub(super) fn offset_of(&self, slot: Slot) -> u64 {
        let (block, page_blocks) = (slot.block(self.label.page_blocks()), self.label.page_blocks());
        debug_assert!(block + page_blocks <= self.label.area_blocks(), "{slot:?} lies in the staging area");
        self.label.offset_of(block)
    }

    pub(super) async fn read_slot(&self, slot: Slot, into: BufferMut) -> Result<Buffer, PageError> {
        self.disk.read("reading a staged page", self.offset_of(slot), into).await
    }
}
