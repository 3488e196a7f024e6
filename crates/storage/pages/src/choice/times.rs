/// What requests of a store's pages take on a device: figures of a profile of it, which `nandle advise PROFILE --for pages`
/// prints. Times are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageTimes {
    /// A write that goes on where the one before ended, without its bytes.
    pub request_ns: f64,
    /// Each page in it.
    pub sequential_ns: f64,
    /// A page at random in an area in which random writes are cheap.
    pub focused_ns: f64,
    /// The largest such area that is known; 0 where there is none.
    pub focused_area_bytes: u64,
    /// A page anywhere, nothing else under way.
    pub random_ns: f64,
    /// A page anywhere, several under way: elapsed time by pages.
    pub random_deep_ns: f64,
    /// Reading a page anywhere, several under way: elapsed time by pages.
    pub read_deep_ns: f64,
    /// A flush after a write, without the write.
    pub flush_ns: f64,
}

/// Requests under way from which on [`random_deep_ns`](PageTimes::random_deep_ns) holds.
const DEEP: f64 = 8.0;

impl PageTimes {
    /// The same where all pages that are written lie in so many bytes: in a small area a page anywhere is a page in that area.
    pub(super) fn within(self, written_bytes: f64) -> Self {
        let is_small = written_bytes <= self.focused_area_bytes as f64;
        let random_ns = if is_small { self.focused_ns.min(self.random_ns) } else { self.random_ns };
        Self { random_ns, random_deep_ns: self.random_deep_ns.min(random_ns), ..self }
    }

    /// A page anywhere, so many under way: between one and several by the depth's logarithm.
    pub(super) fn random_at(&self, depth: f64) -> f64 {
        let share = (depth.max(1.0).ln() / DEEP.ln()).min(1.0);
        self.random_ns * (self.random_deep_ns / self.random_ns).powf(share)
    }

    /// Each page of a sequential write of `pages` with a header of `header_pages`, counting `request_share` of its request.
    pub(super) fn append_ns(&self, pages: f64, header_pages: f64, request_share: f64) -> f64 {
        (self.request_ns * request_share + (pages + header_pages) * self.sequential_ns) / pages
    }

    /// Share of a request's time in which the device can't serve others: 1 where several take as long each as one alone.
    pub(super) fn busy_share(&self) -> f64 {
        (self.random_deep_ns / self.random_ns).min(1.0)
    }
}
