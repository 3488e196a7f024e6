/// What a store did since it was opened. Shared in memory; `write_amplification` is bytes at the device by bytes of
/// pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Pages that clients wrote.
    pub pages_written: u64,
    /// Pages that clients read.
    pub pages_read: u64,
    /// Pages that were rewritten before their older version had been brought home.
    pub pages_absorbed: u64,
    /// Pages that `auto` wrote straight home.
    pub pages_straight: u64,
    /// Pages brought home from a staging area.
    pub pages_homed: u64,
    /// Pages that cleaning moved from one zone to another.
    pub pages_cleaned: u64,
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
    /// Pages that are in the staging area or in memory now.
    pub staged_pages: u64,
    /// Instances that each decompositor won, and the pages in them: sequential, partitioned, ordered, focused.
    pub instances: [Instances; 4],
}

/// How often a write stream decompositor won, and with how many pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Instances {
    /// Instances.
    pub count: u64,
    /// Pages in all of them.
    pub pages: u64,
}
