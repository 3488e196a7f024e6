use rustc_hash::FxHashMap;
use serde::Serialize;

use super::share;

/// The window looked through, in page writes: the `StableBuffer` paper's buffer of 2 048 pages.
const WINDOW_WRITES: usize = 2048;
/// The areas, in bytes: from an erase block to several.
const AREAS_BYTES: [u64; 5] = [256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];

/// How close together the writes of a window lie.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AreaShare {
    /// Bytes of an area, aligned to its size.
    pub area_bytes: u64,
    /// The window: so many page writes, one after the other.
    pub window_writes: u64,
    /// Page writes of a window that fall into the same area, on average over the areas it touches.
    pub writes_per_area: f64,
    /// Share of a window's page writes in its two busiest areas (a focused pattern), on average over the windows.
    pub in_busiest_two: f64,
}

/// Areas that the windows touch.
pub(super) struct Areas {
    page_bytes: u64,
    window: Vec<u64>,
    sizes: Vec<Size>,
}

struct Size {
    bytes: u64,
    writes: u64,
    touched: u64,
    in_busiest_two: u64,
}

impl Areas {
    pub(super) fn new(page_bytes: u64) -> Self {
        let larger = AREAS_BYTES.into_iter().filter(|bytes| *bytes >= page_bytes);
        let sizes = larger.map(|bytes| Size { bytes, writes: 0, touched: 0, in_busiest_two: 0 }).collect();
        Self { page_bytes, window: Vec::with_capacity(WINDOW_WRITES), sizes }
    }

    pub(super) fn add(&mut self, page: u64) {
        self.window.push(page);
        if self.window.len() == WINDOW_WRITES {
            self.close();
        }
    }

    fn close(&mut self) {
        let mut writes_by_area = FxHashMap::<u64, u64>::default();
        for size in &mut self.sizes {
            writes_by_area.clear();
            for page in &self.window {
                *writes_by_area.entry(page * self.page_bytes / size.bytes).or_default() += 1;
            }
            debug_assert_eq!(
                writes_by_area.values().sum::<u64>(),
                self.window.len() as u64,
                "each write of the window falls into one area"
            );
            size.add(&writes_by_area);
        }
        self.window.clear();
    }

    pub(super) fn shares(mut self) -> Vec<AreaShare> {
        // A window that is cut short would look as if writes lay further apart.
        if self.sizes.first().is_some_and(|size| size.writes == 0) {
            self.close();
        }
        let told = |size: &Size| AreaShare {
            area_bytes: size.bytes,
            window_writes: WINDOW_WRITES as u64,
            writes_per_area: share(size.writes, size.touched),
            in_busiest_two: share(size.in_busiest_two, size.writes),
        };
        self.sizes.iter().filter(|size| size.writes > 0).map(told).collect()
    }
}

impl Size {
    fn add(&mut self, writes_by_area: &FxHashMap<u64, u64>) {
        let (mut first, mut second) = (0, 0);
        for &writes in writes_by_area.values() {
            self.writes += writes;
            if writes > first {
                (first, second) = (writes, first);
            } else {
                second = second.max(writes);
            }
        }
        self.touched += writes_by_area.len() as u64;
        self.in_busiest_two += first + second;
        debug_assert!(
            self.in_busiest_two <= self.writes && self.touched <= self.writes,
            "{} and {} of {}",
            self.in_busiest_two,
            self.touched,
            self.writes
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_gather_writes_that_lie_together() {
        let mut areas = Areas::new(4096);
        // Six writes in the first 256 KiB, one in the next, three a megabyte on.
        for page in [0, 1, 2, 3, 4, 63, 64, 256, 257, 258] {
            areas.add(page);
        }
        let shares = areas.shares();
        let first = shares[0];
        assert!((first.writes_per_area - 10.0 / 3.0).abs() < 1e-12);
        assert!((first.in_busiest_two - 0.9).abs() < 1e-12);
        assert!((shares[2].writes_per_area - 10.0).abs() < 1e-12, "all in one area of 4 MiB");
    }
}
