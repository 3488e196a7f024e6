//! Choice of the id that distinguishes a new store's structures from earlier contents of its place.

use std::rc::Rc;

use nandle_io::Arena;
use xxhash_rust::xxh3::xxh3_128;

use crate::disk::Disk;
use crate::label::Copies;
use crate::{BLOCK_BYTES, PageError};

/// Bytes at the start that contribute to the id: a copy of the label and one of the ledger.
const LOOK_BYTES: u64 = 64 << 10;

/// Id of a new store that ends at `end_bytes`: the requested one if no store here has it, otherwise
/// a derived one. It is derived from the clock and from the contents where labels and ledgers lie.
/// Even in virtual time, whose clocks restart, a store created over another thus gets a different
/// id, because the old label contributes to it. The same holds for the remains of an interrupted
/// creation.
pub(crate) async fn choose(
    disk: &Rc<Disk>,
    end_bytes: u64,
    asked_for: Option<u128>,
) -> Result<u128, PageError> {
    let length_bytes = end_bytes.min(LOOK_BYTES) / BLOCK_BYTES as u64 * BLOCK_BYTES as u64;
    let length = usize::try_from(length_bytes).unwrap_or(0).max(BLOCK_BYTES);
    let arena = Arena::new(length)?;
    let place = disk.read("looking at what the device holds", 0, arena.allocate(length)?).await?;
    let Some(id) = asked_for else {
        let mut drawn_from = disk.handle().now().0.to_le_bytes().to_vec();
        drawn_from.extend_from_slice(&place);
        return Ok(xxh3_128(&drawn_from));
    };
    if Copies::read(disk).await.is_ok_and(|copies| copies.label.id == id) {
        return Err(PageError::IdInUse { id });
    }
    Ok(id)
}
