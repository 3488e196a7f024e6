use nandle_reads::{FileId, Want};
use rusqlite::Connection;

use super::BtreeError;

/// Leaves of an index in key order, from SQLite's `dbstat`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaves {
    page_bytes: u32,
    /// Page numbers, from 1.
    pages: Vec<u32>,
    /// Number of inner pages.
    inner_pages: u64,
}

impl Leaves {
    pub(super) fn of(connection: &Connection, index: &str, page_bytes: u32) -> Result<Self, BtreeError> {
        let failed = BtreeError::of("asking dbstat for an index's pages");
        // The path of a page has three hexadecimal digits per level, its position in the parent, so
        // paths sort in key order. At most 64 KiB per page and at least 16 bytes per entry give
        // fewer than 4096 children.
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

    /// Number of leaves.
    pub fn count(&self) -> usize {
        self.pages.len()
    }

    /// Number of inner pages.
    pub fn inner_pages(&self) -> u64 {
        self.inner_pages
    }

    /// Share of leaves that don't directly follow the previous one; `None` for a single leaf.
    pub fn share_of_jumps(&self) -> Option<f64> {
        let steps = self.pages.len().checked_sub(1).filter(|steps| *steps > 0)?;
        let follows = |(one, next): &(&u32, &u32)| **next == **one + 1;
        let following = self.pages.iter().zip(self.pages.iter().skip(1)).filter(follows).count();
        Some((steps - following) as f64 / steps as f64)
    }

    /// Wants of a scan in key order: one leaf per step.
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
