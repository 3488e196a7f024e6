//! Parameter space of a command line: a preset's or the default, with the given values.

use nandle_io::Nanos;
use nandle_probe::load::Stop;
use nandle_probe::pattern::PatternSpec;
use nandle_probe::sweep::{OpenLoopRate, Space, SweepOptions};
use nandle_profile::OperationKind;

use super::args::SweepArgs;
use crate::error::CliError;

/// Default duration of a run.
const TIME_PER_RUN: Nanos = Nanos::from_secs(2);

/// Options of the sweep.
pub(super) fn options(args: &SweepArgs) -> Result<SweepOptions, CliError> {
    let space = space(args);
    if args.threads == 0 {
        return Err(CliError::usage("--threads 0: at least one thread must submit"));
    }
    if let Some(rate) = args.rate
        && !(rate.is_finite() && rate > 0.0)
    {
        return Err(CliError::usage(format!("--rate {rate}: expected requests per second, above 0")));
    }
    if args.rate.is_some() && args.bytes_per_run.is_some() {
        return Err(CliError::usage(
            "--rate with --bytes-per-run: arrivals go on until a time; give --time-per-run alone",
        ));
    }
    Ok(SweepOptions {
        patterns: distinct(&space.patterns),
        block_sizes: distinct(&space.block_sizes),
        group_sizes: distinct(&space.group_sizes),
        queue_depths: distinct(&space.queue_depths),
        operations: distinct(&space.operations),
        stop: space.stop.unwrap_or(Stop::after(TIME_PER_RUN)),
        refill: args.refill.into(),
        rate: args.rate.map(|per_s| OpenLoopRate { per_s, arrivals: args.arrivals.into() }),
        threads: args.threads,
        read_pool_bytes: args.read_memory,
        seed: args.target.seed,
        outstanding_bytes_max: args.target.outstanding_max,
    })
}

/// Removes duplicates and keeps the order.
fn distinct<T: PartialEq + Copy>(values: &[T]) -> Vec<T> {
    let mut distinct = Vec::new();
    for value in values {
        if !distinct.contains(value) {
            distinct.push(*value);
        }
    }
    distinct
}

fn space(args: &SweepArgs) -> Space {
    let base = args.preset.map_or_else(usual, |preset| preset.preset().space());
    let given = args.bytes_per_run.is_some() || args.time_per_run.is_some();
    let stop =
        if given { Some(Stop { bytes: args.bytes_per_run, time: args.time_per_run }) } else { base.stop };
    Space {
        patterns: or(&args.patterns, base.patterns),
        operations: or(&args.operation, base.operations),
        block_sizes: or(&args.block_sizes, base.block_sizes),
        group_sizes: or(&args.group_sizes, base.group_sizes),
        queue_depths: or(&args.queue_depths, base.queue_depths),
        stop,
    }
}

fn or<T: Clone>(given: &[T], otherwise: Vec<T>) -> Vec<T> {
    if given.is_empty() { otherwise } else { given.to_vec() }
}

fn usual() -> Space {
    Space {
        patterns: vec![PatternSpec::Random, PatternSpec::Sequential],
        operations: vec![OperationKind::Read],
        block_sizes: (12..=20).map(|power| 1 << power).collect(),
        group_sizes: vec![1],
        queue_depths: vec![1, 4, 16, 32, 64],
        stop: None,
    }
}
