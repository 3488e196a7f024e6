use std::rc::Rc;

use nandle_io::{Arena, WriteBuffers};

use crate::PageError;
use crate::disk::Disk;
use crate::label::Label;
use crate::memory::memory_of;
use crate::size::to_usize;

/// Writes a copy of the ledger, without a flush.
pub(crate) async fn write_copy(
    disk: &Rc<Disk>,
    label: &Label,
    arena: &Arena,
    copy: u64,
    encode: impl FnOnce(&mut [u8]),
) -> Result<(), PageError> {
    debug_assert!(copy < label.ledger_copies, "copy {copy} of {}", label.ledger_copies);
    let mut contents = memory_of(arena, to_usize(label.ledger_bytes))?;
    encode(&mut contents);
    let from: WriteBuffers = [contents.freeze()].into_iter().collect();
    disk.write("writing the ledger", label.ledger_at(copy), from).await
}

/// Writes a new store's first ledger, and zeros in the other copies, without a flush.
pub(crate) async fn write_first(
    disk: &Rc<Disk>,
    label: &Label,
    arena: &Arena,
    encode: impl FnOnce(&mut [u8]),
) -> Result<(), PageError> {
    write_copy(disk, label, arena, 0, encode).await?;
    for copy in 1..label.ledger_copies {
        write_copy(disk, label, arena, copy, |contents| contents.fill(0)).await?;
    }
    Ok(())
}
