//! Parameters of a flash drive, in its TOML file. Times end in `_ns`, sizes in `_bytes`.

mod error;
mod scale;
mod validate;

pub use error::ParameterError;
use serde::{Deserialize, Serialize};

use crate::library::ModelKind;

/// Parameters of a flash drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashParameters {
    /// `flash`.
    pub kind: ModelKind,
    /// Name in the library.
    pub name: String,
    /// Description in one sentence.
    pub description: String,
    /// User capacity of the model.
    pub capacity_bytes: u64,
    /// Capacity of the real drive, if the model is smaller with the same chips and channels. Only
    /// the number of erase blocks per die differs.
    #[serde(default)]
    pub scaled_from_bytes: Option<u64>,
    /// Block layer of the host.
    pub host: HostParameters,
    /// Command slots of the drive.
    pub command_queue: CommandQueueParameters,
    /// Processor times of the controller.
    pub firmware: FirmwareParameters,
    /// Interface to the host.
    pub link: LinkParameters,
    /// Buffer for written data.
    pub write_buffer: WriteBufferParameters,
    /// Prefetching by the drive.
    pub read_ahead: ReadAheadParameters,
    /// Dies and channels.
    pub chips: ChipParameters,
    /// Mapping of logical addresses to pages.
    pub mapping: MappingParameters,
}

/// Block layer of the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostParameters {
    /// Length of the commands into which longer requests are split.
    pub split_bytes: u64,
    /// Length up to which adjacent waiting requests are merged; 0: never.
    pub merge_bytes: u64,
}

/// Command slots of the drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandQueueParameters {
    /// Number of submission queues.
    pub queues: u32,
    /// Slots per queue (32 for NCQ, 1 for a drive without queueing).
    pub depth: u32,
    /// Data of one command inside the drive at a time; a longer command is served in segments of
    /// this length.
    pub segment_bytes: u64,
}

/// Times of the controller's processor. It works on one command at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirmwareParameters {
    /// Processor time of a read command.
    pub read_ns: u64,
    /// Processor time of a write command.
    pub write_ns: u64,
    /// Processor time of a flush command.
    pub flush_ns: u64,
    /// Processor time of a discard command.
    pub discard_ns: u64,
    /// Processor time of each further chip operation of a read command: for a run of pages that
    /// isn't contiguous with the previous one, and for a page of the map. Zero if hardware does
    /// that.
    #[serde(default)]
    pub fragment_ns: u64,
    /// Time of a command in the controller's pipeline, during which others may proceed.
    pub latency_ns: u64,
}

/// Interface to the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkParameters {
    /// Data rate in each direction.
    pub bytes_per_s: u64,
    /// Data rate to the drive, if it is lower than from the drive (encoder, buffer memory).
    #[serde(default)]
    pub write_bytes_per_s: Option<u64>,
    /// Link time per command besides its data: command, set-up and status frames.
    pub command_ns: u64,
    /// True if both directions carry data at the same time (`PCIe` does, SATA and PATA don't).
    pub full_duplex: bool,
}

/// Buffer for written data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteBufferParameters {
    /// Capacity of the buffer.
    pub bytes: u64,
    /// True if a write completes once its data is in the buffer; otherwise it waits for the medium.
    pub acknowledges_early: bool,
    /// Fate of the buffer at a power cut, and the effect of flushes and durable writes.
    pub durability: Durability,
    /// Additional time of a write that waits for the medium (mapping journal).
    pub write_through_ns: u64,
}

/// The drive's durability guarantee, honoured or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// A power cut loses the buffer; a flush or a durable write waits for the medium.
    Volatile,
    /// Capacitors protect the buffer; a flush completes at once.
    Protected,
    /// A power cut loses the buffer, but flushes and durable writes are acknowledged early.
    Lying,
}

/// Prefetching by the drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadAheadParameters {
    /// Consecutive commands, each starting at the previous one's end, that make a sequential
    /// stream; 0: no read-ahead.
    pub trigger_commands: u32,
    /// Extent of a fetch beyond the command that ran out of prefetched data, in lengths of that
    /// command.
    pub fetch_commands: u32,
    /// Minimum extent of a fetch.
    pub least_fetch_bytes: u64,
    /// Capacity for prefetched data.
    pub buffer_bytes: u64,
    /// Streams that are tracked at a time.
    pub streams: u32,
    /// True if it stops where logical and physical order diverge (the drive copies whole stripes,
    /// and can't continue after random writes).
    pub physically_sequential: bool,
}

/// Dies and channels. Dies are numbered across channels: die *d* is on channel *d* mod `channels`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChipParameters {
    /// Number of independent buses.
    pub channels: u32,
    /// Dies on each bus.
    pub dies_per_channel: u32,
    /// Planes that are programmed and erased together.
    pub planes: u32,
    /// Size of a flash page.
    pub page_bytes: u64,
    /// Pages in an erase block.
    pub pages_per_block: u32,
    /// Time from the cells to the die's register; the mean over the page types.
    pub read_ns: u64,
    /// Sensing operations of each page type. Types take turns in a block; all pages are alike when
    /// absent.
    #[serde(default)]
    pub senses: Vec<u32>,
    /// Retries of uncorrectable pages; none when absent.
    #[serde(default)]
    pub read_retry: Option<ReadRetry>,
    /// Time from the register to the cells (all planes together).
    pub program_ns: u64,
    /// Time to erase one block (in all planes together).
    pub erase_ns: u64,
    /// Data rate of a bus.
    pub channel_bytes_per_s: u64,
    /// Granularity of reads over the bus (the error-correction word).
    pub transfer_bytes: u64,
    /// True if the planes of a die sense different pages at the same time.
    #[serde(default)]
    pub independent_plane_reads: bool,
    /// Time to interrupt a program or erase operation for a host read; when absent, reads wait for
    /// its end.
    #[serde(default)]
    pub suspend_ns: Option<u64>,
    /// Limit of interruptions of one program operation; none when absent.
    #[serde(default)]
    pub program_suspensions: Option<u32>,
    /// Limit of interruptions of one erase operation; none when absent.
    #[serde(default)]
    pub erase_suspensions: Option<u32>,
    /// True if the next page is transferred while the cells program one (cache programming).
    #[serde(default)]
    pub cache_program: bool,
    /// True if a merge copies pages inside their die, without using the bus.
    pub copyback: bool,
}

/// Retries of pages whose data can't be corrected at first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadRetry {
    /// Share of pages that need a retry, in a block that was never erased.
    pub part_of_pages: f64,
    /// Increase of that share with each erase of the block.
    pub part_of_pages_per_cycle: f64,
    /// Share of the retried pages that need another retry.
    pub again: f64,
    /// Time from the end of a transfer to the start of the retry: decoding, and setting other
    /// reference voltages.
    pub decode_ns: u64,
    /// Seed that selects these pages.
    pub seed: u64,
}

/// Mapping layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum MappingParameters {
    /// Each unit can be anywhere.
    Page(PageMapParameters),
    /// Whole superblocks are mapped; writes go to a few log superblocks that are merged later.
    Hybrid(HybridParameters),
}

/// Parameters of a page map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageMapParameters {
    /// Mapped unit: a page or a part of one.
    pub unit_bytes: u64,
    /// Ratio of flash to user capacity.
    pub raw_over_user: f64,
    /// Choice of the superblock to clean.
    pub victim: VictimPolicy,
    /// Separation of data by temperature.
    pub separation: Separation,
    /// Cleaning starts when fewer superblocks are free.
    pub low_free_superblocks: u32,
    /// Pace of cleaning: in bursts when space runs low, or in proportion to the writes.
    pub pace: CleaningPace,
    /// Cleaning while the drive is idle; none when absent.
    #[serde(default)]
    pub idle_cleaning: Option<IdleCleaning>,
    /// Region programmed with one bit a cell and emptied later; none when absent.
    #[serde(default)]
    pub slc_region: Option<SlcRegion>,
    /// Part of the map in the controller's memory; all of it when absent.
    #[serde(default)]
    pub map_memory: Option<MapMemoryParameters>,
}

/// Controller memory that is too small for the whole map. Flash pages hold entries of 4 bytes. A
/// missing page is fetched when needed, and a changed one is written before it is evicted. A
/// contiguous run of data needs a single entry for reads, and those entries are always in memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapMemoryParameters {
    /// Memory for pages of the map.
    pub bytes: u64,
    /// Length and alignment of a run with its own entry.
    pub run_bytes: u64,
}

/// Choice of the superblock to clean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "policy", rename_all = "kebab-case", deny_unknown_fields)]
pub enum VictimPolicy {
    /// Least valid data.
    Greedy,
    /// Most free space times age per copying cost (Rosenblum, Ousterhout: LFS, SOSP 1991, §3.5).
    CostBenefit,
    /// Least valid data among `choices` drawn at random (Van Houdt, SIGMETRICS 2013).
    DChoices {
        /// Number of draws.
        choices: u32,
        /// Seed of the draws.
        seed: u64,
    },
}

/// Data that is written to separate superblocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Separation {
    /// All data shares one open superblock.
    None,
    /// Moves by cleaning are separated from host writes.
    ByOrigin,
    /// In addition, host writes to recently written addresses are separated from others.
    ByAge,
}

/// Pace of cleaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CleaningPace {
    /// Several superblocks at once when space runs low; the next burst waits until the host has
    /// used the gain. So pauses are as long on a full drive as on a half-empty one, but more
    /// frequent.
    Burst {
        /// Superblocks cleaned at a time.
        superblocks: u32,
    },
    /// In proportion to host writes.
    Paced,
}

impl CleaningPace {
    /// Superblocks cleaned before the host may write again.
    pub fn superblocks_at_once(self) -> u32 {
        match self {
            Self::Burst { superblocks } => superblocks,
            Self::Paced => 1,
        }
    }
}

/// Cleaning while the drive is idle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleCleaning {
    /// Idle time after which it starts.
    pub after_ns: u64,
    /// Number of free superblocks at which it stops.
    pub high_free_superblocks: u32,
}

/// Single-level region. It has no flash of its own: it grows into free superblocks and shrinks as
/// data takes them. A nearly full drive has only a part of `bytes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcRegion {
    /// Limit of data in the region.
    pub bytes: u64,
    /// Bits per cell outside the region; a superblock's capacity in it is divided by this.
    pub bits_per_cell: u32,
    /// Program time in the region.
    pub program_ns: u64,
    /// Read time in the region.
    pub read_ns: u64,
}

/// Block mapping with log superblocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HybridParameters {
    /// Log superblocks open at a time.
    pub log_superblocks: u32,
    /// Free superblocks beyond those in use.
    pub spare_superblocks: u32,
}

impl ChipParameters {
    /// Number of dies on all channels.
    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }
}

impl FlashParameters {
    /// Reads and validates a drive's TOML text.
    ///
    /// # Errors
    /// [`ParameterError::Syntax`] for a field that is missing, unknown or of a wrong type;
    /// [`ParameterError::OutOfRange`] with the field, its range and the nearest valid value.
    pub fn from_toml(text: &str) -> Result<Self, ParameterError> {
        let parameters: Self =
            toml::from_str(text).map_err(|source| ParameterError::Syntax { source: Box::new(source) })?;
        parameters.validate()?;
        Ok(parameters)
    }

    /// Unit of the mapping: the unit of a page map, the page of a hybrid one.
    pub fn unit_bytes(&self) -> u64 {
        match &self.mapping {
            MappingParameters::Page(page) => page.unit_bytes,
            MappingParameters::Hybrid(_) => self.chips.page_bytes,
        }
    }

    /// Units in a single program operation.
    pub fn units_per_program(&self) -> u64 {
        u64::from(self.chips.planes) * self.chips.page_bytes / self.unit_bytes().max(1)
    }

    /// Data of one superblock: one erase block of every plane of every die.
    pub fn superblock_bytes(&self) -> u64 {
        let chips = &self.chips;
        let dies = u64::from(chips.channels) * u64::from(chips.dies_per_channel);
        dies * u64::from(chips.planes) * u64::from(chips.pages_per_block) * chips.page_bytes
    }
}
