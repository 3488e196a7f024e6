/// Costs of writes on a device by address pattern, taken from a device's profile. The patterns are
/// those of uFLIP (Bouganim, Jónsson, Bonnet, CIDR 2009). Times are per page; only their ratios
/// matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteCosts {
    /// Page in a single sequential stream.
    pub sequential_ns: u64,
    /// Page in one of several interleaved sequential streams.
    pub partitioned_ns: u64,
    /// Page at a constant distance from the previous one.
    pub ordered_ns: u64,
    /// Random page inside the focused area.
    pub focused_ns: u64,
    /// Random page anywhere.
    pub random_ns: u64,
    /// Largest area in which random writes are cheap: M.
    pub focused_area_bytes: u64,
    /// Maximum number of interleaved sequential streams.
    pub partitions: u32,
    /// Unit that the drive cleans or merges at once: a superblock or a zone.
    pub mapping_unit_bytes: u64,
}

impl WriteCosts {
    /// Returns true if two writes in favourable patterns, one to a staging area and one home, cost
    /// less than one random write (`StableBuffer` §3.1).
    pub(crate) fn staging_may_pay(&self) -> bool {
        let home_ns = self.partitioned_ns.min(self.ordered_ns).min(self.focused_ns);
        self.sequential_ns.saturating_add(home_ns) < self.random_ns
    }
}

impl Default for WriteCosts {
    /// Medium values reported by Li (StableBuffer, 2010, after uFLIP), with 100 µs per sequential
    /// page: focused and partitioned 1–2 times that, ordered 1–4, random 13–30, 8 MiB, eight
    /// streams; and a mapping unit of 1 MiB.
    fn default() -> Self {
        Self {
            sequential_ns: 100_000,
            partitioned_ns: 150_000,
            ordered_ns: 250_000,
            focused_ns: 150_000,
            random_ns: 2_000_000,
            focused_area_bytes: 8 << 20,
            partitions: 8,
            mapping_unit_bytes: 1 << 20,
        }
    }
}
