//! CSV of a sweep's cells: long form, one row per cell with its origin, and the unit in every
//! column's name.

use std::path::Path;

use nandle_profile::{Cell, LatencySummary, OperationKind, SWEEP_BYTES_MAX, SweepFile, read_within};
use serde::{Deserialize, Serialize};

/// Place and method of a measurement. Cells of different origins can't be merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) target: String,
    pub(super) io: String,
    pub(super) direct: bool,
    pub(super) file_bytes: u64,
    pub(super) load: String,
}

impl Origin {
    pub(super) fn of(file: &SweepFile) -> Self {
        Self {
            target: file.target.clone(),
            io: file.backend.io.clone(),
            direct: file.backend.direct,
            file_bytes: file.file_bytes,
            load: file.load.clone(),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Row {
    target: String,
    backend: String,
    direct: bool,
    file_bytes: u64,
    load: String,
    pattern: String,
    operation: OperationKind,
    block_bytes: u64,
    group_blocks: u64,
    queue_depth: u32,
    requests: u64,
    bytes: u64,
    elapsed_ns: u64,
    bandwidth_bytes_per_s: f64,
    iops: f64,
    latency_mean_ns: Option<f64>,
    latency_p50_ns: Option<u64>,
    latency_p90_ns: Option<u64>,
    latency_p99_ns: Option<u64>,
    latency_p999_ns: Option<u64>,
    latency_max_ns: Option<u64>,
    cpu_ns_per_request: f64,
    mean_outstanding: f64,
    errors: u64,
    schedule_lag_p99_ns: Option<u64>,
    unsent: Option<u64>,
}

impl Row {
    fn new(file: &SweepFile, cell: &Cell) -> Self {
        Self {
            target: file.target.clone(),
            backend: file.backend.io.clone(),
            direct: file.backend.direct,
            file_bytes: file.file_bytes,
            load: file.load.clone(),
            pattern: cell.pattern.clone(),
            operation: cell.operation,
            block_bytes: cell.block_bytes,
            group_blocks: cell.group_blocks,
            queue_depth: cell.queue_depth,
            requests: cell.requests,
            bytes: cell.bytes,
            elapsed_ns: cell.elapsed_ns,
            bandwidth_bytes_per_s: cell.bandwidth_bytes_per_s,
            iops: cell.iops,
            latency_mean_ns: cell.latency_ns.mean,
            latency_p50_ns: cell.latency_ns.p50,
            latency_p90_ns: cell.latency_ns.p90,
            latency_p99_ns: cell.latency_ns.p99,
            latency_p999_ns: cell.latency_ns.p999,
            latency_max_ns: cell.latency_ns.max,
            cpu_ns_per_request: cell.cpu_ns_per_request,
            mean_outstanding: cell.mean_outstanding,
            errors: cell.errors,
            schedule_lag_p99_ns: cell.schedule_lag_ns.and_then(|lag| lag.p99),
            unsent: cell.unsent,
        }
    }
}

impl Row {
    /// Refuses `NaN`, infinite and negative numbers: no measurement gives them.
    fn checked(self) -> Result<Self, String> {
        let figures = [
            ("bandwidth_bytes_per_s", Some(self.bandwidth_bytes_per_s)),
            ("iops", Some(self.iops)),
            ("latency_mean_ns", self.latency_mean_ns),
            ("cpu_ns_per_request", Some(self.cpu_ns_per_request)),
            ("mean_outstanding", Some(self.mean_outstanding)),
        ];
        let is_wrong = |figure: &f64| !(figure.is_finite() && *figure >= 0.0);
        let wrong = figures.into_iter().find_map(|(name, figure)| Some((name, figure.filter(is_wrong)?)));
        match wrong {
            Some((name, figure)) => Err(format!("{name} is {figure}; expected a number of 0 or more")),
            None => Ok(self),
        }
    }

    fn into_cell(self) -> (Origin, Cell) {
        let row = self;
        let on_schedule = row.unsent.is_some();
        let origin = Origin {
            target: row.target,
            io: row.backend,
            direct: row.direct,
            file_bytes: row.file_bytes,
            load: row.load,
        };
        let cell = Cell {
            pattern: row.pattern,
            operation: row.operation,
            block_bytes: row.block_bytes,
            group_blocks: row.group_blocks,
            queue_depth: row.queue_depth,
            requests: row.requests,
            bytes: row.bytes,
            elapsed_ns: row.elapsed_ns,
            bandwidth_bytes_per_s: row.bandwidth_bytes_per_s,
            iops: row.iops,
            latency_ns: LatencySummary {
                mean: row.latency_mean_ns,
                p50: row.latency_p50_ns,
                p90: row.latency_p90_ns,
                p99: row.latency_p99_ns,
                p999: row.latency_p999_ns,
                max: row.latency_max_ns,
            },
            cpu_ns_per_request: row.cpu_ns_per_request,
            mean_outstanding: row.mean_outstanding,
            errors: row.errors,
            first_error: None,
            schedule_lag_ns: on_schedule
                .then(|| LatencySummary { p99: row.schedule_lag_p99_ns, ..LatencySummary::default() }),
            unsent: row.unsent,
            drive: None,
            seconds: Vec::new(),
        };
        (origin, cell)
    }
}

pub(super) fn to_csv(file: &SweepFile) -> Result<String, String> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    for cell in &file.cells {
        writer.serialize(Row::new(file, cell)).map_err(|error| error.to_string())?;
    }
    let bytes = writer.into_inner().map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

/// Reads the cells of a CSV file with their origins.
pub(super) fn read_csv(path: &Path) -> Result<Vec<(Origin, Cell)>, String> {
    let text = read_within(path, SWEEP_BYTES_MAX).map_err(|error| error.to_string())?;
    let mut reader = ::csv::Reader::from_reader(text.as_slice());
    let rows = reader.deserialize::<Row>();
    let cells: Vec<_> = rows
        .map(|row| row.map_err(|error| error.to_string())?.checked().map(Row::into_cell))
        .collect::<Result<_, _>>()?;
    // Without a row no column name was checked; an empty sweep writes no line.
    let is_foreign = cells.is_empty() && reader.position().byte() > 0;
    if is_foreign { Err("it has a first line and no cells".into()) } else { Ok(cells) }
}

#[cfg(test)]
mod tests {
    use nandle_profile::{Backend, SWEEP_SCHEMA_VERSION};

    use super::*;

    fn sweep_of(cell: Cell) -> SweepFile {
        let backend =
            Backend { io: "threads".into(), features: Vec::new(), stepped_down: Vec::new(), direct: true };
        SweepFile {
            schema_version: SWEEP_SCHEMA_VERSION,
            target: "a directory, with a comma".into(),
            backend,
            load: "1 thread, exact, 2s a run".into(),
            file_bytes: 4096,
            seed: 1,
            complete: true,
            cells: vec![cell],
            skipped: Vec::new(),
        }
    }

    #[test]
    fn cells_read_back_as_they_were_written() {
        let cell = Cell {
            pattern: "focused:8MiB".into(),
            operation: OperationKind::Mixed { read_percent: 70 },
            block_bytes: 4096,
            group_blocks: 1,
            queue_depth: 32,
            requests: 1000,
            bytes: 4_096_000,
            elapsed_ns: 123_456_789,
            bandwidth_bytes_per_s: 33_177_600.25,
            iops: 8100.0,
            latency_ns: LatencySummary {
                mean: Some(1.5),
                p50: Some(1),
                max: Some(9),
                ..LatencySummary::default()
            },
            cpu_ns_per_request: 2500.5,
            mean_outstanding: 31.9,
            errors: 2,
            first_error: None,
            schedule_lag_ns: None,
            unsent: None,
            drive: None,
            seconds: Vec::new(),
        };
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sweep.csv");
        let file = sweep_of(cell.clone());
        let text = to_csv(&file).unwrap();
        std::fs::write(&path, &text).unwrap();
        assert_eq!(read_csv(&path).unwrap(), [(Origin::of(&file), cell)]);
        for (figure, wrong) in [("8100.0", "NaN"), ("8100.0", "inf"), ("2500.5", "-2500.5"), ("31.9", "-inf")]
        {
            assert!(text.contains(figure), "{text}");
            std::fs::write(&path, text.replace(figure, wrong)).unwrap();
            let refused = read_csv(&path).unwrap_err();
            assert!(refused.contains(wrong) && refused.contains("of 0 or more"), "{refused}");
        }
    }
}
