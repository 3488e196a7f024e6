//! Write side, by the definitions in docs/profile.md.

use std::collections::BTreeMap;

use serde_json::Value;

use super::cells::{Cell, Cells};
use super::drives::Drive;
use super::question::{Kind, Question};
use super::truth::Run;
use crate::Outcome;

/// Maximum cost of a cheap focused or partitioned write, in sequential writes; the second constant
/// applies to strides.
const CHEAP: f64 = 2.0;
const CHEAP_ORDERED: f64 = 4.0;
/// Ratio of requests from which a size counts as better than its half.
const BETTER: f64 = 1.05;
const AREAS_MIB: [u64; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const STREAMS: [u64; 6] = [2, 4, 8, 16, 32, 64];
const STRIDES: [i64; 9] = [-4, -2, -1, 0, 2, 4, 8, 16, 64];
const BLOCK_BYTES: u64 = 32 << 10;

const STEADY_DEPTH: u32 = 32;
const SIZES: [u64; 6] = [512, 1024, 2048, 4096, 8192, 16384];
const SIZES_DEPTH: u32 = 8;
/// Figures compared with one-hour experiments, by path in `derived`.
const EXPERIMENTS: [(&str, Kind, &str); 4] = [
    ("commit, median, ns", Kind::Figure, "/flush_ns/median_ns"),
    ("writers that share a flush", Kind::Step, "/group_commit/writers"),
    ("commits a second, together", Kind::Figure, "/group_commit/together_per_s"),
    ("share of writes that leaves reads alone", Kind::Step, "/interference/write_share"),
];

/// Sweeps every cell that a probe may measure.
pub(super) fn sweep(drive: &Drive, seed: u64) -> Outcome<Vec<Cell>> {
    let named = ["sequential".to_owned(), "random".to_owned()].into_iter();
    let areas = AREAS_MIB.iter().map(|mebibytes| format!("focused:{mebibytes}MiB"));
    let streams = STREAMS.iter().map(|streams| format!("partitioned:{streams}"));
    let strides = STRIDES.iter().map(|stride| format!("ordered:{stride}"));
    let patterns: Vec<String> = named.chain(areas).chain(streams).chain(strides).collect();
    let patterns = format!("--patterns={}", patterns.join(","));
    let mut cells =
        drive.write(seed, &[&patterns, &format!("--block-sizes={BLOCK_BYTES}"), "--queue-depths=1"])?;
    let random = |sizes: &str, depth: u32| {
        ["patterns=random", &format!("block-sizes={sizes}"), &format!("queue-depths={depth}")]
            .map(|option| format!("--{option}"))
    };
    let steady = random(drive.steady_blocks, STEADY_DEPTH);
    cells.extend(drive.write(seed, &steady.each_ref().map(String::as_str))?);
    let small = random(&SIZES.map(|size| size.to_string()).join(","), SIZES_DEPTH);
    let small = small.each_ref().map(String::as_str);
    cells.extend(drive.read(seed, &small)?);
    cells.extend(drive.write_briefly(seed, &small)?);
    Ok(cells)
}

/// Runs the experiments that no sweep replaces.
pub(super) fn experiments(drive: &Drive, seed: u64) -> Outcome<BTreeMap<String, f64>> {
    let long = drive.probe(seed, &["--budget=1h", "--only=flush,interference"])?;
    let found = |path: &str| long.pointer(&format!("/derived{path}/value")).and_then(Value::as_f64);
    Ok(EXPERIMENTS.iter().filter_map(|(_, _, path)| Some(((*path).to_owned(), found(path)?))).collect())
}

pub(super) fn questions(run: &Run, derived: &Value) -> Vec<Question> {
    let mut questions = patterns(&run.cells, derived);
    questions.push(steady_state(&run.cells, derived));
    questions.push(smallest_block(&run.cells, derived));
    questions.extend(EXPERIMENTS.iter().map(|(name, kind, path)| {
        Question::new(*name, *kind, run.experiments.get(*path).copied(), derived.pointer(path))
    }));
    questions
}

fn patterns(cells: &Cells, derived: &Value) -> Vec<Question> {
    let at_last = |pattern: &str| cells.at_last(pattern, BLOCK_BYTES, 1);
    let cost = |pattern: String| Some(at_last("sequential")? / at_last(&pattern)?);
    let is_cheap = |pattern: String, most: f64| cost(pattern).is_some_and(|cost| cost <= most);
    let last = |counts: &[u64], name: &dyn Fn(u64) -> String| {
        let cheap = counts.iter().take_while(|count| is_cheap(name(**count), CHEAP));
        cheap.last().map(|count| *count as f64)
    };
    let area = last(&AREAS_MIB, &|mebibytes| format!("focused:{mebibytes}MiB"));
    // Where random writes are cheap the focused area is the whole device, which no sweep of areas
    // shows.
    let area = area.filter(|_| !is_cheap("random".into(), CHEAP)).map(|mebibytes| mebibytes * 1_048_576.0);
    let whole_area =
        is_cheap("random".into(), CHEAP).then(|| derived.pointer("/focused_area_bytes/value")?.as_f64());
    let streams = last(&STREAMS, &|streams| format!("partitioned:{streams}"));
    let sequential_ns = at_last("sequential").map(|bandwidth| BLOCK_BYTES as f64 / bandwidth * 1e9);
    let mut questions = vec![
        Question::new(
            "sequential write, ns",
            Kind::Figure,
            sequential_ns,
            derived.pointer("/write_pattern_cost/sequential_ns"),
        ),
        Question::new(
            "cost of random writes",
            Kind::Figure,
            cost("random".into()),
            derived.pointer("/write_pattern_cost/random"),
        ),
        Question::new(
            "focused area, bytes",
            Kind::Step,
            area.or(whole_area.flatten()),
            derived.get("focused_area_bytes"),
        ),
        Question::new("streams that stay cheap", Kind::Step, streams, derived.get("partition_count_max")),
    ];
    questions.extend(STRIDES.iter().map(|stride| {
        let cheap = is_cheap(format!("ordered:{stride}"), CHEAP_ORDERED);
        let cheap_ones = derived.get("cheap_strides_blocks").and_then(Value::as_array);
        let found = cheap_ones.is_some_and(|strides| strides.iter().any(|one| one.as_i64() == Some(*stride)));
        let (exhaustive, probe) = (f64::from(u8::from(cheap)), Value::from(u8::from(found)));
        let name = format!("stride of {stride} is cheap (1) or not (0)");
        Question::new(name, Kind::Step, Some(exhaustive), Some(&probe))
    }));
    questions
}

fn steady_state(cells: &Cells, derived: &Value) -> Question {
    let block = derived.pointer("/steady_state/block_bytes").and_then(Value::as_u64).unwrap_or(4096);
    let probe = derived.pointer("/steady_state/random_write_bytes_per_s");
    let name = format!("steady state, {} KiB, bytes/s", block >> 10);
    Question::new(name, Kind::Figure, cells.at_last("random", block, STEADY_DEPTH), probe)
}

/// Largest size with more requests than its half, of reads or writes, whichever is larger.
fn smallest_block(cells: &Cells, derived: &Value) -> Question {
    let last_step = |operation: &str| {
        let rate = |block: u64| {
            let cell = cells.find(("random", operation, block, 1, SIZES_DEPTH))?;
            Some(cell.bandwidth_bytes_per_s / block as f64)
        };
        let is_step = |pair: &&[u64]| match pair {
            [half, double] => {
                rate(*double).zip(rate(*half)).is_some_and(|(double, half)| double > BETTER * half)
            }
            _ => false,
        };
        let last = SIZES.windows(2).rfind(is_step).and_then(|pair| pair.last()).copied();
        last.or_else(|| SIZES.into_iter().find(|size| rate(*size).is_some()))
    };
    let exhaustive = last_step("read").max(last_step("write")).map(|bytes| bytes as f64);
    Question::new("smallest block, bytes", Kind::Step, exhaustive, derived.get("smallest_block_bytes"))
}
