/// Request times of a device for a store's pages, from its profile; printed by `nandle advise
/// PROFILE --for pages`. Times are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageTimes {
    /// Fixed time of a write that continues the previous one.
    pub request_ns: f64,
    /// Time per page in such a write.
    pub sequential_ns: f64,
    /// Time of a random page write within an area in which these are cheap.
    pub focused_ns: f64,
    /// Largest such area; 0 if there is none.
    pub focused_area_bytes: u64,
    /// Time of a random page write at depth 1.
    pub random_ns: f64,
    /// Elapsed time per random page write at a high depth.
    pub random_deep_ns: f64,
    /// Elapsed time per random page read at a high depth.
    pub read_deep_ns: f64,
    /// Time of a flush after a write, without the write.
    pub flush_ns: f64,
}

/// Depth from which [`random_deep_ns`](PageTimes::random_deep_ns) applies.
const DEEP: f64 = 8.0;

impl PageTimes {
    /// Times if all written pages lie within `written_bytes`: in a small area random writes take
    /// the focused time.
    pub(super) fn within(self, written_bytes: f64) -> Self {
        let is_small = written_bytes <= self.focused_area_bytes as f64;
        let random_ns = if is_small { self.focused_ns.min(self.random_ns) } else { self.random_ns };
        Self { random_ns, random_deep_ns: self.random_deep_ns.min(random_ns), ..self }
    }

    /// Time of a random page write at a depth, interpolated by the depth's logarithm.
    pub(super) fn random_at(&self, depth: f64) -> f64 {
        let share = (depth.max(1.0).ln() / DEEP.ln()).min(1.0);
        self.random_ns * (self.random_deep_ns / self.random_ns).powf(share)
    }

    /// Time per page of a sequential write of `pages` with a header of `header_pages`, counting
    /// `request_share` of the request.
    pub(super) fn append_ns(&self, pages: f64, header_pages: f64, request_share: f64) -> f64 {
        (self.request_ns * request_share + (pages + header_pages) * self.sequential_ns) / pages
    }

    /// Fraction of a request's time in which the device is busy: 1 if concurrency brings nothing.
    pub(super) fn busy_share(&self) -> f64 {
        (self.random_deep_ns / self.random_ns).min(1.0)
    }
}
