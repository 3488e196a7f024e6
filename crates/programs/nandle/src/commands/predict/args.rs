use std::path::PathBuf;

use clap::Args;
use nandle_io::Nanos;
use nandle_reads::Strategy;
use nandle_session::Access;
use nandle_target::TargetSpec;
use nandle_terminal::args::IoArg;
use nandle_terminal::args::{bytes_of_at_least, positive_duration};

use crate::error::CliError;

/// With less memory no window of a plan has room.
const MEMORY_BYTES_MIN: u64 = 64 << 10;

/// Predict the times of recorded queries on drives you don't own
///
/// A recording (*.needs.zst) lists, for each query, the ranges of files that it needs, step by
/// step, and the processor time between the steps. It holds no data. The needs become requests as
/// they would on the device itself, planned from its profile or from a probe. A modelled drive
/// answers in virtual time. On a real target, the same places of a test file are read, and a
/// processor is kept busy for the recorded times.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle predict cubes.needs.zst --on model:crucial-m4-256,model:wd2003fyys,model:nvme-tlc\n  nandle predict cubes.needs.zst --on /mnt/fast --profile fast.json --memory 64MiB\n  nandle predict cubes.needs.zst --on model:crucial-m4-256 --reads one-by-one:1 --cpu-scale 0.5\n  nandle predict cubes.needs.zst --on model:crucial-m4-256,raid10:64KiB:model:wd2003fyys*10 --report drives.html"
)]
pub(crate) struct PredictArgs {
    /// Recording to predict from
    #[arg(value_name = "RECORDING")]
    pub(super) recording: PathBuf,
    /// Devices: directories, files, block devices or modelled drives
    ///
    /// Names are those of `nandle probe`. An array in software must come last, because its members
    /// are separated by commas, too. The option can be repeated.
    #[arg(long, value_name = "TARGET[,TARGET…]", required = true)]
    on: Vec<String>,
    /// Profile of each target, in their order
    ///
    /// [default: each target is probed, for 60 s of virtual time or 10 s of real time; for a
    /// directory, a probe kept from an earlier command is used if there is one]
    #[arg(long, value_name = "FILE")]
    pub(super) profile: Vec<PathBuf>,
    /// Strategy by which needs become requests
    ///
    /// flexible makes the requests that are cheapest on this device. fixed-block reads each need as
    /// it is, fixed-block:SIZE in blocks of this size. whole-group reads the whole group that
    /// contains a need. one-by-one:N reads needs in their order with N requests in flight, as an
    /// engine with a buffer pool does.
    #[arg(long, value_name = "HOW", default_value = "flexible")]
    pub(super) reads: Strategy,
    /// Memory for data that is read but not yet used
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = memory)]
    pub(super) memory: u64,
    /// Maximum size of a request [default: the largest that the device takes whole]
    #[arg(long, value_name = "SIZE", value_parser = nandle_terminal::args::positive_bytes)]
    pub(super) block: Option<u64>,
    /// Requests in flight [default: enough to keep the device busy]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) depth: Option<u32>,
    /// Multiply recorded processor times; 0.5 is a processor twice as fast
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = cpu_scale)]
    pub(super) cpu_scale: f64,
    /// Duration of the probe of each target without a profile
    #[arg(long, value_name = "TIME", value_parser = positive_duration, conflicts_with = "profile")]
    pub(super) probe_budget: Option<Nanos>,
    /// I/O interface
    #[arg(long, value_name = "INTERFACE", default_value = "auto")]
    io: IoArg,
    /// Allow the named file to be overwritten; a missing file is created and kept
    #[arg(long)]
    overwrite: bool,
    /// Allow the named block device to be overwritten
    #[arg(long)]
    destroy_data: bool,
    /// Path of the HTML report
    #[arg(long, value_name = "PATH")]
    pub(super) report: Option<PathBuf>,
    /// Path of the result as JSON
    #[arg(long, short, value_name = "PATH")]
    pub(super) output: Option<PathBuf>,
}

impl PredictArgs {
    pub(super) fn access(&self) -> Access {
        Access {
            io: self.io.into(),
            overwrite: self.overwrite,
            destroy_data: self.destroy_data,
            ..Access::default()
        }
    }

    /// All named targets, without duplicates.
    pub(super) fn targets(&self) -> Result<Vec<TargetSpec>, CliError> {
        let mut targets: Vec<TargetSpec> = Vec::new();
        for name in self.on.iter().flat_map(|list| names(list)) {
            let target: TargetSpec =
                name.parse().map_err(|error| CliError::usage(format!("--on: {error}")))?;
            if targets.contains(&target) {
                return Err(CliError::usage(format!("--on names {target} twice; name each target once")));
            }
            targets.push(target);
        }
        let (profiles, count) = (self.profile.len(), targets.len());
        if profiles != 0 && profiles != count {
            return Err(CliError::usage(format!(
                "{count} targets (--on) and {profiles} profiles: give --profile once for each target, in their order, or not at all"
            )));
        }
        Ok(targets)
    }
}

/// Names in a list. An array takes everything after it.
fn names(list: &str) -> Vec<&str> {
    let (mut names, mut rest) = (Vec::new(), list);
    while let Some((name, others)) = rest.split_once(',').filter(|_| !rest.starts_with("raid")) {
        names.push(name);
        rest = others;
    }
    names.push(rest);
    names
}

fn memory(text: &str) -> Result<u64, String> {
    bytes_of_at_least(text, MEMORY_BYTES_MIN, "64KiB")
}

fn cpu_scale(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok().filter(|factor: &f64| (0.0..=1e6).contains(factor));
    factor.ok_or_else(|| "expected a factor from 0 on, such as 0.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_takes_the_rest_of_a_list() {
        assert_eq!(names("model:a"), ["model:a"]);
        assert_eq!(names("model:a,/mnt/b"), ["model:a", "/mnt/b"]);
        assert_eq!(names("model:a,raid0:64KiB:/mnt/a,/mnt/b"), ["model:a", "raid0:64KiB:/mnt/a,/mnt/b"]);
        assert_eq!(names("a,,b"), ["a", "", "b"]);
    }

    #[test]
    fn factors_are_no_negative_and_no_endless_numbers() {
        assert_eq!(cpu_scale("0.5"), Ok(0.5));
        for wrong in ["-1", "nan", "inf", "fast", "1e7"] {
            assert!(cpu_scale(wrong).is_err(), "{wrong}");
        }
    }
}
