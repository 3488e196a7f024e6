//! Best placement of a workload's parts on two devices, compared with the claims of the Enterprise
//! study.

use nandle_io::Nanos;
use nandle_units::{format_bytes, format_duration};
use serde::Serialize;

use crate::{Operator, Outcome, Role};

/// Version of the JSON of [`PlaceFile`].
pub const PLACE_SCHEMA_VERSION: u32 = 1;

/// Parts of a workload that are moved to the second device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// No part.
    AllFrom,
    /// Only the input.
    InputTo,
    /// Only the temporary data.
    TemporaryTo,
    /// Only the output.
    OutputTo,
    /// All parts.
    AllTo,
}

impl Placement {
    /// Every placement, in display order.
    pub const ALL: [Self; 5] = [Self::AllFrom, Self::InputTo, Self::TemporaryTo, Self::OutputTo, Self::AllTo];

    /// Returns true if the part is on the second device.
    pub fn is_moved(self, role: Role) -> bool {
        match self {
            Self::AllFrom => false,
            Self::AllTo => true,
            Self::InputTo => role == Role::Input,
            Self::TemporaryTo => role == Role::Temporary,
            Self::OutputTo => role == Role::Output,
        }
    }

    /// Name of the part that is moved.
    pub fn words(self) -> &'static str {
        match self {
            Self::AllFrom => "nothing",
            Self::InputTo => "input",
            Self::TemporaryTo => "temporary data",
            Self::OutputTo => "output",
            Self::AllTo => "everything",
        }
    }
}

/// A run with one placement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlacementRow {
    /// Placement of the parts.
    pub placement: Placement,
    /// Figures of the run.
    pub outcome: Outcome,
    /// Elapsed time divided by that of everything on the first device.
    pub elapsed_ratio: f64,
}

/// A run with only the temporary data on a device: input and output take no time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClusterCell {
    /// Length of a read, in bytes.
    pub cluster_bytes: u64,
    /// Fan-in of a sort, or partitions of a side of a join.
    pub fan_in: u64,
    /// Merges before the last one, or pairs that were divided again.
    pub rewrites: u64,
    /// Time of making runs, or of partitioning, in nanoseconds.
    pub first_phase_ns: u64,
    /// Time of merging, or of joining, in nanoseconds.
    pub second_phase_ns: u64,
}

impl From<&Outcome> for ClusterCell {
    fn from(outcome: &Outcome) -> Self {
        let merges = outcome.sort.map(|sort| sort.merges_before_the_last);
        Self {
            cluster_bytes: outcome.cluster_bytes,
            fan_in: outcome.fan(),
            rewrites: merges.or(outcome.join.map(|join| join.divided_pairs)).unwrap_or(0),
            first_phase_ns: outcome.phase_ns(0),
            second_phase_ns: outcome.phase_ns(1),
        }
    }
}

impl ClusterCell {
    /// Time to compare, in nanoseconds: merging for a sort, but the whole run for a join, because
    /// partitioning depends on the clusters, too.
    pub fn compared_ns(&self, operator: Operator) -> u64 {
        match operator {
            Operator::Sort => self.second_phase_ns,
            Operator::Join => self.first_phase_ns + self.second_phase_ns,
        }
    }
}

/// One cluster size on both devices.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClusterRow {
    /// Cluster length requested; absent if it was chosen by each device's costs.
    pub wanted_cluster_bytes: Option<u64>,
    /// Run on the first device; absent if refused.
    pub from: Option<ClusterCell>,
    /// Run on the second device; absent if refused.
    pub to: Option<ClusterCell>,
    /// Reasons for refusals.
    pub refusals: Vec<String>,
}

impl ClusterRow {
    /// Time on the first device divided by time on the second.
    pub fn ratio(&self, operator: Operator) -> Option<f64> {
        let (from, to) = (self.from?.compared_ns(operator), self.to?.compared_ns(operator));
        (to > 0).then(|| from as f64 / to as f64)
    }
}

/// Result of `nandle place`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlaceFile {
    /// Schema version: [`PLACE_SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Operator: sort or join.
    pub operator: Operator,
    /// Rows of each table.
    pub records: u64,
    /// Length of a row, in bytes.
    pub row_bytes: u64,
    /// Length of a key, in bytes.
    pub key_bytes: u64,
    /// Memory of the operator, in bytes.
    pub memory_bytes: u64,
    /// Seed of the rows.
    pub seed: u64,
    /// True if times are of modelled drives.
    pub is_modelled: bool,
    /// First device.
    pub from: String,
    /// Second device.
    pub to: String,
    /// Sources of the costs by which clusters were chosen, one for each device.
    pub costs: Vec<String>,
    /// Remarks for readers of the figures, each a sentence.
    pub remarks: Vec<String>,
    /// Runs with one part moved at a time, with none, and with all.
    pub placements: Vec<PlacementRow>,
    /// Runs with only the temporary data, by cluster length.
    pub clusters: Vec<ClusterRow>,
    /// Claims of the study, compared with these figures.
    pub findings: Vec<Finding>,
}

/// A claim of the study, compared with the measured figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Number in the project's list of claims.
    pub claim: &'static str,
    /// Claim of the study.
    pub study: &'static str,
    /// Result measured here.
    pub here: String,
}

/// Selects one device's cell of a row.
type Side = fn(&ClusterRow) -> Option<ClusterCell>;

impl PlaceFile {
    /// Returns the best cell of a device, among the requested cluster lengths.
    fn best(&self, side: Side) -> Option<ClusterCell> {
        let wanted = self.clusters.iter().filter(|row| row.wanted_cluster_bytes.is_some());
        wanted.filter_map(side).min_by_key(|cell| cell.compared_ns(self.operator))
    }

    /// Best cell of the first device.
    pub fn best_from(&self) -> Option<ClusterCell> {
        self.best(|row| row.from)
    }

    /// Best cell of the second device.
    pub fn best_to(&self) -> Option<ClusterCell> {
        self.best(|row| row.to)
    }

    /// Returns the placement that saves the most time by moving a single part; none if no such move
    /// saves time.
    pub fn best_move(&self) -> Option<&PlacementRow> {
        let alone = |row: &&PlacementRow| !matches!(row.placement, Placement::AllFrom | Placement::AllTo);
        let best = self.placements.iter().filter(alone);
        let best = best.min_by(|one, other| one.elapsed_ratio.total_cmp(&other.elapsed_ratio))?;
        (best.elapsed_ratio < 1.0).then_some(best)
    }
}

/// Compares a file with the study's claims about its operator.
pub fn findings(file: &PlaceFile) -> Vec<Finding> {
    let (Some(from), Some(to)) = (file.best_from(), file.best_to()) else { return Vec::new() };
    match file.operator {
        Operator::Sort => vec![merging(file, from, to), clusters(file, from, to)],
        Operator::Join => vec![joining(file, from, to)],
    }
}

fn merging(file: &PlaceFile, from: ClusterCell, to: ClusterCell) -> Finding {
    Finding {
        claim: "C51",
        study: "merging is almost 10 times faster on flash than on disk",
        here: format!(
            "{}, each with its best cluster{}",
            faster(file, "merging", from, to),
            range(file).map_or_else(String::new, |range| format!("; with the same cluster {range}"))
        ),
    }
}

fn clusters(file: &PlaceFile, from: ClusterCell, to: ClusterCell) -> Finding {
    let best = |name: &str, cell: ClusterCell| {
        format!("{} on {name} (fan-in {})", format_bytes(cell.cluster_bytes), cell.fan_in)
    };
    Finding {
        claim: "C52",
        study: "flash is best with 2KiB and the largest fan-in; a disk wants larger clusters, although they lower the fan-in",
        here: format!(
            "best is {}, and {}; the worst takes {} and {} times as long",
            best(&file.from, from),
            best(&file.to, to),
            times(worst_by_best(file, |row| row.from)),
            times(worst_by_best(file, |row| row.to))
        ),
    }
}

fn joining(file: &PlaceFile, from: ClusterCell, to: ClusterCell) -> Finding {
    Finding {
        claim: "C53",
        study: "the hash join is about 3 times faster on flash, and it writes in sequence and reads at random, as a sort does",
        here: format!("{}, each with its best cluster; {}", faster(file, "joining", from, to), pattern(file)),
    }
}

/// States which device is faster, and by how much.
fn faster(file: &PlaceFile, doing: &str, from: ClusterCell, to: ClusterCell) -> String {
    let [from_ns, to_ns] = [from, to].map(|cell| cell.compared_ns(file.operator));
    let (quick, slow, quick_ns, slow_ns) = if to_ns <= from_ns {
        (&file.to, &file.from, to_ns, from_ns)
    } else {
        (&file.from, &file.to, from_ns, to_ns)
    };
    format!(
        "{doing} takes {} on {slow} and {} on {quick}: {} times as fast",
        format_duration(Nanos(slow_ns)),
        format_duration(Nanos(quick_ns)),
        times(slow_ns as f64 / quick_ns.max(1) as f64)
    )
}

/// Range of the time ratio over all cluster lengths.
fn range(file: &PlaceFile) -> Option<String> {
    let rows = file.clusters.iter().filter(|row| row.wanted_cluster_bytes.is_some());
    let ratios: Vec<f64> = rows.filter_map(|row| row.ratio(file.operator)).collect();
    let least = ratios.iter().copied().min_by(f64::total_cmp)?;
    let greatest = ratios.iter().copied().max_by(f64::total_cmp)?;
    Some(format!("{} to {} times", times(least), times(greatest)))
}

fn worst_by_best(file: &PlaceFile, side: Side) -> f64 {
    let rows = file.clusters.iter().filter(|row| row.wanted_cluster_bytes.is_some());
    let all: Vec<u64> = rows.filter_map(side).map(|cell| cell.compared_ns(file.operator)).collect();
    let (least, greatest) = (all.iter().min().copied(), all.iter().max().copied());
    greatest.unwrap_or(1) as f64 / least.unwrap_or(1).max(1) as f64
}

/// Sequential shares of the requests to the temporary data, on the first device.
fn pattern(file: &PlaceFile) -> String {
    let area = file.placements.first().and_then(|row| row.outcome.area(Role::Temporary));
    let percent = |share: Option<f64>| {
        share.map_or_else(|| "an unknown share".to_owned(), |share| format!("{:.0} %", 100.0 * share))
    };
    let [writes, reads] = [
        area.and_then(|area| area.sequential_writes_share),
        area.and_then(|area| area.sequential_reads_share),
    ];
    format!("{} of the writes and {} of the reads are sequential", percent(writes), percent(reads))
}

/// Formats a factor with two or three digits.
fn times(factor: f64) -> String {
    if factor < 9.95 { format!("{factor:.1}") } else { format!("{factor:.0}") }
}
