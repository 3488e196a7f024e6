use nandle_io::{Buffer, BufferMut};

use super::ZoneEngine;
use super::packing::{PageReader, Spot};
use crate::write_log::{Context, From};
use crate::{PageError, PageNumber};

impl ZoneEngine {
    pub(super) fn page_reader(&self) -> PageReader<'_> {
        let Context { disk, label, arena, .. } = &*self.context;
        PageReader { disk, label, arena }
    }

    /// Reads the newest version of a page; zeros, if it was never written or was discarded.
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
