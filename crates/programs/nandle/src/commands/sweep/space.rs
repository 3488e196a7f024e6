//! The parameter space that a command line asks for: a preset's, or the usual one, with what was given in place of it.

use nandle_probe::load::Stop;
use nandle_probe::pattern::PatternSpec;
use nandle_probe::sweep::Space;
use nandle_profile::OperationKind;

use crate::args::SweepArgs;

/// The space.
pub(super) fn of(args: &SweepArgs) -> Space {
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
