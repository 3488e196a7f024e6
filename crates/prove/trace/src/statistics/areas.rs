use rustc_hash::FxHashMap;
use serde::Serialize;

use super::share;

/// Length of a window in page writes: the 2,048-page buffer of the `StableBuffer` paper.
const WINDOW_WRITES: usize = 2048;
/// Area sizes in bytes, from one erase block to several.
const AREAS_BYTES: [u64; 5] = [256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];

/// Spatial locality of the writes in a window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AreaShare {
    /// Length of an area in bytes; areas are aligned to it.
    pub area_bytes: u64,
    /// Length of the window, in consecutive page writes.
    pub window_writes: u64,
    /// Page writes of a window per area touched, on average.
    pub writes_per_area: f64,
    /// Share of a window's page writes in its two busiest areas (a focused pattern), on average.
    pub in_busiest_two: f64,
}

/// Counts the areas touched by each window.
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
        // A truncated window would make the writes look less local.
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
