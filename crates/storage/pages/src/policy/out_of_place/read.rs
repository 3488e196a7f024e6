use nandle_io::{Buffer, BufferMut};

use super::map::PagePlace;
use super::packing::{Shelf, Spot};
use super::{EngineState, ZoneEngine};
use crate::batch::Change;
use crate::page::checksum;
use crate::{PageError, PageNumber};

enum Found {
    InMemory(Buffer),
    Stored { spot: Spot, sum: u32 },
    Blank,
}

impl EngineState {
    fn find(&self, page: PageNumber) -> Found {
        match self.gather.get(page) {
            Some(Change::Put(contents)) => return Found::InMemory(contents.clone()),
            Some(Change::Discard) => return Found::Blank,
            None => {}
        }
        match (self.map.get(page), self.on_the_way.get(&page)) {
            (PagePlace::At { .. }, Some((_, contents))) => Found::InMemory(contents.clone()),
            (PagePlace::At { spot, sum, .. }, None) => Found::Stored { spot, sum },
            (PagePlace::Discarded { .. } | PagePlace::Nowhere, _) => Found::Blank,
        }
    }
}

impl ZoneEngine {
    pub(super) fn shelf(&self) -> Shelf<'_> {
        Shelf { disk: &self.disk, label: &self.label, arena: &self.arena }
    }

    /// Reads the newest version of a page; zeros, if it was never written or was discarded.
    pub(super) async fn read(&self, page: PageNumber, mut into: BufferMut) -> Result<Buffer, PageError> {
        loop {
            let found = self.state.borrow().find(page);
            let (spot, expected) = match found {
                Found::InMemory(contents) => return Ok(contents),
                Found::Stored { spot, sum } => (spot, sum),
                Found::Blank => {
                    into.fill(0);
                    return Ok(into.freeze());
                }
            };
            let contents = self.shelf().fetch("reading a page", spot, into).await?.contents;
            let got = checksum(page, &contents);
            if got == expected {
                return Ok(contents);
            }
            // The page may have moved meanwhile, and its zone may have been begun again.
            let is_same =
                matches!(self.state.borrow().find(page), Found::Stored { spot: now, .. } if now == spot);
            match contents.thaw() {
                Ok(buffer) if !is_same => into = buffer,
                _ => return Err(PageError::Damaged { page, place: "its zone", got, expected }),
            }
        }
    }
}
