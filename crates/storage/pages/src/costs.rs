/// What writing costs on a device by the pattern of the addresses; the caller fills it from a device's profile. The
/// patterns are those of uFLIP (Bouganim, Jónsson, Bonnet, CIDR 2009). Times are those of one page; only their
/// proportions matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteCosts {
    /// A page in one sequential stream.
    pub sequential_ns: u64,
    /// A page in one of several sequential streams that take turns.
    pub partitioned_ns: u64,
    /// A page at a constant distance from the one before.
    pub ordered_ns: u64,
    /// A page at random inside the focused area.
    pub focused_ns: u64,
    /// A page anywhere.
    pub random_ns: u64,
    /// The largest area in which random writes are cheap: M.
    pub focused_area_bytes: u64,
    /// The most sequential streams that may take turns.
    pub partitions: u32,
    /// What the drive cleans or merges at once: a superblock, a zone.
    pub mapping_unit_bytes: u64,
}

impl WriteCosts {
    /// Whether two writes in patterns that the device likes, one to a staging area and one home, cost less than one
    /// anywhere (`StableBuffer` §3.1).
    pub(crate) fn staging_may_pay(&self) -> bool {
        let home_ns = self.partitioned_ns.min(self.ordered_ns).min(self.focused_ns);
        self.sequential_ns.saturating_add(home_ns) < self.random_ns
    }
}

impl Default for WriteCosts {
    /// The middle of what Li (StableBuffer, 2010, after uFLIP) reports, with a sequential page as 100 µs: focused
    /// and partitioned 1–2, ordered 1–4, random 13–30 of it, 8 MiB, eight streams; and a mapping unit of 1 MiB.
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
