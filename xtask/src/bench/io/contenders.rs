//! Contenders, each run with the command that a user would type.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::Outcome;
use crate::command::build_folder;

/// Seconds per run.
pub(super) const SECONDS: u32 = 4;

/// Parameters of the reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    pub(super) block_bytes: u64,
    pub(super) queue_depth: u32,
    pub(super) refill: &'static str,
    /// Location of fio's buffers, in fio's terms.
    pub(super) fio_memory: &'static str,
}

/// Results of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    pub(super) bandwidth_bytes_per_s: f64,
    pub(super) cpu_ns_per_request: f64,
}

impl std::fmt::Display for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "random reads of {} KiB, depth {}, {}{}",
            self.block_bytes >> 10,
            self.queue_depth,
            self.refill,
            if self.fio_memory == "malloc" { "" } else { ", fio in huge pages" }
        )
    }
}

/// Runs fio as distributed.
pub(super) fn fio(file: &Path, job: Job) -> Outcome<Figures> {
    let answer = json(Command::new("fio").args([
        "--name=read",
        "--readonly",
        "--rw=randread",
        "--ioengine=io_uring",
        "--direct=1",
        "--time_based",
        "--output-format=json",
        // The last block of the file is its marker.
        "--size=4095m",
        &format!("--filename={}", file.display()),
        &format!("--iomem={}", job.fio_memory),
        &format!("--bs={}", job.block_bytes),
        &format!("--iodepth={}", job.queue_depth),
        &format!("--runtime={SECONDS}"),
    ]))?;
    let number = |path: &str| number(&answer, path);
    let cpu_share = (number("/jobs/0/usr_cpu")? + number("/jobs/0/sys_cpu")?) / 100.0;
    let runtime_ns = number("/jobs/0/job_runtime")? * 1e6;
    Ok(Figures {
        bandwidth_bytes_per_s: number("/jobs/0/read/bw_bytes")?,
        cpu_ns_per_request: cpu_share * runtime_ns / number("/jobs/0/read/total_ios")?,
    })
}

/// Runs `nandle sweep` of one cell.
pub(super) fn nandle(file: &Path, job: Job) -> Outcome<Figures> {
    let answer = json(nandle_command(file).args([
        &format!("--block-sizes={}", job.block_bytes),
        &format!("--queue-depths={}", job.queue_depth),
        &format!("--refill={}", job.refill),
        &format!("--time-per-run={SECONDS}s"),
    ]))?;
    Ok(Figures {
        bandwidth_bytes_per_s: number(&answer, "/cells/0/bandwidth_bytes_per_s")?,
        cpu_ns_per_request: number(&answer, "/cells/0/cpu_ns_per_request")?,
    })
}

/// Path of the program that `build` built.
pub(crate) fn nandle_program() -> PathBuf {
    build_folder().join("release/nandle")
}

/// `nandle sweep FILE` of random reads, without cells.
pub(crate) fn nandle_command(file: &Path) -> Command {
    let mut command = Command::new(nandle_program());
    command
        .args(["sweep", "--json", "--no-progress", "--io=io_uring", "--patterns=random"])
        .arg("--read-memory=0")
        .arg(file);
    command
}

/// Makes a test file of incompressible contents with nandle, and keeps it.
pub(super) fn make_file(path: &Path, size: &str) -> Outcome {
    let size = format!("--file-size={size}");
    let cell = ["--block-sizes=4KiB", "--queue-depths=1", "--time-per-run=10ms"];
    json(nandle_command(path).args(["--overwrite", &size]).args(cell)).map(|_| ())
}

pub(crate) fn json(command: &mut Command) -> Outcome<Value> {
    let output = command.output()?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{command:?} failed: {message}").into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn number(answer: &Value, path: &str) -> Outcome<f64> {
    answer
        .pointer(path)
        .and_then(Value::as_f64)
        .ok_or_else(|| format!("no number at {path} in the answer").into())
}
