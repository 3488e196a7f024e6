//! Checks that memory doesn't grow with the file or the number of requests.

use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use super::BenchFile;
use super::contenders::nandle_command;
use crate::Outcome;
use crate::bench::results::{Comparison, Runs};
use crate::bench::stats::paired;

const PAIRS: usize = 3;

pub(super) fn comparisons(directory: &Path) -> Outcome<Vec<Comparison>> {
    let small = BenchFile::of_size(&directory.join("small"), "512MiB")?;
    let large = BenchFile::of_size(&directory.join("large"), "4GiB")?;
    let by_size =
        paired(PAIRS, || peak_memory_mib(&small.path, "2s"), || peak_memory_mib(&large.path, "2s"))?;
    let by_time =
        paired(PAIRS, || peak_memory_mib(&small.path, "1s"), || peak_memory_mib(&small.path, "8s"))?;
    Ok(vec![
        compare("4 KiB, depth 128: a file 8 times as large", ("512 MiB", by_size.0), ("4 GiB", by_size.1))?,
        compare("4 KiB, depth 128: 8 times as many requests", ("1 s", by_time.0), ("8 s", by_time.1))?,
    ])
}

fn compare(task: &str, baseline: (&str, Vec<f64>), candidate: (&str, Vec<f64>)) -> Outcome<Comparison> {
    let baseline = Runs { name: baseline.0, figures: baseline.1 };
    let candidate = Runs { name: candidate.0, figures: candidate.1 };
    Comparison::new(task, "peak memory, MiB", baseline, candidate)
}

/// Peak memory of a nandle run, polled from the system until it ends.
fn peak_memory_mib(file: &Path, time: &str) -> Outcome<f64> {
    let cell = ["--block-sizes=4KiB", "--queue-depths=128", &format!("--time-per-run={time}")];
    let mut child = nandle_command(file).args(cell).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0.0_f64;
    while child.try_wait()?.is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
        peak_kib = peak_kib.max(now.unwrap_or(0.0));
        thread::sleep(Duration::from_millis(20));
    }
    if peak_kib > 0.0 {
        Ok(peak_kib / 1024.0)
    } else {
        Err("the run ended before its memory was looked at".into())
    }
}
