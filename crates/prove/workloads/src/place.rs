//! Where the parts of a workload lie best, of two devices; and what the Enterprise study says beside what was found.

use nandle_io::Nanos;
use nandle_units::{format_bytes, format_duration};
use serde::Serialize;

use crate::{Operator, Outcome, Role};

/// Version of the JSON of [`PlaceFile`].
pub const PLACE_SCHEMA_VERSION: u32 = 1;

/// Which parts of a workload lie on the second device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// None.
    AllFrom,
    /// The input alone.
    InputTo,
    /// The temporary data alone.
    TemporaryTo,
    /// The output alone.
    OutputTo,
    /// All of them.
    AllTo,
}

impl Placement {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 5] = [Self::AllFrom, Self::InputTo, Self::TemporaryTo, Self::OutputTo, Self::AllTo];

    /// Whether a part lies on the second device.
    pub fn is_on_to(self, role: Role) -> bool {
        match self {
            Self::AllFrom => false,
            Self::AllTo => true,
            Self::InputTo => role == Role::Input,
            Self::TemporaryTo => role == Role::Temporary,
            Self::OutputTo => role == Role::Output,
        }
    }

    /// What is moved.
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
    /// What lies where.
    pub placement: Placement,
    /// Its figures.
    pub outcome: Outcome,
    /// Its time by that of everything on the first device.
    pub elapsed_ratio: f64,
}

/// A run with the temporary data alone on a device: input and output take no time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ClusterCell {
    /// What one read brought.
    pub cluster_bytes: u64,
    /// Runs that can be merged at once; of a join, partitions of a side.
    pub fan_in: u64,
    /// Merges before the last one; of a join, pairs that were divided again.
    pub rewrites: u64,
    /// Making runs, or partitioning.
    pub first_phase_ns: u64,
    /// Merging, or joining.
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
    /// What is compared: a sort's merging, all of a join, whose partitions depend on clusters, too.
    pub fn compared_ns(&self, operator: Operator) -> u64 {
        match operator {
            Operator::Sort => self.second_phase_ns,
            Operator::Join => self.first_phase_ns + self.second_phase_ns,
        }
    }
}

/// One cluster on both devices.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClusterRow {
    /// The cluster that was wanted; absent where it followed from each device's costs.
    pub wanted_cluster_bytes: Option<u64>,
    /// On the first device; absent where it can't be done there.
    pub from: Option<ClusterCell>,
    /// On the second one.
    pub to: Option<ClusterCell>,
    /// Why it can't be done, where it can't.
    pub refusals: Vec<String>,
}

impl ClusterRow {
    /// The first device's time by the second's.
    pub fn ratio(&self, operator: Operator) -> Option<f64> {
        let (from, to) = (self.from?.compared_ns(operator), self.to?.compared_ns(operator));
        (to > 0).then(|| from as f64 / to as f64)
    }
}

/// What `nandle place` finds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlaceFile {
    /// See [`PLACE_SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Sort or join.
    pub operator: Operator,
    /// Rows of each table.
    pub records: u64,
    /// Bytes of a row.
    pub row_bytes: u64,
    /// Bytes of its key.
    pub key_bytes: u64,
    /// Memory of the operator.
    pub memory_bytes: u64,
    /// What the rows follow from.
    pub seed: u64,
    /// Times are modelled drives'.
    pub is_modelled: bool,
    /// The first device.
    pub from: String,
    /// The second one.
    pub to: String,
    /// Where the costs of each come from by which clusters are chosen.
    pub costs: Vec<String>,
    /// What a reader of the figures should know, each a sentence.
    pub remarks: Vec<String>,
    /// Each part moved alone, and all of them.
    pub placements: Vec<PlacementRow>,
    /// The temporary data alone, by cluster.
    pub clusters: Vec<ClusterRow>,
    /// What the study says beside what was found.
    pub findings: Vec<Finding>,
}

/// A claim of the study beside what was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its number in the project's list of claims.
    pub claim: &'static str,
    /// What the study says.
    pub study: &'static str,
    /// What came out here.
    pub here: String,
}

/// A device's name and its cell of a row.
type Side = fn(&ClusterRow) -> Option<ClusterCell>;

impl PlaceFile {
    /// The row with the cluster that is best on one device; nothing chose it.
    fn best(&self, side: Side) -> Option<ClusterCell> {
        let wanted = self.clusters.iter().filter(|row| row.wanted_cluster_bytes.is_some());
        wanted.filter_map(side).min_by_key(|cell| cell.compared_ns(self.operator))
    }

    /// The best cell of the first device.
    pub fn best_from(&self) -> Option<ClusterCell> {
        self.best(|row| row.from)
    }

    /// The best cell of the second device.
    pub fn best_to(&self) -> Option<ClusterCell> {
        self.best(|row| row.to)
    }

    /// The part that gains most when it is moved alone; absent where none gains.
    pub fn gains_most(&self) -> Option<&PlacementRow> {
        let alone = |row: &&PlacementRow| !matches!(row.placement, Placement::AllFrom | Placement::AllTo);
        let best = self.placements.iter().filter(alone);
        let best = best.min_by(|one, other| one.elapsed_ratio.total_cmp(&other.elapsed_ratio))?;
        (best.elapsed_ratio < 1.0).then_some(best)
    }
}

/// What the study says of the operator beside what a file holds.
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

/// Which device is how many times as fast.
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

/// Between what the ratio lies over clusters.
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

/// How sequential the requests to the temporary data were, on the first device.
fn pattern(file: &PlaceFile) -> String {
    let area = file.placements.first().and_then(|row| row.outcome.area(Role::Temporary));
    let percent = |share: Option<f64>| {
        share.map_or_else(|| "an unknown share".to_owned(), |share| format!("{:.0} %", 100.0 * share))
    };
    let [writes, reads] = [
        area.and_then(|area| area.sequential_writes_share),
        area.and_then(|area| area.sequential_reads_share),
    ];
    format!(
        "{} of the writes and {} of the reads go on where the one before ended",
        percent(writes),
        percent(reads)
    )
}

/// A factor to two or three digits.
fn times(factor: f64) -> String {
    if factor < 9.95 { format!("{factor:.1}") } else { format!("{factor:.0}") }
}
