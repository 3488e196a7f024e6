use serde::{Deserialize, Serialize};

/// How requests reached the device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Backend {
    /// `io_uring`, `threads`, or the name of a modelled world.
    pub io: String,
    /// The features in use (`SINGLE_ISSUER`, `registered buffers` …).
    pub features: Vec<String>,
    /// What was wanted and could not be had, with the reason. Empty when nothing was given up.
    pub stepped_down: Vec<String>,
    /// Whether requests bypass the page cache.
    pub direct: bool,
}

impl Backend {
    /// Whether it was a model in virtual time.
    pub fn is_modelled(&self) -> bool {
        self.io == "model"
    }
}

/// What tells this device from another: the same device has the same identity on the next day.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Identity {
    /// Kernel name of the block device at the time (`nvme0n1`); not stable, for people only.
    pub kernel_name: Option<String>,
    /// Model as the device gives it.
    pub model: Option<String>,
    /// Vendor as the device gives it.
    pub vendor: Option<String>,
    /// Serial number as the device gives it.
    pub serial: Option<String>,
    /// World-wide name, or the NVMe namespace identifier.
    pub world_wide_name: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// Capacity of the whole device.
    pub capacity_bytes: Option<u64>,
}

/// What the system says of the device, as found; nothing here is measured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SystemFacts {
    /// The block device's queue, from sysfs; `null` where the target has none.
    pub queue: Option<BlockQueue>,
    /// The file system, when the target is a file or a directory.
    pub file_system: Option<FileSystem>,
    /// Atomic write units from `statx`, where the kernel and the device give them.
    pub atomic_write: Option<AtomicWrite>,
    /// Alignment of memory for direct I/O (`statx` `DIOALIGN`, or the logical block).
    pub direct_memory_alignment_bytes: Option<u64>,
    /// Alignment of offsets and lengths for direct I/O.
    pub direct_offset_alignment_bytes: Option<u64>,
    /// The machine.
    pub machine: MachineFacts,
}

/// No disk moves its arm and turns to a random block in less: half a turn at 15 000 a minute.
pub const ROTATIONAL_LATENCY_NS_MIN: u64 = 2_000_000;

/// `/sys/block/…/queue`, the parts that matter for a database.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockQueue {
    /// Whether the device calls itself rotational.
    pub rotational: Option<bool>,
    /// The I/O scheduler in use.
    pub scheduler: Option<String>,
    /// Schedulers that could be chosen.
    pub schedulers_available: Vec<String>,
    /// Logical block.
    pub logical_block_bytes: Option<u64>,
    /// Physical block.
    pub physical_block_bytes: Option<u64>,
    /// Smallest efficient request by the device's own word.
    pub minimum_io_bytes: Option<u64>,
    /// Preferred request by the device's own word.
    pub optimal_io_bytes: Option<u64>,
    /// Largest request that the kernel sends; a longer one is split.
    pub split_bytes: Option<u64>,
    /// Largest request that the hardware takes.
    pub hardware_split_bytes: Option<u64>,
    /// Largest number of segments of one request.
    pub segments_max: Option<u64>,
    /// Requests that the kernel queues for the device.
    pub requests_max: Option<u64>,
    /// Read-ahead of buffered files.
    pub read_ahead_bytes: Option<u64>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// Whether the device takes forced-unit-access writes.
    pub forced_unit_access: Option<bool>,
    /// Alignment of memory for direct access, less one, as a mask.
    pub dma_alignment_mask: Option<u64>,
    /// Erase unit or allocation granularity that the device names for discards.
    pub discard_granularity_bytes: Option<u64>,
    /// Largest discard; 0 means none.
    pub discard_bytes_max: Option<u64>,
    /// Writeback throttling's latency target.
    pub writeback_throttle_latency_us: Option<u64>,
    /// Whether neighbouring requests are merged (`nomerges` is 0).
    pub merges: Option<bool>,
}

/// The file system that holds the target.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileSystem {
    /// Its type (`ext4`, `xfs` …).
    pub kind: String,
    /// The device it is mounted from.
    pub source: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// Its mount options.
    pub options: Vec<String>,
    /// Size of the file system; `null` where it doesn't say.
    pub capacity_bytes: Option<u64>,
    /// Bytes that an unprivileged user may still write; `null` where the file system doesn't say.
    pub available_bytes: Option<u64>,
}

/// Atomic write units: a write of a size in this range, aligned to it, is never torn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AtomicWrite {
    /// The smallest.
    pub unit_bytes_min: u64,
    /// The largest.
    pub unit_bytes_max: u64,
}

/// The machine that measured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineFacts {
    /// Processor model.
    pub processor: Option<String>,
    /// Processors that this process may use.
    pub processors: u32,
    /// Memory.
    pub memory_bytes: Option<u64>,
    /// Kernel name and release.
    pub kernel: String,
    /// The hypervisor, when the machine says that it is a virtual one.
    pub hypervisor: Option<String>,
}

/// Something that the system says and the measurement contradicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Contradiction {
    /// What the system says, with where it says it.
    pub stated: String,
    /// What was measured.
    pub measured: String,
    /// What to do about it.
    pub advice: String,
}
