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

/// How long the queries of a recording take on each of several devices, which you need not have.
///
/// A recording (*.needs.zst) says for each query which bytes of which files it needs, step by step, and how long the processor worked in
/// between. It holds no data. Here the same needs become requests as on the device itself, planned by what a profile of it says, or by a
/// probe of it. A modelled drive answers them in virtual time; of a real target the same places of a test file are read, and a
/// processor is kept busy for as long as was recorded.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle predict cubes.needs.zst --on model:crucial-m4-256,model:wd2003fyys,model:nvme-tlc\n  nandle predict cubes.needs.zst --on /mnt/fast --profile fast.json --memory 64MiB\n  nandle predict cubes.needs.zst --on model:crucial-m4-256 --reads one-by-one:1 --cpu-scale 0.5\n  nandle predict cubes.needs.zst --on model:crucial-m4-256,raid10:64KiB:model:wd2003fyys*10 --report drives.html"
)]
pub(crate) struct PredictArgs {
    /// The recording
    #[arg(value_name = "RECORDING")]
    pub(super) recording: PathBuf,
    /// The devices, as `nandle probe` names them: directories, files, block devices, modelled drives. An array in software comes last,
    /// because its members have commas between them, too; the option may be given several times
    #[arg(long, value_name = "TARGET[,TARGET…]", required = true)]
    on: Vec<String>,
    /// A profile of each target, in their order [default: each is probed, for 60 s of virtual time or 10 s of real time; of a directory's device a probe counts that an earlier command has kept]
    #[arg(long, value_name = "FILE")]
    pub(super) profile: Vec<PathBuf>,
    /// How needs become requests: flexible (the cheapest on this device), fixed-block (each as it is) or fixed-block:SIZE, whole-group,
    /// one-by-one:N (in the order of need, N outstanding, as an engine with a buffer pool does)
    #[arg(long, value_name = "HOW", default_value = "flexible")]
    pub(super) reads: Strategy,
    /// Memory for what is read and not yet used up
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = memory)]
    pub(super) memory: u64,
    /// The longest request [default: what the device takes whole]
    #[arg(long, value_name = "SIZE", value_parser = nandle_terminal::args::positive_bytes)]
    pub(super) block: Option<u64>,
    /// Requests outstanding [default: what the device needs to be kept busy]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) depth: Option<u32>,
    /// Multiply recorded processor times: 0.5 is a processor twice as fast
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = cpu_scale)]
    pub(super) cpu_scale: f64,
    /// How long each target is probed that has no profile
    #[arg(long, value_name = "TIME", value_parser = positive_duration, conflicts_with = "profile")]
    pub(super) probe_budget: Option<Nanos>,
    /// How requests reach a real device
    #[arg(long, value_name = "WORLD", default_value = "auto")]
    io: IoArg,
    /// The named file's contents may be lost; a file that doesn't exist is made, and kept
    #[arg(long)]
    overwrite: bool,
    /// The named block device's contents may be lost
    #[arg(long)]
    destroy_data: bool,
    /// Where the report goes
    #[arg(long, value_name = "PATH")]
    pub(super) report: Option<PathBuf>,
    /// Where the result goes as JSON
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
