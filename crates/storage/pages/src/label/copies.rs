//! Copies of the label: selection of the valid one, and writes that always keep one copy durable.
//!
//! One copy is written and flushed, then all others are written and flushed. After a failed flush
//! the last writes stay readable while the power is on, but may vanish afterwards. The next write
//! therefore starts with one of those copies, and leaves the durable ones until it is flushed. The
//! generation shows which copies were written last.

use std::cell::Cell;
use std::rc::Rc;

use nandle_io::{Arena, Buffer};

use super::{Label, LabelSearch, high_water};
use crate::defects::Defect;
use crate::disk::Disk;
use crate::{BLOCK_BYTES, PageError};

/// State of all copies.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Copies {
    pub(crate) label: Label,
    /// Copies that are outdated or invalid.
    outdated: Vec<u64>,
    /// True if some copies of this store have fewer pages. The growth that wrote the newest may not
    /// be durable.
    is_growing: bool,
    /// Copy to write first, while another one is durable.
    first: Cell<u64>,
    generation: Cell<u64>,
}

impl Copies {
    /// Reads the copies from a device.
    pub(crate) async fn read(disk: &Disk) -> Result<Self, PageError> {
        let mut search = LabelSearch::new(disk.shape().capacity_bytes);
        let arena = Arena::new(BLOCK_BYTES)?;
        while let Some(offset_bytes) = search.next_offset() {
            let into = arena.allocate(BLOCK_BYTES)?;
            // Each copy alone, as an unreadable one says nothing about the others.
            match disk.read("reading the label", offset_bytes, into).await {
                Ok(block) => search.enter(offset_bytes, Ok(&block)),
                Err(error) => search.enter(offset_bytes, Err(error)),
            }
        }
        let copies = search.copies()?;
        for place in copies.label.high_water_places() {
            let into = arena.allocate(BLOCK_BYTES)?;
            let block = disk.read("reading the high-water mark", place, into).await;
            let mark = block.ok().and_then(|block| high_water::decode(copies.label.id, &block));
            if mark.is_some_and(|mark| mark.pages > copies.label.pages) {
                return Err(Label::older_than(place));
            }
        }
        Ok(copies)
    }

    /// State of the copies of a store whose label was found. `copies` holds each copy as read, if
    /// it was.
    pub(super) fn of(found: &Label, copies: &[Option<Result<Label, PageError>>]) -> Self {
        // Copy 0 is written first. The others may belong to an earlier store on the device.
        let id = match copies.first() {
            Some(Some(Ok(first))) => first.id,
            _ => found.id,
        };
        let of_store = || {
            (0..).zip(copies).filter_map(|(copy, found)| match found {
                Some(Ok(label)) if label.id == id => Some((copy, label)),
                _ => None,
            })
        };
        let last = of_store().max_by_key(|(copy, label)| (label.pages, label.generation, *copy));
        let Some((last, label)) = last else { unreachable!("one copy at least was found") };
        let is_outdated = |found: &Option<Result<Label, PageError>>| match found {
            Some(Ok(copy)) => (copy.id, copy.pages) != (id, label.pages),
            // The block may be readable next time.
            None | Some(Err(PageError::Device { .. })) => false,
            Some(Err(_)) => true,
        };
        let outdated = (0..).zip(copies).filter(|(_, found)| is_outdated(found)).map(|(copy, _)| copy);
        // A block without a valid copy of this store holds nothing to lose.
        let invalid = written(label).find(|copy| !of_store().any(|(valid, _)| valid == *copy));
        Self {
            outdated: outdated.collect(),
            is_growing: of_store().any(|(_, copy)| copy.pages < label.pages),
            first: Cell::new(invalid.unwrap_or(last)),
            generation: Cell::new(of_store().map(|(_, copy)| copy.generation).max().unwrap_or(0)),
            label: label.clone(),
        }
    }

    /// Writes the label of a new store durably.
    pub(crate) async fn create(disk: &Rc<Disk>, label: Label) -> Result<(), PageError> {
        let (first, generation) = (Cell::new(0), Cell::new(label.generation));
        let copies = Self { label, outdated: Vec::new(), is_growing: false, first, generation };
        copies.write(disk, &copies.label).await
    }

    /// Makes all copies equal, durably.
    pub(crate) async fn renew(&self, disk: &Rc<Disk>) -> Result<(), PageError> {
        if self.outdated.is_empty() {
            return Ok(());
        }
        if self.is_growing {
            return self.write(disk, &self.label).await;
        }
        // These copies hold nothing valid.
        let outdated: Vec<u64> = written(&self.label).filter(|copy| self.outdated.contains(copy)).collect();
        self.write_copies(disk, &self.label, &outdated).await?;
        disk.flush().await
    }

    /// Replaces the label durably.
    pub(crate) async fn write(&self, disk: &Rc<Disk>, label: &Label) -> Result<(), PageError> {
        assert_eq!(label.id, self.label.id, "a label of another store");
        assert!(label.pages >= self.label.pages, "{} pages are fewer than before", label.pages);
        let first = self.first.get();
        let is_flushed = !Defect::GrowthUnflushed.is_seeded();
        let others: Vec<u64> = written(label).filter(|copy| *copy != first).collect();
        self.write_copies(disk, label, &[first]).await?;
        if is_flushed && !Defect::LabelsTogether.is_seeded() {
            disk.flush().await?;
        }
        self.write_copies(disk, label, &others).await?;
        self.write_high_water(disk, label).await?;
        if is_flushed { disk.flush().await } else { Ok(()) }
    }

    async fn write_high_water(&self, disk: &Rc<Disk>, label: &Label) -> Result<(), PageError> {
        let mut block = Arena::new(BLOCK_BYTES)?.allocate(BLOCK_BYTES)?;
        high_water::encode(label, &mut block);
        write_in(disk, "writing the high-water mark", label.high_water_places(), block.freeze()).await
    }

    async fn write_copies(&self, disk: &Rc<Disk>, label: &Label, copies: &[u64]) -> Result<(), PageError> {
        self.generation.update(|generation| generation + 1);
        let mut block = Arena::new(BLOCK_BYTES)?.allocate(BLOCK_BYTES)?;
        Label { generation: self.generation.get(), ..label.clone() }.encode(&mut block);
        if let Some(copy) = copies.first() {
            self.first.set(*copy);
        }
        let places = copies.iter().map(|copy| label.label_at(*copy));
        write_in(disk, "writing the label", places, block.freeze()).await
    }
}

/// Writes a block to several places concurrently.
async fn write_in(
    disk: &Rc<Disk>,
    action: &'static str,
    places: impl Iterator<Item = u64>,
    block: Buffer,
) -> Result<(), PageError> {
    let write = |place| disk.write(action, place, [block.clone()].into_iter().collect());
    let mut result = Ok(());
    for writing in places.map(write).collect::<Vec<_>>() {
        result = result.and(writing.await);
    }
    result
}

/// Copies to write: all of them.
fn written(label: &Label) -> std::ops::Range<u64> {
    0..if Defect::LabelsTogether.is_seeded() { 2 } else { label.label_copies() }
}

#[cfg(test)]
mod tests {
    use nandle_io::{Cause, IoError, Operation};

    use super::*;
    use crate::{CreateOptions, PolicyKind};

    fn label(pages: u64, generation: u64) -> Label {
        let options = CreateOptions::new(PolicyKind::StableRing, 8192, pages);
        Label { id: 7, generation, pages, ..Label::plan(&options, 8192, 1 << 20).unwrap() }
    }

    fn damaged() -> Result<Label, PageError> {
        Err(PageError::NotAStore { found: "damage" })
    }

    fn unreadable() -> Result<Label, PageError> {
        Err(PageError::device("reading")(IoError::new(&Operation::Flush, Cause::System(5))))
    }

    /// Eight copies of a label, some of them replaced.
    fn copies(all: &Label, others: &[(usize, Result<Label, PageError>)]) -> Copies {
        let mut copies = vec![Some(Ok(all.clone())); 8];
        for (copy, other) in others {
            copies[*copy] = Some(other.clone());
        }
        let found = copies.iter().flatten().find_map(|copy| copy.as_ref().ok()).cloned().unwrap();
        Copies::of(&found, &copies)
    }

    #[test]
    fn the_copy_with_most_pages_counts_if_it_is_of_the_same_store() {
        let (old, new) = (label(100, 4), label(200, 5));
        let other_store = Label { id: 77, ..label(300, 9) };
        // Copies; pages of the valid one; copies to rewrite, and the first of them.
        for (copies, pages, outdated, first) in [
            (copies(&old, &[(3, Ok(label(100, 5)))]), 100, vec![], 3),
            (copies(&old, &[(3, Ok(new.clone()))]), 200, vec![0, 1, 2, 4, 5, 6, 7], 3),
            (copies(&label(200, 6), &[(3, Ok(new.clone()))]), 200, vec![], 7),
            (copies(&label(200, 6), &[(3, Ok(new.clone())), (5, Ok(old.clone()))]), 200, vec![5], 7),
            (copies(&old, &[(2, damaged())]), 100, vec![2], 2),
            (copies(&old, &[(0, damaged()), (4, unreadable())]), 100, vec![0], 0),
            (copies(&old, &[(4, unreadable())]), 100, vec![], 4),
            (copies(&old, &[(6, Ok(other_store.clone()))]), 100, vec![6], 6),
            (copies(&other_store, &[(0, Ok(old.clone()))]), 100, vec![1, 2, 3, 4, 5, 6, 7], 1),
        ] {
            let found = (copies.label.pages, copies.outdated.clone(), copies.first.get());
            assert_eq!(found, (pages, outdated, first), "{copies:?}");
        }
    }

    #[test]
    fn only_copies_with_fewer_pages_tell_of_a_growth() {
        let (old, new) = (label(100, 4), label(200, 5));
        assert!(copies(&old, &[(3, Ok(new.clone()))]).is_growing);
        assert!(!copies(&new, &[(3, damaged())]).is_growing);
    }
}
