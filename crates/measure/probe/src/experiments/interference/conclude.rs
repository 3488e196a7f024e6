use nandle_io::Nanos;
use nandle_profile::experiments::{InterferenceCell, InterferenceMap, ReadSlowdown};
use nandle_profile::{InterferenceLimit, Interval, isotonic};

use super::super::rounds::median_interval;
use super::cell::Cell;
use super::quantile_ns;

/// Quantiles for the slowdown, in order of preference.
const QUANTILES: [f64; 3] = [0.99, 0.9, 0.5];
/// Time for the last arrivals of a slice to complete, in latencies of an idle device.
const ALLOWED_LATENCIES: f64 = 4.0;
/// Largest acceptable slowdown of reads.
const SLOWDOWN_MAX: f64 = 2.0;
/// Widest useful interval of the share of writes.
const SHARE_WIDTH_MAX: f64 = 0.5;
/// Fewest rounds with an interval.
const ROUNDS_LEAST: usize = 2;
/// Share of reads to which the limit applies.
const READ_SHARE: f64 = 0.5;

pub(super) fn cells(cells: &[Cell]) -> Vec<InterferenceCell> {
    let measured = || cells.iter().filter(|cell| !cell.reads.latency_ns.is_empty());
    let quietest = measured().find(|cell| cell.rates.write_share <= 0.0);
    let latency_ns = quietest.map_or(0.0, |cell| cell.reads.latency_ns.mean());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a latency")]
    let allowance = Nanos((ALLOWED_LATENCIES * latency_ns) as u64);
    measured().map(|cell| record(cell, alone(cells, cell), allowance)).collect()
}

/// Cell with the same reads and no writes.
fn alone<'a>(cells: &'a [Cell], cell: &Cell) -> Option<&'a Cell> {
    let is_alone = |other: &&Cell| {
        other.rates.write_share <= 0.0 && (other.rates.read_share - cell.rates.read_share).abs() < 1e-9
    };
    cells.iter().find(is_alone)
}

fn record(cell: &Cell, alone: Option<&Cell>, allowance: Nanos) -> InterferenceCell {
    let rates = cell.rates;
    InterferenceCell {
        read_share: rates.read_share,
        write_share: rates.write_share,
        read_rate_per_s: rates.read_per_s,
        write_rate_per_s: rates.write_per_s,
        read_achieved_per_s: cell.reads.achieved_per_s(),
        write_achieved_per_s: cell.writes.achieved_per_s(),
        rates_kept: cell.rates_kept(allowance),
        read_latency_ns: cell.reads.latency_ns.summary(),
        write_latency_ns: cell.writes.latency_ns.summary(),
        read_slowdown: alone.and_then(|alone| slowdown(cell, alone)),
    }
}

/// Slowdown at the best quantile that both cells support, over all slices. The interval comes from
/// the ratios of slices in the same round. `None` for a single round, which has no spread: drives
/// pause so rarely that the next round may be ten times slower.
fn slowdown(cell: &Cell, alone: &Cell) -> Option<ReadSlowdown> {
    let quantile = |quantile: f64| {
        let [with, without] = [cell, alone].map(|cell| quantile_ns(&cell.reads.latency_ns, quantile));
        Some((quantile, with? / without?.max(1.0)))
    };
    let (quantile, value) = QUANTILES.into_iter().find_map(quantile)?;
    let pairs = cell.slices.iter().zip(&alone.slices).filter(|(a, b)| !a.is_empty() && !b.is_empty());
    let ratios = pairs.map(|(with, without)| {
        with.value_at_quantile(quantile) as f64 / (without.value_at_quantile(quantile) as f64).max(1.0)
    });
    let ratios: Vec<f64> = ratios.collect();
    let of_slices = median_interval(ratios.clone()).filter(|_| ratios.len() >= ROUNDS_LEAST)?;
    let ratio = Interval { value, low: of_slices.low.min(value), high: of_slices.high.max(value) };
    Some(ReadSlowdown { quantile, ratio })
}

/// Highest write rate along with half of the reads.
pub(super) fn limit(findings: &InterferenceMap) -> Option<InterferenceLimit> {
    let is_row = |cell: &&InterferenceCell| (cell.read_share - READ_SHARE).abs() < 1e-9;
    let row = findings.cells.iter().filter(is_row);
    let mut row: Vec<(&InterferenceCell, ReadSlowdown)> =
        row.filter_map(|cell| Some((cell, cell.read_slowdown?))).collect();
    row.sort_by(|(a, _), (b, _)| a.write_share.total_cmp(&b.write_share));
    // Reads that the device can't serve even alone don't show the effect of writes.
    row.first().filter(|(alone, _)| alone.write_share <= 0.0 && alone.rates_kept)?;
    let beside_writes = row.iter().filter(|(cell, _)| cell.write_share > 0.0);
    let quantile = beside_writes.map(|(_, slowdown)| slowdown.quantile).reduce(f64::min)?;
    // A garbage collection pause hits one cell and not the next, but slowdown can't fall with more
    // writes.
    let most = |ratio: fn(&Interval<f64>) -> f64| {
        let logs: Vec<f64> = row.iter().map(|(_, slowdown)| ratio(&slowdown.ratio).max(1e-9).ln()).collect();
        let gentle = row.iter().zip(isotonic(&logs)).take_while(|(_, log)| *log <= SLOWDOWN_MAX.ln());
        gentle.map(|(measured, _)| measured).filter(|(cell, _)| cell.rates_kept).last()
    };
    // Lower bound: all shares up to it are certainly acceptable.
    let sure = row.iter().take_while(|(_, slowdown)| slowdown.ratio.high <= SLOWDOWN_MAX).last();
    let share_of = |measured: Option<&(&InterferenceCell, ReadSlowdown)>| {
        measured.map_or(0.0, |(cell, _)| cell.write_share)
    };
    let value = share_of(most(|ratio| ratio.value));
    let share = Interval {
        value,
        low: share_of(sure).min(value),
        high: share_of(most(|ratio| ratio.low)).max(value),
    };
    let rate = |share: f64| share * findings.write_iops_max;
    // If pauses hit cells by chance, the share remains unknown.
    let is_known = share.high - share.low <= SHARE_WIDTH_MAX;
    is_known.then(|| InterferenceLimit {
        read_rate_per_s: READ_SHARE * findings.read_iops_max,
        quantile,
        write_rate_per_s: Interval { value: rate(share.value), low: rate(share.low), high: rate(share.high) },
        write_share: share,
    })
}

#[cfg(test)]
mod tests {
    use super::super::cell::Rates;
    use super::*;

    /// Cell of half of the reads, with one slice per latency.
    fn cell(write_share: f64, slices_ns: &[u64]) -> Cell {
        let rates =
            Rates { read_share: 0.5, write_share, read_per_s: 500.0, write_per_s: 100.0 * write_share };
        let mut cell = Cell::new(rates);
        for latency_ns in slices_ns {
            let mut slice = crate::load::Latencies::new();
            (0..2000).for_each(|_| slice.record(*latency_ns));
            cell.reads.latency_ns.add(&slice);
            cell.slices.push(slice);
        }
        cell
    }

    fn map(measured: &[Cell]) -> InterferenceMap {
        let cells = cells(measured);
        InterferenceMap { read_iops_max: 1000.0, write_iops_max: 100.0, cells, ..InterferenceMap::default() }
    }

    #[test]
    fn one_round_has_no_spread_and_so_no_interval() {
        let once = map(&[cell(0.0, &[1000]), cell(0.25, &[1500]), cell(0.5, &[9000])]);
        assert!(once.cells.iter().all(|cell| cell.read_slowdown.is_none()), "{once:?}");
        assert_eq!(limit(&once), None, "nothing is concluded from it");
        let twice = map(&[cell(0.0, &[1000, 1000]), cell(0.25, &[1500, 1600]), cell(0.5, &[9000, 8000])]);
        let share = limit(&twice).unwrap().write_share;
        assert_eq!(share, Interval { value: 0.25, low: 0.25, high: 0.25 });
        // A cell with a single round after an interruption doesn't count.
        let interrupted = map(&[cell(0.0, &[1000, 1000]), cell(0.25, &[1500, 1600]), cell(0.5, &[9000])]);
        assert!((limit(&interrupted).unwrap().write_share.high - 0.25).abs() < 1e-9);
    }
}
