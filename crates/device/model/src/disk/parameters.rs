//! A disk's parameters, as its TOML file holds them. Times are microseconds, rotations per minute are measured ones
//! where known, and sectors are logical sectors of [`DiskParameters::sector_bytes`].

use serde::Deserialize;

use super::{DiskError, validation};
use crate::library::ModelKind;

/// Everything the model knows of a drive.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskParameters {
    /// `disk`.
    pub kind: ModelKind,
    /// The name it is known by.
    pub name: String,
    /// What it is, in a line.
    pub description: String,
    /// Bytes of a sector.
    pub sector_bytes: u64,
    /// Spindle speed.
    pub rotations_per_minute: f64,
    /// Where sectors lie.
    pub geometry: GeometryParameters,
    /// How long the arm takes.
    pub seek: SeekParameters,
    /// Segments, read-ahead, write-back.
    pub cache: CacheParameters,
    /// How many commands the drive sees, and which it takes next.
    pub queue: QueueParameters,
    /// The way to the host.
    pub interface: InterfaceParameters,
    /// What the controller spends on a command before anything else happens.
    pub overheads: OverheadParameters,
}

impl DiskParameters {
    /// Reads a parameter file and checks every figure.
    ///
    /// # Errors
    /// [`DiskError::Parse`] when the text is not such a file, otherwise the first figure that is out of range or
    /// contradicts another.
    pub fn from_toml(text: &str) -> Result<Self, DiskError> {
        let parameters: Self = toml::from_str(text)?;
        validation::validate(&parameters)?;
        Ok(parameters)
    }
}

/// Surfaces and zones. Logical sectors fill a track, then the next surface of the cylinder, then the next cylinder.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GeometryParameters {
    /// Data surfaces, each with one head.
    pub surfaces: u32,
    /// From the outermost (sector 0) to the innermost.
    pub zones: Vec<ZoneParameters>,
}

/// Neighbouring cylinders with the same number of sectors on a track.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneParameters {
    /// First cylinder with data.
    pub first_cylinder: u32,
    /// Last cylinder with data (inclusive).
    pub last_cylinder: u32,
    /// Physical sectors on a track, spare and slipped ones included.
    pub sectors_per_track: u32,
    /// How far the first sector of a track lies behind that of the track before it in the same cylinder.
    pub track_skew_sectors: u32,
    /// The same from a cylinder's last track to the next cylinder's first.
    pub cylinder_skew_sectors: u32,
    /// Sectors kept free at the end of each spare region; slipped sectors use them up.
    #[serde(default)]
    pub spare_sectors: u32,
    /// Cylinders of a spare region; the whole zone when absent.
    #[serde(default)]
    pub spare_region_cylinders: Option<u32>,
    /// Physical sectors, counted from the zone's first, that the mapping leaves out; ascending.
    #[serde(default)]
    pub slipped_sectors: Vec<u64>,
}

/// The arm's and the heads' movement.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeekParameters {
    /// Time to reach another cylinder for reading.
    pub read: SeekCurve,
    /// The same for writing, where it was measured apart.
    #[serde(default)]
    pub write: Option<SeekCurve>,
    /// Time in which an arm that stays on its cylinder settles before it transfers anew, a part of the shortest seek;
    /// that whole seek when absent.
    #[serde(default)]
    pub settle_us: Option<f64>,
    /// Added whenever arm or head moved and a write follows: a write needs a quieter head than a read. Negative where an
    /// extracted drive begins to write sooner than to read; the move takes no less than no time then.
    #[serde(default)]
    pub write_settle_us: f64,
    /// Time to select another head of the same cylinder. A seek hides it.
    pub head_switch_us: f64,
}

/// Time over distance.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum SeekCurve {
    /// Measured points; straight lines between them, and beyond the last point the last time.
    Extracted {
        /// Cylinders and microseconds, ascending in cylinders.
        points: Vec<(u32, f64)>,
    },
    /// The curve `a √(d−1) + b (d−1) + c` with the three published figures: Lee and Katz, *An analytic performance
    /// model of disk arrays*, SIGMETRICS 1993.
    ThreePoint {
        /// To a neighbouring cylinder.
        track_to_track_us: f64,
        /// Over all pairs of cylinders.
        average_us: f64,
        /// From the outermost cylinder to the innermost.
        full_stroke_us: f64,
    },
}

/// The drive's memory.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheParameters {
    /// Segments that the memory is divided into.
    pub segments: u32,
    /// How many of them may hold data that is not yet on the medium.
    pub write_segments: u32,
    /// Sectors of a segment. A request larger than that streams through one.
    pub segment_sectors: u32,
    /// Whether a write completes when the cache has its data; otherwise when the medium has it.
    pub write_back: bool,
    /// What is read after what was asked for.
    pub read_ahead: ReadAhead,
    /// Which contents a read may hit.
    pub hits: HitParameters,
    /// Whether a full hit lets a read-ahead that had come to its end go on.
    pub read_ahead_on_hit: bool,
}

/// Which of the cache's contents serve a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HitParameters {
    /// Sectors that a read has delivered before; otherwise the read-ahead takes their place, and reading them again
    /// needs the medium.
    pub delivered: bool,
    /// Sectors that a write has left in the cache.
    pub written: bool,
    /// A read that starts exactly where the read-ahead is counts as a hit, though nothing of it is there yet.
    pub arriving: bool,
}

/// How far the drive reads ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(tag = "until", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ReadAhead {
    /// Reads only what was asked for.
    Request,
    /// A number of sectors past the request.
    Sectors {
        /// Sectors past the request.
        sectors: u32,
    },
    /// To the end of the track, even where that overwrites the segment's oldest sectors; then further whole tracks
    /// as long as the segment holds them.
    Tracks,
}

/// The command queue.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueParameters {
    /// Commands that the drive accepts at a time; 1 without command queueing. More wait at the host's side.
    pub depth: u32,
    /// Which of the commands and dirty segments gets the arm.
    pub policy: SchedulingPolicy,
    /// What has waited longer goes first, whatever the policy prefers.
    pub longest_wait_us: f64,
    /// How much the drive allows for seeks that take longer than it foretells: what the arm would reach with less to
    /// spare, it takes to come a revolution later, and prefers something else.
    #[serde(default)]
    pub positioning_margin_us: f64,
}

/// Which one gets the arm next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulingPolicy {
    /// First come, first served.
    FirstCome,
    /// Least seek and rotation first.
    ShortestPositioning,
    /// The next in the direction in which the arm moves; turns where nothing is left (LOOK).
    Look,
}

/// The interface to the host.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterfaceParameters {
    /// Time to transfer a sector, as host and drive together do it.
    pub sector_transfer_us: f64,
}

/// The controller's time on a command, by what it is and what came before.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverheadParameters {
    /// A read that the cache can serve, after a read.
    pub read_hit_after_read_us: f64,
    /// A read that the cache can serve, after a write.
    pub read_hit_after_write_us: f64,
    /// A read that needs the medium, after a read.
    pub read_miss_after_read_us: f64,
    /// A read that needs the medium, after a write.
    pub read_miss_after_write_us: f64,
    /// A write into the cache, after a read.
    pub write_hit_after_read_us: f64,
    /// A write into the cache, after a write.
    pub write_hit_after_write_us: f64,
    /// A write that waits for the medium, after a read.
    pub write_miss_after_read_us: f64,
    /// A write that waits for the medium, after a write.
    pub write_miss_after_write_us: f64,
}
