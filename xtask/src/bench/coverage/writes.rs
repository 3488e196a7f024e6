//! Focused area, partitions and smallest block.

use super::drives::RandomDrive;
use super::tally::{Bounds, Tally, interval};
use crate::Outcome;
use crate::bench::agreement::Cell;

/// Maximum cost of a cheap focused or partitioned write, in sequential writes.
const CHEAP: f64 = 2.0;
/// Factor within which the search for a limit ends.
const CLOSE: f64 = 1.05;
/// Ratio of requests from which a size counts as better than the smaller ones.
const BETTER: f64 = 1.05;
/// Seed that no probe uses.
const SEED: u64 = 1001;
const SIZES: [u64; 6] = [512, 1024, 2048, 4096, 8192, 16384];
const OPTIONS: [&str; 5] = [
    "--operation=write",
    "--block-sizes=32768",
    "--queue-depths=1",
    "--time-per-run=600s",
    "--bytes-per-run=4GiB",
];

/// Probes a drive with each seed, and counts the covering intervals.
pub(super) fn count(drive: &RandomDrive, seeds: u64, tally: &mut Tally) -> Outcome {
    let sequential = at_last(drive, "sequential")?;
    let is_cheap = |pattern: &str| Ok(sequential / at_last(drive, pattern)? <= CHEAP);
    let area = if is_cheap("random")? {
        Some(Bounds::exact(drive.capacity_bytes as f64))
    } else {
        gap(1, drive.capacity_bytes >> 20, |mebibytes| is_cheap(&format!("focused:{mebibytes}MiB")))?
            .map(|gap| gap.times(1_048_576.0))
    };
    let streams = gap(2, 64, |streams| is_cheap(&format!("partitioned:{streams}")))?;
    let block = Bounds::exact(smallest_block(drive)? as f64);
    for seed in 1..=seeds {
        let options = ["--budget=10m", "--only=write-patterns,smallest-block"];
        let profile = drive.probe(seed, &options)?;
        let derived = profile.get("derived").ok_or("a profile without `derived`")?;
        let truths = [
            ("focused area", "focused_area_bytes", area),
            ("partitions", "partition_count_max", streams),
            ("smallest block", "smallest_block_bytes", Some(block)),
        ];
        for (figure, key, truth) in truths {
            if let Some((truth, bounds)) = truth.zip(derived.get(key).and_then(interval)) {
                tally.count(figure, seed, bounds, truth, "");
            }
        }
    }
    Ok(())
}

fn at_last(drive: &RandomDrive, pattern: &str) -> Outcome<f64> {
    let cells = drive.sweep(SEED, &[&OPTIONS[..], &[&format!("--patterns={pattern}")]].concat())?;
    Ok(cells.first().ok_or("a sweep of one cell has one")?.at_last_bytes_per_s)
}

/// Interval between the largest cheap value and the smallest expensive one, from `least` on. A
/// single point if all are cheap, `None` if none is.
fn gap(least: u64, most: u64, is_cheap: impl Fn(u64) -> Outcome<bool>) -> Outcome<Option<Bounds>> {
    let (mut cheap, mut next) = (None, least);
    while next <= most && is_cheap(next)? {
        (cheap, next) = (Some(next), next * 2);
    }
    let Some(mut cheap) = cheap else { return Ok(None) };
    if next > most {
        return Ok(Some(Bounds { low: cheap as f64, high: most as f64 }));
    }
    while next - cheap > 1 && next as f64 > cheap as f64 * CLOSE {
        let middle = cheap.midpoint(next);
        if is_cheap(middle)? { cheap = middle } else { next = middle }
    }
    Ok(Some(Bounds { low: cheap as f64, high: next as f64 }))
}

/// Largest size with more requests than every smaller one, of reads or writes, whichever is larger.
fn smallest_block(drive: &RandomDrive) -> Outcome<u64> {
    let sizes = format!("--block-sizes={}", SIZES.map(|size| size.to_string()).join(","));
    let sweep = |operation: &str| -> Outcome<u64> {
        let operation = format!("--operation={operation}");
        let cells = drive.sweep(
            SEED,
            &["--patterns=random", "--queue-depths=8", "--time-per-run=20s", &sizes, &operation],
        )?;
        Ok(last_step(&cells))
    };
    Ok(sweep("read")?.max(sweep("write")?))
}

fn last_step(cells: &[Cell]) -> u64 {
    let rate = |cell: &Cell| cell.at_last_bytes_per_s / cell.block_bytes as f64;
    let is_step = |cell: &&Cell| {
        let mut smaller = cells.iter().filter(|other| other.block_bytes < cell.block_bytes).peekable();
        smaller.peek().is_some() && smaller.all(|other| rate(cell) > BETTER * rate(other))
    };
    let last = cells.iter().filter(is_step).map(|cell| cell.block_bytes).max();
    last.or_else(|| cells.iter().map(|cell| cell.block_bytes).min()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_bisected_between_its_neighbours() {
        let up_to = |limit: u64| gap(1, 64, |tried| Ok(tried <= limit)).unwrap();
        let found = up_to(11).unwrap();
        assert!(found.low <= 11.0 && 11.0 < found.high && found.high - found.low <= 1.0, "{found:?}");
        assert_eq!(up_to(0), None);
        assert_eq!(up_to(99), Some(Bounds { low: 64.0, high: 64.0 }));
    }
}
