//! Both copies of the label: which of them counts, and how they are written so that one of them is always durable.
//!
//! A copy is only written while the other is durable. A flush that fails leaves the one that was written last readable for as
//! long as the power stays on, and maybe gone afterwards: so that one is written first the next time, and the other, which is
//! durable, when the first is. The generation says which was written last.

use std::cell::Cell;
use std::rc::Rc;

use nandle_io::Arena;

use super::{LABELS_BYTES, Label};
use crate::defects::Defect;
use crate::disk::Disk;
use crate::{BLOCK_BYTES, PageError};

/// What both copies together say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Copies {
    pub(crate) label: Label,
    /// The copy that a growth or the making of the store hasn't come to, or has left torn.
    behind: Option<u64>,
    /// The copy that was written last: the other is durable.
    last: Cell<u64>,
    generation: Cell<u64>,
}

impl Copies {
    /// Of the device.
    pub(crate) async fn read(disk: &Disk) -> Result<Self, PageError> {
        if disk.shape().capacity_bytes < LABELS_BYTES {
            return Err(PageError::NotAStore { found: "it is smaller than a label" });
        }
        // Each by itself: one that can't be read says nothing of the other.
        Self::of([read_copy(disk, 0).await, read_copy(disk, 1).await])
    }

    /// Of the first two blocks of a device, as far as they could be read.
    pub(crate) fn of(blocks: [Result<Label, PageError>; 2]) -> Result<Self, PageError> {
        let is_readable = |error: &PageError| !matches!(error, PageError::Device { .. });
        match blocks {
            [Ok(first), Ok(second)] if first.id == second.id => Ok(Self::of_one_store(first, second)),
            // Copy 0 is written first: the other is of the store that was here before.
            [Ok(first), Ok(_)] => Ok(Self::beside(first, 1, true)),
            [Ok(first), Err(error)] => Ok(Self::beside(first, 1, is_readable(&error))),
            [Err(error), Ok(second)] => Ok(Self::beside(second, 0, is_readable(&error))),
            [Err(error), Err(_)] => Err(error),
        }
    }

    fn of_one_store(first: Label, second: Label) -> Self {
        let generation = Cell::new(first.generation.max(second.generation));
        if first.pages == second.pages {
            let last = u64::from(first.generation <= second.generation);
            return Self { label: first, behind: None, last: Cell::new(last), generation };
        }
        let last = u64::from(second.pages > first.pages);
        let label = if last == 0 { first } else { second };
        Self { label, behind: Some(1 - last), last: Cell::new(last), generation }
    }

    /// A label beside a copy that isn't one of the store's.
    fn beside(label: Label, other: u64, is_readable: bool) -> Self {
        let generation = Cell::new(label.generation);
        Self { label, behind: is_readable.then_some(other), last: Cell::new(other), generation }
    }

    /// Writes the label of a new store, durably.
    pub(crate) async fn create(disk: &Rc<Disk>, label: Label) -> Result<(), PageError> {
        let copies = Self::beside(label, 0, true);
        copies.write(disk, &copies.label).await
    }

    /// Makes both copies say the same, durably.
    pub(crate) async fn renew(&self, disk: &Rc<Disk>) -> Result<(), PageError> {
        match self.behind {
            None => Ok(()),
            // It holds nothing that counts.
            Some(behind) if behind == self.last.get() => self.write_copy(disk, &self.label, behind).await,
            Some(_) => self.write(disk, &self.label).await,
        }
    }

    /// Writes another label of the same store, durably.
    pub(crate) async fn write(&self, disk: &Rc<Disk>, label: &Label) -> Result<(), PageError> {
        assert_eq!(label.id, self.label.id, "a label of another store");
        assert!(label.pages >= self.label.pages, "{} pages are fewer than before", label.pages);
        let last = self.last.get();
        self.write_copy(disk, label, last).await?;
        self.write_copy(disk, label, 1 - last).await
    }

    async fn write_copy(&self, disk: &Rc<Disk>, label: &Label, copy: u64) -> Result<(), PageError> {
        assert!(copy < 2, "there are two copies, and no copy {copy}");
        let is_first = self.last.replace(copy) == copy;
        self.generation.update(|generation| generation + 1);
        let mut block = Arena::new(BLOCK_BYTES)?.allocate(BLOCK_BYTES)?;
        Label { generation: self.generation.get(), ..label.clone() }.encode(&mut block);
        let offset_bytes = copy * BLOCK_BYTES as u64;
        disk.write("writing the label", offset_bytes, [block.freeze()].into_iter().collect()).await?;
        if Defect::GrowthUnflushed.is_seeded() || (is_first && Defect::LabelsTogether.is_seeded()) {
            return Ok(());
        }
        disk.flush().await
    }
}

async fn read_copy(disk: &Disk, copy: u64) -> Result<Label, PageError> {
    let block = Arena::new(BLOCK_BYTES)?.allocate(BLOCK_BYTES)?;
    Label::decode(&disk.read("reading the label", copy * BLOCK_BYTES as u64, block).await?)
}

#[cfg(test)]
mod tests {
    use nandle_io::{Cause, IoError, Operation};

    use super::*;
    use crate::{CreateOptions, PolicyKind};

    fn label(pages: u64, generation: u64) -> Label {
        let options = CreateOptions::new(PolicyKind::StableRing, 8192, pages);
        Label { id: 7, generation, ..Label::plan(&options, 8192, 1 << 20).unwrap() }
    }

    #[test]
    fn the_copy_with_more_pages_counts_if_it_is_of_the_same_store() {
        let damaged = || Err(PageError::NotAStore { found: "damage" });
        let unreadable =
            || Err(PageError::device("reading")(IoError::new(&Operation::Flush, Cause::System(5))));
        let other_store = Label { id: 77, ..label(200, 1) };
        // Blocks; the pages that count; which copy is behind, and which was written last.
        for (blocks, pages, behind, last) in [
            ([Ok(label(100, 1)), Ok(label(100, 2))], 100, None, 1),
            ([Ok(label(100, 3)), Ok(label(100, 2))], 100, None, 0),
            ([Ok(label(100, 0)), Ok(label(100, 0))], 100, None, 1),
            ([Ok(label(200, 3)), Ok(label(100, 2))], 200, Some(1), 0),
            ([Ok(label(100, 1)), Ok(label(200, 3))], 200, Some(0), 1),
            ([Ok(label(200, 0)), Ok(label(100, 0))], 200, Some(1), 0),
            ([damaged(), Ok(label(100, 1))], 100, Some(0), 0),
            ([Ok(label(100, 1)), damaged()], 100, Some(1), 1),
            ([Ok(label(100, 1)), unreadable()], 100, None, 1),
            ([Ok(label(100, 1)), Ok(other_store)], 100, Some(1), 1),
        ] {
            let copies = Copies::of(blocks).unwrap();
            assert_eq!((copies.label.pages, copies.behind, copies.last.get()), (pages, behind, last));
        }
        assert!(Copies::of([damaged(), damaged()]).is_err());
    }
}
