use serde::{Deserialize, Serialize};

/// I/O interface used for the measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Backend {
    /// `io_uring`, `threads`, or the name of a modelled world.
    pub io: String,
    /// Features in use (`SINGLE_ISSUER`, `registered buffers` …).
    pub features: Vec<String>,
    /// Features that were requested but unavailable, with the reason.
    pub stepped_down: Vec<String>,
    /// True if requests bypass the page cache.
    pub direct: bool,
}

impl Backend {
    /// Returns true for a model in virtual time.
    pub fn is_modelled(&self) -> bool {
        self.io == "model"
    }
}

/// Identity of a device, which stays the same over time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Identity {
    /// Kernel name of the block device (`nvme0n1`). It isn't stable; only for display.
    pub kernel_name: Option<String>,
    /// Model as reported by the device.
    pub model: Option<String>,
    /// Vendor as reported by the device.
    pub vendor: Option<String>,
    /// Serial number as reported by the device.
    pub serial: Option<String>,
    /// World-wide name or NVMe namespace identifier.
    pub world_wide_name: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// Capacity of the whole device.
    pub capacity_bytes: Option<u64>,
}

/// Facts from the system about the device; none of them is measured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SystemFacts {
    /// Queue of the block device, from sysfs; `null` if the target has none.
    pub queue: Option<BlockQueue>,
    /// File system, if the target is a file or a directory.
    pub file_system: Option<FileSystem>,
    /// Atomic write units from `statx`, if supported.
    pub atomic_write: Option<AtomicWrite>,
    /// Alignment of memory for direct I/O (`statx` `DIOALIGN`, or the logical block).
    pub direct_memory_alignment_bytes: Option<u64>,
    /// Alignment of offsets and lengths for direct I/O.
    pub direct_offset_alignment_bytes: Option<u64>,
    /// Machine of the measurement.
    pub machine: MachineFacts,
}

/// Smallest access time of a rotating disk: half a turn at 15 000 per minute.
pub const ROTATIONAL_LATENCY_NS_MIN: u64 = 2_000_000;

/// Queue parameters that matter for a database, from `/sys/block/…/queue`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockQueue {
    /// True if the device reports itself as rotational.
    pub rotational: Option<bool>,
    /// Current I/O scheduler.
    pub scheduler: Option<String>,
    /// Available schedulers.
    pub schedulers_available: Vec<String>,
    /// Logical block size.
    pub logical_block_bytes: Option<u64>,
    /// Physical block size.
    pub physical_block_bytes: Option<u64>,
    /// Smallest efficient request, as stated by the device.
    pub minimum_io_bytes: Option<u64>,
    /// Preferred request size, as stated by the device.
    pub optimal_io_bytes: Option<u64>,
    /// Largest request of the kernel; longer ones are split.
    pub split_bytes: Option<u64>,
    /// Largest request of the hardware.
    pub hardware_split_bytes: Option<u64>,
    /// Largest number of segments per request.
    pub segments_max: Option<u64>,
    /// Requests that the kernel queues for the device.
    pub requests_max: Option<u64>,
    /// Read-ahead of buffered files.
    pub read_ahead_bytes: Option<u64>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// True if the device supports forced-unit-access writes.
    pub forced_unit_access: Option<bool>,
    /// Memory alignment for direct access, as a bit mask.
    pub dma_alignment_mask: Option<u64>,
    /// Granularity of discards, as stated by the device.
    pub discard_granularity_bytes: Option<u64>,
    /// Largest discard; 0 if unsupported.
    pub discard_bytes_max: Option<u64>,
    /// Latency target of writeback throttling.
    pub writeback_throttle_latency_us: Option<u64>,
    /// True if neighbouring requests are merged (`nomerges` is 0).
    pub merges: Option<bool>,
}

/// File system of the target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileSystem {
    /// Type (`ext4`, `xfs` …).
    pub kind: String,
    /// Device it is mounted from.
    pub source: String,
    /// Mount point.
    pub mount_point: String,
    /// Mount options.
    pub options: Vec<String>,
    /// Size of the file system; `null` if unknown.
    pub capacity_bytes: Option<u64>,
    /// Bytes that an unprivileged user may still write; `null` if unknown.
    pub available_bytes: Option<u64>,
}

/// Atomic write units: writes of a size in this range, aligned to their size, are never torn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AtomicWrite {
    /// Smallest unit.
    pub unit_bytes_min: u64,
    /// Largest unit.
    pub unit_bytes_max: u64,
}

/// Machine of the measurement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineFacts {
    /// Processor model.
    pub processor: Option<String>,
    /// Number of processors available to this process.
    pub processors: u32,
    /// Size of memory.
    pub memory_bytes: Option<u64>,
    /// Kernel name and release.
    pub kernel: String,
    /// Hypervisor, if the machine is known to be virtual.
    pub hypervisor: Option<String>,
}

/// A stated fact that the measurement contradicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Contradiction {
    /// Stated fact with its source.
    pub stated: String,
    /// Measured behaviour.
    pub measured: String,
    /// Recommended action.
    pub advice: String,
}
