//! Which number tells a new store's structures from all that its place has held.

use std::rc::Rc;

use nandle_io::Arena;
use xxhash_rust::xxh3::xxh3_128;

use crate::disk::Disk;
use crate::label::Copies;
use crate::{BLOCK_BYTES, PageError};

/// So much of the place goes into the draw: a copy of the label and one of the ledger.
const LOOK_BYTES: u64 = 64 << 10;

/// The id of a store that ends there: the one that was asked for, if no store here has it; else one that is drawn. The draw takes in the clock, and what lies
/// where labels and ledgers are: so in virtual time, too, where clocks begin anew, a store that is made over another has
/// another id, because that one's label goes into its own. What a creation that was cut off has left goes into the next.
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
