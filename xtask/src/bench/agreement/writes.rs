//! The write side, by the definitions of docs/profile.md.

use serde_json::Value;

use super::cells::Cells;
use super::drives::Drive;
use super::question::{Kind, Question};
use crate::Outcome;

/// A focused or partitioned write is cheap up to so many sequential ones, one at a stride up to so many.
const CHEAP: f64 = 2.0;
const CHEAP_ORDERED: f64 = 4.0;
/// A size is better than its half when it gives so many times the requests.
const BETTER: f64 = 1.05;
const AREAS_MIB: [u64; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const STREAMS: [u64; 6] = [2, 4, 8, 16, 32, 64];
const STRIDES: [i64; 9] = [-4, -2, -1, 0, 2, 4, 8, 16, 64];
const BLOCK_BYTES: u64 = 32 << 10;

pub(super) fn questions(drive: &Drive, derived: &Value) -> Outcome<Vec<Question>> {
    let mut questions = patterns(drive, derived)?;
    questions.push(steady_state(drive, derived)?);
    questions.push(smallest_block(drive, derived)?);
    questions.extend(experiments(drive, derived)?);
    Ok(questions)
}

fn patterns(drive: &Drive, derived: &Value) -> Outcome<Vec<Question>> {
    let named = ["sequential".to_owned(), "random".to_owned()].into_iter();
    let areas = AREAS_MIB.iter().map(|mebibytes| format!("focused:{mebibytes}MiB"));
    let streams = STREAMS.iter().map(|streams| format!("partitioned:{streams}"));
    let strides = STRIDES.iter().map(|stride| format!("ordered:{stride}"));
    let all: Vec<String> = named.chain(areas).chain(streams).chain(strides).collect();
    let cells = drive.write(&[
        &format!("--patterns={}", all.join(",")),
        &format!("--block-sizes={BLOCK_BYTES}"),
        "--queue-depths=1",
    ])?;
    let cost = |pattern: String| Some(cells.at_last("sequential")? / cells.at_last(&pattern)?);
    let is_cheap = |pattern: String, most: f64| cost(pattern).is_some_and(|cost| cost <= most);
    let last = |counts: &[u64], name: &dyn Fn(u64) -> String| {
        let cheap = counts.iter().take_while(|count| is_cheap(name(**count), CHEAP));
        cheap.last().map(|count| *count as f64)
    };
    let area = last(&AREAS_MIB, &|mebibytes| format!("focused:{mebibytes}MiB"));
    // Where random writing is cheap the area is all of it, which no sweep of areas says.
    let area = area.filter(|_| !is_cheap("random".into(), CHEAP)).map(|mebibytes| mebibytes * 1_048_576.0);
    let whole_area =
        is_cheap("random".into(), CHEAP).then(|| derived.pointer("/focused_area_bytes/value")?.as_f64());
    let streams = last(&STREAMS, &|streams| format!("partitioned:{streams}"));
    let sequential_ns = cells.at_last("sequential").map(|bandwidth| BLOCK_BYTES as f64 / bandwidth * 1e9);
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
    Ok(questions)
}

fn steady_state(drive: &Drive, derived: &Value) -> Outcome<Question> {
    let block = derived.pointer("/steady_state/block_bytes").and_then(Value::as_u64).unwrap_or(4096);
    let cells =
        drive.write(&["--patterns=random", &format!("--block-sizes={block}"), "--queue-depths=32"])?;
    let probe = derived.pointer("/steady_state/random_write_bytes_per_s");
    let name = format!("steady state, {} KiB, bytes/s", block >> 10);
    Ok(Question::new(name, Kind::Figure, cells.at_last("random"), probe))
}

/// The last size that gives more requests than its half, of reads or of writes, whichever is larger.
fn smallest_block(drive: &Drive, derived: &Value) -> Outcome<Question> {
    let sizes = [512, 1024, 2048, 4096, 8192, 16384];
    let list = sizes.map(|size| size.to_string()).join(",");
    let space = ["--patterns=random".to_owned(), format!("--block-sizes={list}"), "--queue-depths=8".into()];
    let space: Vec<&str> = space.iter().map(String::as_str).collect();
    let last_step = |cells: &Cells| {
        let rate = |block: u64| cells.bandwidth("random", block, 8).map(|bandwidth| bandwidth / block as f64);
        let mut steps = sizes.windows(2).filter(|pair| match pair {
            [half, double] => {
                rate(*double).zip(rate(*half)).is_some_and(|(double, half)| double > BETTER * half)
            }
            _ => false,
        });
        steps
            .next_back()
            .and_then(|pair| pair.last())
            .copied()
            .or_else(|| sizes.into_iter().find(|size| rate(*size).is_some()))
    };
    let reads = last_step(&drive.read(&space)?);
    let writes = last_step(&drive.write_briefly(&space)?);
    let exhaustive = reads.max(writes).map(|bytes| bytes as f64);
    Ok(Question::new("smallest block, bytes", Kind::Step, exhaustive, derived.get("smallest_block_bytes")))
}

/// What no sweep can find.
fn experiments(drive: &Drive, derived: &Value) -> Outcome<Vec<Question>> {
    let long = drive.probe(&["--budget=1h", "--only=flush,interference"])?;
    let found = |path: &str| long.pointer(&format!("/derived{path}")).and_then(Value::as_f64);
    let question = |name: &str, kind, path: &str, value: &str| {
        Question::new(name, kind, found(&format!("{path}{value}")), derived.pointer(path))
    };
    Ok(vec![
        question("commit, median, ns", Kind::Figure, "/flush_ns/median_ns", "/value"),
        question("writers that share a flush", Kind::Step, "/group_commit/writers", "/value"),
        question("commits a second, together", Kind::Figure, "/group_commit/together_per_s", "/value"),
        question(
            "share of writes that leaves reads alone",
            Kind::Step,
            "/interference/write_share",
            "/value",
        ),
    ])
}
