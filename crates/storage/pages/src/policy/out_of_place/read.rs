use nandle_io::{Buffer, BufferMut};

use super::ZoneEngine;
use super::packing::{PageReader, Spot};
use crate::home::Place;
use crate::write_log::{Context, Found, From, Stored};
use crate::{PageError, PageNumber};

impl ZoneEngine {
    pub(super) fn page_reader(&self) -> PageReader<'_> {
        let Context { disk, label, arena, .. } = &*self.context;
        PageReader { disk, label, arena }
    }

    /// Place of a page, unless it is being written.
    pub(super) fn locate(&self, page: PageNumber) -> Option<Place> {
        let Found::Stored(Stored { place, sum, .. }) = self.log.find(page, From::Memory) else { return None };
        let Spot { start_bytes, stored_bytes } = place;
        Some(Place { offset_bytes: self.context.label.area_offset + start_bytes, stored_bytes, sum })
    }

    /// Reads the newest version of a page. An unwritten or discarded page reads as zeros.
    pub(super) async fn read(&self, page: PageNumber, into: BufferMut) -> Result<Buffer, PageError> {
        let fetch = async |spot: &Spot, into| {
            Ok(self.page_reader().fetch("reading a page", *spot, into).await?.contents)
        };
        match self.log.read(page, into, From::Memory, fetch).await? {
            Ok(contents) => Ok(contents),
            Err(mut blank) => {
                blank.fill(0);
                Ok(blank.freeze())
            }
        }
    }
}
