use nandle_profile::LatencySummary;
use nandle_profile::experiments::{InterferenceCell, InterferenceMap};

use crate::device::Device;
use crate::figures::{Figure, Heat, HeatCell, HeatRow};
use crate::text::{self, Quantity};

type Quantile = fn(&LatencySummary) -> Option<u64>;

const QUANTILES: [(&str, Quantile); 3] =
    [("99th percentile", |l| l.p99), ("90th percentile", |l| l.p90), ("median", |l| l.p50)];

/// Read latency by read rate and write rate.
pub(super) fn heat(device: &Device) -> Option<Figure> {
    let map = &device.profile.experiments.interference.as_ref()?.findings;
    let (name, quantile) = *QUANTILES.iter().find(|(_, quantile)| covers(map, *quantile))?;
    let reads = ascending(map.cells.iter().map(|cell| cell.read_share));
    let writes = ascending(map.cells.iter().map(|cell| cell.write_share));
    let row = |write: &f64| HeatRow {
        label: percent(*write),
        cells: reads
            .iter()
            .map(|read| find(map, *read, *write).and_then(|cell| field(cell, quantile)))
            .collect(),
    };
    Some(Figure::Heat(Heat {
        id: "interference-map",
        title: "Latency of reads during writes",
        finding: finding(device, map, name, quantile),
        note: format!(
            "Rates are shares of the peak without the other kind: {} reads of {} and {} writes of \
            {} a second. Requests arrive on a schedule (Poisson), and latency counts from the \
            scheduled arrival.",
            text::significant(map.read_iops_max, 3),
            Quantity::size(map.read_block_bytes),
            text::significant(map.write_iops_max, 3),
            Quantity::size(map.write_block_bytes)
        ),
        quantity: format!("Latency of reads, {name}, ms"),
        missed: "Framed and struck through: the device fell behind its rates there, so the \
            latency only shows by how much."
            .to_owned(),
        corner: "Writes ↓ reads →".to_owned(),
        columns: reads.iter().map(|read| percent(*read)).collect(),
        rows: writes.iter().map(row).collect(),
    }))
}

/// Returns true if most cells have the quantile.
fn covers(map: &InterferenceMap, quantile: Quantile) -> bool {
    let with = map.cells.iter().filter(|cell| quantile(&cell.read_latency_ns).is_some()).count();
    with > 0 && 4 * with >= 3 * map.cells.len()
}

fn ascending(shares: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut shares: Vec<_> = shares.collect();
    shares.sort_by(f64::total_cmp);
    shares.dedup_by(|a, b| (*a - *b).abs() < 1e-9);
    shares
}

fn percent(share: f64) -> String {
    format!("{}\u{a0}%", text::significant(100.0 * share, 2))
}

fn find(map: &InterferenceMap, read: f64, write: f64) -> Option<&InterferenceCell> {
    let same = |a: f64, b: f64| (a - b).abs() < 1e-9;
    map.cells.iter().find(|cell| same(cell.read_share, read) && same(cell.write_share, write))
}

fn field(cell: &InterferenceCell, quantile: Quantile) -> Option<HeatCell> {
    let value_ms = quantile(&cell.read_latency_ns)? as f64 / 1e6;
    let time = |ns: Option<u64>| ns.map_or_else(|| "unknown".to_owned(), text::time_ns);
    let latency = &cell.read_latency_ns;
    Some(HeatCell {
        value: value_ms,
        text: text::significant(value_ms, if value_ms >= 100.0 { 3 } else { 2 }),
        title: format!(
            "{} of {} reads/s and {} of {} writes/s; reads: median {}, 99th percentile {}; writes: median {}",
            text::significant(cell.read_achieved_per_s, 3),
            text::significant(cell.read_rate_per_s, 3),
            text::significant(cell.write_achieved_per_s, 3),
            text::significant(cell.write_rate_per_s, 3),
            time(latency.p50),
            time(latency.p99),
            time(cell.write_latency_ns.p50),
        ),
        missed: !cell.rates_kept,
    })
}

fn finding(device: &Device, map: &InterferenceMap, name: &str, quantile: Quantile) -> String {
    let missed = map.cells.iter().filter(|cell| !cell.rates_kept).count();
    let behind = match missed {
        0 => String::new(),
        _ => format!(" {missed} of {} combinations exceed what the device can do.", map.cells.len()),
    };
    let limit = device.profile.derived.interference.map(|limit| {
        if limit.write_rate_per_s.high <= 0.0 {
            return format!(
                "At {} reads a second, even the lowest measured write rate more than doubles the \
                {} of reads.",
                text::significant(limit.read_rate_per_s, 3),
                text::quantile(limit.quantile)
            );
        }
        if limit.write_rate_per_s.value <= 0.0 {
            return format!(
                "At {} reads a second, the lowest measured write rate more than doubled the {2} \
                of reads; but with so few rounds, up to {1} a second may keep it within twice the \
                value.",
                text::significant(limit.read_rate_per_s, 3),
                text::significant(limit.write_rate_per_s.high, 3),
                text::quantile(limit.quantile)
            );
        }
        format!(
            "At {} reads a second, up to {} writes a second ({} of the peak) keep the {} of reads \
            within twice its value without writes.",
            text::significant(limit.read_rate_per_s, 3),
            text::significant(limit.write_rate_per_s.value, 3),
            percent(limit.write_share.value),
            text::quantile(limit.quantile)
        )
    });
    let told = limit.or_else(|| worst(map, name, quantile));
    told.unwrap_or_else(|| "Reads were measured during writes.".to_owned()) + &behind
}

/// Greatest slowdown among the cells that kept their rates.
fn worst(map: &InterferenceMap, name: &str, quantile: Quantile) -> Option<String> {
    let slowdown = |cell: &InterferenceCell| {
        let alone = find(map, cell.read_share, 0.0).filter(|alone| alone.rates_kept)?;
        let alone = quantile(&alone.read_latency_ns)? as f64;
        Some((quantile(&cell.read_latency_ns)? as f64 / alone, cell.read_share, cell.write_share))
    };
    let kept = map.cells.iter().filter(|cell| cell.rates_kept).filter_map(slowdown);
    let (ratio, read, write) = kept.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!(
        "At {} of the peak reads and {} of the peak writes, the {name} of reads is {} times its \
        value without writes{}.",
        percent(read),
        percent(write),
        text::significant(ratio, 2),
        if map.has_spread() { "" } else { ", in a single round: its spread is unknown" }
    ))
}
