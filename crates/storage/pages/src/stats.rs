/// Statistics of a store since its opening.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Pages that clients wrote.
    pub pages_written: u64,
    /// Pages that clients read.
    pub pages_read: u64,
    /// Pages that were rewritten before their older version was destaged.
    pub pages_absorbed: u64,
    /// Pages that `auto` wrote directly home.
    pub pages_straight: u64,
    /// Pages destaged: written to their own place from a staging area.
    pub pages_destaged: u64,
    /// Pages that cleaning moved from one zone to another.
    pub pages_cleaned: u64,
    /// Zones freed because they had no live contents.
    pub zones_freed: u64,
    /// Bytes written to the device.
    pub device_written_bytes: u64,
    /// Bytes read from the device.
    pub device_read_bytes: u64,
    /// Writes sent to the device.
    pub device_writes: u64,
    /// Reads sent to the device.
    pub device_reads: u64,
    /// Flushes sent to the device, and durable writes.
    pub device_flushes: u64,
    /// Discards completed by the device.
    pub device_discards: u64,
    /// True if the device supports discards. It may report otherwise at the first one, and receives
    /// no more then.
    pub takes_discards: bool,
    /// Pages currently in the staging area or in memory.
    pub staged_pages: u64,
    /// Instances found by each decompositor, and their pages: sequential, partitioned, ordered,
    /// focused.
    pub instances: [Instances; 4],
    /// Measurements of `auto`; `None` with other policies.
    pub auto: Option<AutoStats>,
}

/// Measurements of `auto`'s two ways, and its choice. Times are per page, as clients waited for
/// them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AutoStats {
    /// True if staging was chosen last, false for direct writes; `None` until both were tried.
    pub stages: Option<bool>,
    /// Completed trials of either way.
    pub trials: u64,
    /// Number of changes of the chosen way.
    pub changes: u64,
    /// Latest time of staging in ns.
    pub staged_ns: Option<u64>,
    /// Latest time of direct writes in ns.
    pub straight_ns: Option<u64>,
}

/// Instances of a write stream decompositor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Instances {
    /// Number of instances.
    pub count: u64,
    /// Pages in all instances.
    pub pages: u64,
}
