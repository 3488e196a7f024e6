/// What a store did since it was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Pages that clients wrote.
    pub pages_written: u64,
    /// Pages that clients read.
    pub pages_read: u64,
    /// Pages that were rewritten before their older version was destaged.
    pub pages_absorbed: u64,
    /// Pages that `auto` wrote straight home.
    pub pages_straight: u64,
    /// Pages destaged: written to their own place from a staging area.
    pub pages_destaged: u64,
    /// Pages that cleaning moved from one zone to another.
    pub pages_cleaned: u64,
    /// Zones that became free again, because nothing in them counted any more.
    pub zones_freed: u64,
    /// Bytes written to the device.
    pub device_written_bytes: u64,
    /// Bytes read from the device.
    pub device_read_bytes: u64,
    /// Writes sent to the device.
    pub device_writes: u64,
    /// Reads sent to the device.
    pub device_reads: u64,
    /// Flushes sent to the device, and writes that are durable by themselves.
    pub device_flushes: u64,
    /// Discards that the device has done.
    pub device_discards: u64,
    /// Whether the device takes discards: it may say so only when it gets one, and gets no more then.
    pub takes_discards: bool,
    /// Pages that are in the staging area or in memory now.
    pub staged_pages: u64,
    /// Instances that each decompositor won, and the pages in them: sequential, partitioned, ordered, focused.
    pub instances: [Instances; 4],
    /// What `auto` found out; `None` with the other policies.
    pub auto: Option<AutoStats>,
}

/// What `auto` found out about its two ways, and which it takes. Times are those of a page, as clients waited for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AutoStats {
    /// Which way was chosen last: whether it is staging. `None` until both were tried.
    pub stages: Option<bool>,
    /// Trials that have ended, of either way.
    pub trials: u64,
    /// How often another way was chosen than before.
    pub changes: u64,
    /// What staging took when it was measured last.
    pub staged_ns: Option<u64>,
    /// What going straight home took when it was measured last.
    pub straight_ns: Option<u64>,
}

/// How often a write stream decompositor won, and with how many pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Instances {
    /// Instances.
    pub count: u64,
    /// Pages in all of them.
    pub pages: u64,
}
