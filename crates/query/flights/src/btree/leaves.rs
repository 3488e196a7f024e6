use nandle_reads::{FileId, Want};
use rusqlite::Connection;

use super::BtreeError;

/// The leaves of an index, in the order of keys, as SQLite's `dbstat` finds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaves {
    page_bytes: u32,
    /// Numbers of pages, from 1 on.
    pages: Vec<u32>,
    /// Pages above the leaves.
    inner_pages: u64,
}

impl Leaves {
    pub(super) fn of(connection: &Connection, index: &str, page_bytes: u32) -> Result<Self, BtreeError> {
        let failed = BtreeError::of("asking dbstat for an index's pages");
        // A page's path has three hexadecimal digits for each level, by the place in its parent, so its order is that of keys. A page
        // has fewer than 4096 children as long as it has at most 64 KiB, and an entry at least 16 bytes.
        let select =
            "select pageno, pagetype from dbstat where name = ?1 and pagetype <> 'overflow' order by path";
        let mut statement = connection.prepare(select).map_err(&failed)?;
        let mut rows = statement.query([index]).map_err(&failed)?;
        let (mut pages, mut inner_pages) = (Vec::new(), 0);
        while let Some(row) = rows.next().map_err(&failed)? {
            let kind: String = row.get(1).map_err(&failed)?;
            if kind == "leaf" {
                pages.push(row.get(0).map_err(&failed)?);
            } else {
                inner_pages += 1;
            }
        }
        Ok(Self { page_bytes, pages, inner_pages })
    }

    /// How many leaves there are.
    pub fn count(&self) -> usize {
        self.pages.len()
    }

    /// How many pages lie above the leaves.
    pub fn inner_pages(&self) -> u64 {
        self.inner_pages
    }

    /// The share of leaves, from the second on, that don't lie behind the one before them. None: there is only one.
    pub fn share_of_jumps(&self) -> Option<f64> {
        let steps = self.pages.len().checked_sub(1).filter(|steps| *steps > 0)?;
        let follows = |(one, next): &(&u32, &u32)| **next == **one + 1;
        let following = self.pages.iter().zip(self.pages.iter().skip(1)).filter(follows).count();
        Some((steps - following) as f64 / steps as f64)
    }

    /// What a scan in the order of keys reads: a leaf a step.
    pub fn wants(&self, file: FileId) -> impl Iterator<Item = Want> {
        let length_bytes = u64::from(self.page_bytes);
        (0..).zip(&self.pages).map(move |(step, page)| Want {
            file,
            offset_bytes: u64::from(page.saturating_sub(1)) * length_bytes,
            length_bytes,
            step,
        })
    }
}
