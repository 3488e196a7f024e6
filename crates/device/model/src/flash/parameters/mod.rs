//! What a flash drive is made of, as read from its TOML file. Every time ends in `_ns`, every size in `_bytes`.

mod error;
mod scale;
mod validate;

pub use error::ParameterError;
use serde::{Deserialize, Serialize};

use crate::library::ModelKind;

/// A flash drive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashParameters {
    /// `flash`.
    pub kind: ModelKind,
    /// The name it is known by.
    pub name: String,
    /// What it is, in a sentence.
    pub description: String,
    /// User capacity of the model.
    pub capacity_bytes: u64,
    /// Capacity of the real drive, where the model is a smaller one with the same chips and channels: then only
    /// the number of erase blocks per die differs.
    #[serde(default)]
    pub scaled_from_bytes: Option<u64>,
    /// The host's side of the block layer.
    pub host: HostParameters,
    /// Commands the drive accepts at once.
    pub command_queue: CommandQueueParameters,
    /// The controller's processor.
    pub firmware: FirmwareParameters,
    /// The interface to the host.
    pub link: LinkParameters,
    /// Where written data waits for its program operation.
    pub write_buffer: WriteBufferParameters,
    /// What the drive fetches without being asked.
    pub read_ahead: ReadAheadParameters,
    /// Dies and channels.
    pub chips: ChipParameters,
    /// How logical addresses find their pages.
    pub mapping: MappingParameters,
}

/// The host's block layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostParameters {
    /// Longer requests are split into commands of at most this length.
    pub split_bytes: u64,
    /// Requests that wait for a command slot are merged with waiting neighbours up to this length; 0: never.
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
    /// Data that one command may have on its way through the drive at a time; a longer command is served in
    /// segments of this length, one after the other.
    pub segment_bytes: u64,
}

/// What the controller's processor needs for a command. One command is worked on at a time for `…_ns`.
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
    /// Processor time of each further chip operation of a read command: for a run of pages that doesn't follow the one
    /// before it in the flash, and for a page of the map. None where hardware does that.
    #[serde(default)]
    pub fragment_ns: u64,
    /// Time that a command spends in the controller's pipeline without keeping others from it.
    pub latency_ns: u64,
}

/// The interface to the host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkParameters {
    /// Data rate in each direction.
    pub bytes_per_s: u64,
    /// Data rate towards the drive, where it takes data in more slowly than it gives it (encoder, buffer memory).
    #[serde(default)]
    pub write_bytes_per_s: Option<u64>,
    /// Link time per command beside its data: command, set-up and status frames.
    pub command_ns: u64,
    /// Whether both directions carry data at the same time (`PCIe` does, SATA and PATA do not).
    pub full_duplex: bool,
}

/// The buffer that written data waits in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteBufferParameters {
    /// Its size.
    pub bytes: u64,
    /// Whether a write completes as soon as its data is in the buffer. Without, every write waits for the medium.
    pub acknowledges_early: bool,
    /// What happens to the buffer at a power cut, and what flushes and durable writes do about it.
    pub durability: Durability,
    /// What a write that waits for the medium pays beside its own program operations (mapping journal).
    pub write_through_ns: u64,
}

/// What the drive promises, and whether it keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// The buffer is lost at a power cut; a flush or a durable write waits for the medium.
    Volatile,
    /// Capacitors save the buffer; a flush has nothing to wait for.
    Protected,
    /// The buffer is lost at a power cut, and the drive acknowledges flushes and durable writes all the same.
    Lying,
}

/// The drive's own prefetching.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadAheadParameters {
    /// So many commands in a row, each starting where the one before ended, make a sequential stream; 0: no read-ahead.
    pub trigger_commands: u32,
    /// How far beyond the command that ran out of prefetched data the drive fetches, in lengths of that command.
    pub fetch_commands: u32,
    /// But at least so much.
    pub least_fetch_bytes: u64,
    /// Most that is held.
    pub buffer_bytes: u64,
    /// Streams that are followed at a time.
    pub streams: u32,
    /// Whether it stops where the next logical page is not the next physical one (it copies whole stripes, and
    /// knows nothing better after random writes).
    pub physically_sequential: bool,
}

/// Dies and channels. Dies are numbered across channels: die *d* sits on channel *d* mod `channels`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChipParameters {
    /// Independent buses.
    pub channels: u32,
    /// Dies on each bus.
    pub dies_per_channel: u32,
    /// Planes that are programmed and erased together.
    pub planes: u32,
    /// Flash page.
    pub page_bytes: u64,
    /// Pages in an erase block.
    pub pages_per_block: u32,
    /// From the cells to the die's register; the mean of all types of pages.
    pub read_ns: u64,
    /// How often the cells are sensed for a page of each type. Types take turns in a block; all pages are alike when absent.
    #[serde(default)]
    pub senses: Vec<u32>,
    /// Pages that are read again because their data can't be corrected; none when absent.
    #[serde(default)]
    pub read_retry: Option<ReadRetry>,
    /// From the register to the cells (all planes together).
    pub program_ns: u64,
    /// One erase block (in all planes together).
    pub erase_ns: u64,
    /// Bus rate.
    pub channel_bytes_per_s: u64,
    /// Least amount that a read moves over the bus (the error-correction word).
    pub transfer_bytes: u64,
    /// Whether the planes of a die sense different pages at the same time.
    #[serde(default)]
    pub independent_plane_reads: bool,
    /// A read for the host interrupts a program or erase operation after so long; it waits for its end when absent.
    #[serde(default)]
    pub suspend_ns: Option<u64>,
    /// How often one program operation can be interrupted; any number of times when absent.
    #[serde(default)]
    pub program_suspensions: Option<u32>,
    /// How often one erase operation can be interrupted; any number of times when absent.
    #[serde(default)]
    pub erase_suspensions: Option<u32>,
    /// Whether the next page goes into a register of its own while the cells program one (cache programming).
    #[serde(default)]
    pub cache_program: bool,
    /// Whether a merge copies pages inside their die, without using the bus.
    pub copyback: bool,
}

/// Pages whose data can't be corrected at first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadRetry {
    /// Part of the pages in a block that was never erased that are read again.
    pub part_of_pages: f64,
    /// What is added to that with each time that the block has been erased.
    pub part_of_pages_per_cycle: f64,
    /// Part of the pages that were read again which are read once more.
    pub again: f64,
    /// From the end of a transfer until the next reading begins: decoding, and setting other reference voltages.
    pub decode_ns: u64,
    /// Seed of which pages these are.
    pub seed: u64,
}

/// The mapping layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum MappingParameters {
    /// Every unit can be anywhere.
    Page(PageMapParameters),
    /// Superblocks are mapped as a whole; writes go to a few log superblocks that are merged later.
    Hybrid(HybridParameters),
}

/// A page map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageMapParameters {
    /// What is mapped: a page or a part of one.
    pub unit_bytes: u64,
    /// Flash there is over capacity.
    pub raw_over_user: f64,
    /// Which superblock is cleaned.
    pub victim: VictimPolicy,
    /// Which data is kept apart.
    pub separation: Separation,
    /// Cleaning starts with fewer free superblocks than this.
    pub low_free_superblocks: u32,
    /// Whether space is made at one go when it runs low, or in step with the writes.
    pub pace: CleaningPace,
    /// Cleaning while no command comes; none when absent.
    #[serde(default)]
    pub idle_cleaning: Option<IdleCleaning>,
    /// A region that is programmed with one bit a cell and emptied later; none when absent.
    #[serde(default)]
    pub slc_region: Option<SlcRegion>,
    /// What of the map is in the controller's memory; all of it when absent.
    #[serde(default)]
    pub map_memory: Option<MapMemoryParameters>,
}

/// A controller's memory that is too small for the whole map. Entries of 4 bytes lie in flash pages, which are fetched
/// when something needs one that is not there, and written before they go when they have changed. A run of data that lies
/// in order needs a single entry to be read, and those are always there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapMemoryParameters {
    /// Memory for pages of the map.
    pub bytes: u64,
    /// Length and alignment of a run with an entry of its own.
    pub run_bytes: u64,
}

/// How a superblock is chosen for cleaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "policy", rename_all = "kebab-case", deny_unknown_fields)]
pub enum VictimPolicy {
    /// The one with the least valid data.
    Greedy,
    /// Most free space times age per copying cost (Rosenblum, Ousterhout: LFS, SOSP 1991, §3.5).
    CostBenefit,
    /// The one with the least valid data of `choices` drawn at random (Van Houdt, SIGMETRICS 2013).
    DChoices {
        /// How many are drawn.
        choices: u32,
        /// Seed of the draws.
        seed: u64,
    },
}

/// Which data is written to superblocks of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Separation {
    /// All goes to one open superblock.
    None,
    /// What cleaning moves is kept apart from what the host writes.
    ByOrigin,
    /// In addition, host writes to recently written addresses are kept apart from the others.
    ByAge,
}

/// When space is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CleaningPace {
    /// Some superblocks at one go when space runs low; then the host writes as much as this has gained, before the next
    /// ones are cleaned. So a pause is as long on a full drive as on a half empty one, and comes more often.
    Burst {
        /// How many superblocks are cleaned at a time.
        superblocks: u32,
    },
    /// In proportion to what the host writes.
    Paced,
}

impl CleaningPace {
    /// Superblocks that are cleaned before the host may write again.
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
    /// It starts after so long without a command.
    pub after_ns: u64,
    /// It stops with so many free superblocks.
    pub high_free_superblocks: u32,
}

/// The single-level region. It has no flash of its own: it grows into superblocks that are free and shrinks as data takes
/// them, and a part of its bytes is what a nearly full drive has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlcRegion {
    /// Most data it holds.
    pub bytes: u64,
    /// Bits a cell holds outside the region: a superblock in it holds so many times less.
    pub bits_per_cell: u32,
    /// Program time in it.
    pub program_ns: u64,
    /// Read time in it.
    pub read_ns: u64,
}

/// Block mapping with log superblocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HybridParameters {
    /// Log superblocks that are open at a time.
    pub log_superblocks: u32,
    /// Free superblocks beyond those in use.
    pub spare_superblocks: u32,
}

impl ChipParameters {
    /// Dies on all channels.
    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }
}

impl FlashParameters {
    /// Reads and validates a drive's TOML text.
    ///
    /// # Errors
    /// [`ParameterError::Syntax`] names the field that is missing, unknown or of a wrong type;
    /// [`ParameterError::OutOfRange`] the field, its range and the nearest value that would be right.
    pub fn from_toml(text: &str) -> Result<Self, ParameterError> {
        let parameters: Self =
            toml::from_str(text).map_err(|source| ParameterError::Syntax { source: Box::new(source) })?;
        parameters.validate()?;
        Ok(parameters)
    }

    /// What the mapping counts in: the unit of a page map, the page of a hybrid one.
    pub fn unit_bytes(&self) -> u64 {
        match &self.mapping {
            MappingParameters::Page(page) => page.unit_bytes,
            MappingParameters::Hybrid(_) => self.chips.page_bytes,
        }
    }

    /// Units that a single program operation writes.
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
