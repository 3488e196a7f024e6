//! Zones' part of the [write log](crate::write_log): places of pages, and pages being written.

use nandle_io::Buffer;
use rustc_hash::FxHashMap;

use super::header::{Entry, Header};
use super::map::{Map, PagePlace};
use super::packing::{Put, Spot};
use crate::PageNumber;
use crate::write_log::{Found, From, Stored, Versions, WriteLog};

/// Write log of zones.
pub(super) type ZoneLog = WriteLog<MappedPages>;

/// Newest version of each page.
pub(super) struct MappedPages {
    pub(super) map: Map,
    /// Contents being written, with the sequence of their extent.
    on_the_way: FxHashMap<PageNumber, (u64, Buffer)>,
}

impl MappedPages {
    pub(super) fn new(map: Map) -> Self {
        Self { map, on_the_way: FxHashMap::default() }
    }

    /// Records the start of an extent's write. The map already contains it.
    pub(super) fn sent(&mut self, header: &Header, puts: Vec<Put>) {
        debug_assert_eq!(header.pages.len(), puts.len(), "a header describes what is behind it");
        let sequence = header.sequence;
        self.on_the_way.extend(puts.into_iter().map(|put| (put.page, (sequence, put.contents))));
        for page in &header.discards {
            self.on_the_way.remove(page);
        }
    }
}

impl Versions for MappedPages {
    type Header = Header;
    type Place = Spot;
    const PLACE: &'static str = "its zone";
    const COMMITS_FLUSH_FOR_OTHERS: bool = false;

    fn find(&self, page: PageNumber, _from: From, written: u64) -> Found<Spot> {
        match (self.map.get(page), self.on_the_way.get(&page)) {
            (PagePlace::At { sequence, .. }, Some((sent, contents))) => {
                debug_assert_eq!(sequence, *sent, "what is on its way of {page} is its newest version");
                Found::InMemory(contents.clone())
            }
            (PagePlace::At { spot, sum, sequence }, None) => {
                debug_assert!(sequence <= written, "{page} is in memory until it is on the device");
                Found::Stored(Stored { sequence, place: spot, sum })
            }
            (PagePlace::Discarded { .. } | PagePlace::Nowhere, on_the_way) => {
                debug_assert!(on_the_way.is_none(), "nothing is on its way of {page}, which was discarded");
                Found::Absent
            }
        }
    }

    fn written(&mut self, header: &Header) {
        for Entry { page, .. } in &header.pages {
            if self.on_the_way.get(page).is_some_and(|(sequence, _)| *sequence == header.sequence) {
                self.on_the_way.remove(page);
            }
        }
    }
}
