//! Parameters of a disk, in its TOML file. Times are in microseconds, rotations per minute are
//! measured where known, and sectors are logical sectors of [`DiskParameters::sector_bytes`].

use serde::Deserialize;

use super::{DiskError, validation};
use crate::library::ModelKind;

/// Parameters of a magnetic disk.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskParameters {
    /// `disk`.
    pub kind: ModelKind,
    /// Name in the library.
    pub name: String,
    /// Description in one line.
    pub description: String,
    /// Bytes of a sector.
    pub sector_bytes: u64,
    /// Spindle speed.
    pub rotations_per_minute: f64,
    /// Layout of the sectors.
    pub geometry: GeometryParameters,
    /// Times of arm and heads.
    pub seek: SeekParameters,
    /// Segments, read-ahead and write-back.
    pub cache: CacheParameters,
    /// Queue depth and scheduling.
    pub queue: QueueParameters,
    /// Interface to the host.
    pub interface: InterfaceParameters,
    /// Controller time at the start of each command.
    pub overheads: OverheadParameters,
}

impl DiskParameters {
    /// Reads a parameter file and checks every figure.
    ///
    /// # Errors
    /// [`DiskError::Parse`] if the text is no valid file, otherwise the first figure that is out of
    /// range or contradicts another.
    pub fn from_toml(text: &str) -> Result<Self, DiskError> {
        let parameters: Self = toml::from_str(text)?;
        validation::validate(&parameters)?;
        Ok(parameters)
    }
}

/// Surfaces and zones. Logical sectors fill a track, then the next surface of the cylinder, then
/// the next cylinder.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeometryParameters {
    /// Data surfaces, each with one head.
    pub surfaces: u32,
    /// Zones from the outermost (sector 0) to the innermost.
    pub zones: Vec<ZoneParameters>,
}

/// Adjacent cylinders with the same number of sectors per track.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneParameters {
    /// First cylinder with data.
    pub first_cylinder: u32,
    /// Last cylinder with data (inclusive).
    pub last_cylinder: u32,
    /// Physical sectors on a track, spare and slipped ones included.
    pub sectors_per_track: u32,
    /// Angular offset of a track's first sector from that of the previous track in the cylinder.
    pub track_skew_sectors: u32,
    /// Angular offset from a cylinder's last track to the next cylinder's first.
    pub cylinder_skew_sectors: u32,
    /// Sectors kept free at the end of each spare region; slipped sectors consume them.
    #[serde(default)]
    pub spare_sectors: u32,
    /// Cylinders of a spare region; the whole zone when absent.
    #[serde(default)]
    pub spare_region_cylinders: Option<u32>,
    /// Physical sectors, counted from the zone's first, that the mapping skips; ascending.
    #[serde(default)]
    pub slipped_sectors: Vec<u64>,
}

/// Movement of arm and heads.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeekParameters {
    /// Seek curve of reads.
    pub read: SeekCurve,
    /// Seek curve of writes, if it was measured separately.
    #[serde(default)]
    pub write: Option<SeekCurve>,
    /// Settle time of an arm that stays on its cylinder, as part of the shortest seek; the whole
    /// shortest seek when absent.
    #[serde(default)]
    pub settle_us: Option<f64>,
    /// Added when a write follows a move of arm or head, since a write needs a quieter head than a
    /// read. Negative if an extracted drive begins to write sooner than to read; the sum is at
    /// least zero.
    #[serde(default)]
    pub write_settle_us: f64,
    /// Time to select another head of the same cylinder. A seek hides it.
    pub head_switch_us: f64,
}

/// Time as a function of distance.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum SeekCurve {
    /// Measured points with linear interpolation; beyond the last point its time.
    Extracted {
        /// Cylinders and microseconds, ascending in cylinders.
        points: Vec<(u32, f64)>,
    },
    /// Curve `a √(d−1) + b (d−1) + c` through the three published figures: Lee and Katz, *An
    /// analytic performance model of disk arrays*, SIGMETRICS 1993.
    ThreePoint {
        /// Seek to an adjacent cylinder.
        track_to_track_us: f64,
        /// Mean over all pairs of cylinders.
        average_us: f64,
        /// Seek from the outermost cylinder to the innermost.
        full_stroke_us: f64,
    },
}

/// Cache of the drive.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheParameters {
    /// Number of segments.
    pub segments: u32,
    /// Limit of segments with data that is not on the medium yet.
    pub write_segments: u32,
    /// Sectors of a segment. A larger request streams through one segment.
    pub segment_sectors: u32,
    /// True if a write completes once the cache has its data; otherwise it waits for the medium.
    pub write_back: bool,
    /// Extent of the read-ahead.
    pub read_ahead: ReadAhead,
    /// Contents that a read may hit.
    pub hits: HitParameters,
    /// True if a full hit restarts a finished read-ahead.
    pub read_ahead_on_hit: bool,
}

/// Cached contents that can serve a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HitParameters {
    /// Sectors already delivered to a read. Otherwise the read-ahead overwrites them, and reading
    /// them again needs the medium.
    pub delivered: bool,
    /// Sectors written by the host.
    pub written: bool,
    /// A read that starts exactly at the read-ahead's position counts as a hit, although none of
    /// its data has arrived.
    pub arriving: bool,
}

/// Extent of the drive's read-ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(tag = "until", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ReadAhead {
    /// No read-ahead.
    Request,
    /// A fixed number of sectors past the request.
    Sectors {
        /// Sectors past the request.
        sectors: u32,
    },
    /// To the end of the track, even where that overwrites the segment's oldest sectors; then
    /// further whole tracks while the segment holds them.
    Tracks,
}

/// Command queue of the drive.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueParameters {
    /// Commands that the drive accepts at a time; 1 without command queueing. More wait in the
    /// host.
    pub depth: u32,
    /// Order in which commands and dirty segments get the arm.
    pub policy: SchedulingPolicy,
    /// A command that has waited longer goes first, regardless of the policy.
    pub longest_wait_us: f64,
    /// Margin for the error of the drive's positioning forecast. If the arm would arrive with less
    /// to spare, the drive expects a revolution more, and prefers another command.
    #[serde(default)]
    pub positioning_margin_us: f64,
}

/// Policy that selects the arm's next task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulingPolicy {
    /// First come, first served.
    FirstCome,
    /// Least seek and rotation first.
    ShortestPositioning,
    /// Next in the direction of the arm; the arm reverses when nothing is left (LOOK).
    Look,
}

/// Interface to the host.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceParameters {
    /// Time to transfer a sector, by host and drive together.
    pub sector_transfer_us: f64,
}

/// Controller time of a command, by its kind and the kind of the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverheadParameters {
    /// Read hit after a read.
    pub read_hit_after_read_us: f64,
    /// Read hit after a write.
    pub read_hit_after_write_us: f64,
    /// Read miss after a read.
    pub read_miss_after_read_us: f64,
    /// Read miss after a write.
    pub read_miss_after_write_us: f64,
    /// Write into the cache, after a read.
    pub write_hit_after_read_us: f64,
    /// Write into the cache, after a write.
    pub write_hit_after_write_us: f64,
    /// Write that waits for the medium, after a read.
    pub write_miss_after_read_us: f64,
    /// Write that waits for the medium, after a write.
    pub write_miss_after_write_us: f64,
}
