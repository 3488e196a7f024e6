//! Detection of figures limited by the processor instead of the device.

use nandle_profile::{Backend, CPU_PRESSURE_MAX, Cell, MeasuredCell};
use nandle_target::pressure::PressureShares;
use nandle_units::format_bytes;

/// Share of time from which the submitting thread counts as fully busy.
const BUSY: f64 = 0.9;

/// Remarks for the reader of the figures, each a sentence.
pub(super) fn remarks(cells: &[MeasuredCell], backend: &Backend, pressure: PressureShares) -> Vec<String> {
    let waited = pressure.cpu.filter(|share| *share >= CPU_PRESSURE_MAX).map(|share| {
        format!(
            "The machine was short of processor time: in {:.0} % of the time some task waited for a processor, so the \
             figures may reflect the machine instead of the device; probe again when it is idle.",
            share * 100.0
        )
    });
    [waited, bound(cells, backend)].into_iter().flatten().collect()
}

/// Remark on cells whose single submitting thread was fully busy. With the threads backend, calls
/// are spread over processors, so the share has no meaning.
fn bound(cells: &[MeasuredCell], backend: &Backend) -> Option<String> {
    if backend.io == "threads" {
        return None;
    }
    let bound: Vec<&Cell> = cells.iter().map(|cell| &cell.cell).filter(|cell| busy(cell) >= BUSY).collect();
    let more = if backend.io == "model" {
        "`--request-cpu 0ns` gives the modelled host an infinitely fast processor"
    } else {
        "see `nandle sweep --threads`"
    };
    let busiest = bound.iter().max_by(|a, b| busy(a).total_cmp(&busy(b)))?;
    Some(format!(
        "In {} of {} cells the submitting thread was busy at least {:.0} % of the time (most of all {} {} at depth {}): \
         the device may do more there; {more}.",
        bound.len(),
        cells.len(),
        BUSY * 100.0,
        busiest.pattern,
        format_bytes(busiest.block_bytes),
        busiest.queue_depth,
    ))
}

/// Share of one processor used by a cell's requests.
fn busy(cell: &Cell) -> f64 {
    cell.cpu_ns_per_request * cell.iops / 1e9
}

#[cfg(test)]
mod tests {
    use nandle_profile::{Interval, LatencySummary, OperationKind};

    use super::*;

    fn cell(block_bytes: u64, iops: f64) -> MeasuredCell {
        let cell = Cell {
            pattern: "random".into(),
            operation: OperationKind::Read,
            block_bytes,
            group_blocks: 1,
            queue_depth: 128,
            requests: 1000,
            bytes: 1000 * block_bytes,
            elapsed_ns: 1,
            bandwidth_bytes_per_s: iops * block_bytes as f64,
            iops,
            latency_ns: LatencySummary::default(),
            cpu_ns_per_request: 4000.0,
            mean_outstanding: 128.0,
            errors: 0,
            first_error: None,
            drive: None,
            schedule_lag_ns: None,
            unsent: None,
            seconds: Vec::new(),
        };
        MeasuredCell { cell, slices: 1, steady_bandwidth_bytes_per_s: Interval::exact(1.0) }
    }

    fn backend(io: &str) -> Backend {
        Backend { io: io.into(), features: Vec::new(), stepped_down: Vec::new(), direct: true }
    }

    #[test]
    fn a_busy_thread_is_reported_with_its_cell() {
        let cells = [cell(2048, 249_000.0), cell(4096, 230_000.0), cell(65_536, 40_000.0)];
        let told = remarks(&cells, &backend("io_uring"), PressureShares::default());
        assert_eq!(told.len(), 1);
        assert!(told[0].contains("2 of 3 cells") && told[0].contains("random 2KiB at depth 128"), "{told:?}");
        assert!(remarks(&cells[2..], &backend("io_uring"), PressureShares::default()).is_empty());
        assert!(remarks(&cells, &backend("threads"), PressureShares::default()).is_empty());
    }

    #[test]
    fn an_overloaded_machine_is_reported() {
        let pressure = |cpu| PressureShares { cpu, ..PressureShares::default() };
        let told = remarks(&[], &backend("io_uring"), pressure(Some(0.34)));
        assert!(told[0].contains("34 % of the time"), "{told:?}");
        assert!(remarks(&[], &backend("io_uring"), pressure(Some(0.1))).is_empty());
        assert!(remarks(&[], &backend("io_uring"), pressure(None)).is_empty());
    }
}
