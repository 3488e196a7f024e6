//! Cost of I/O, compared with fio: the same reads of the same file in turns, as bandwidth and CPU
//! time per request.

mod contenders;
mod memory;

use std::path::PathBuf;

use self::contenders::{Figures, Job, fio, nandle};
pub(super) use self::contenders::{json, nandle_command, nandle_program};
use super::Bench;
use super::machine::machine;
use super::results::{Comparison, Results, Runs};
use super::stats::paired;
use crate::command::{cargo, succeeds};
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench =
    Bench { name: "io", about: "bandwidth and processor time of reads, beside fio (option: --in DIR)", run };

/// Pairs of runs for each job.
const PAIRS: usize = 7;
/// Size of the file that both read.
const FILE: &str = "4GiB";

/// fio's name for huge pages. The system must reserve some: `sysctl vm.nr_hugepages=32`.
const HUGE_PAGES: &str = "mmaphuge";
/// Huge pages for fio's buffers in that job.
const HUGE_PAGES_NEEDED: u64 = 8;

const JOBS: [Job; 7] = [
    Job { block_bytes: 4 << 10, queue_depth: 1, refill: "exact", fio_memory: "malloc" },
    Job { block_bytes: 4 << 10, queue_depth: 32, refill: "exact", fio_memory: "malloc" },
    Job { block_bytes: 4 << 10, queue_depth: 32, refill: "batched", fio_memory: "malloc" },
    Job { block_bytes: 4 << 10, queue_depth: 128, refill: "exact", fio_memory: "malloc" },
    Job { block_bytes: 4 << 10, queue_depth: 128, refill: "batched", fio_memory: "malloc" },
    Job { block_bytes: 1 << 20, queue_depth: 4, refill: "exact", fio_memory: "malloc" },
    // Nandle's buffers use huge pages where available, so that a request has few segments. fio uses
    // them only on request. This pair shows their share of the difference.
    Job { block_bytes: 1 << 20, queue_depth: 4, refill: "exact", fio_memory: HUGE_PAGES },
];

fn run(options: &[String]) -> Outcome {
    let directory = directory(options)?;
    build()?;
    let file = BenchFile::make(&directory)?;
    let mut comparisons = Vec::new();
    for job in JOBS {
        if job.fio_memory == HUGE_PAGES && free_huge_pages() < HUGE_PAGES_NEEDED {
            output::say(&format!(
                "{job}: SKIPPED, there are no huge pages; `sysctl vm.nr_hugepages=32` sets some apart"
            ));
            continue;
        }
        output::say(&format!("{job}: {PAIRS} pairs of runs"));
        let (theirs, ours) = paired(PAIRS, || fio(&file.path, job), || nandle(&file.path, job))?;
        comparisons.extend(compare(job, &theirs, &ours)?);
    }
    comparisons.extend(memory::comparisons(&directory)?);
    let method = format!(
        "Random reads of one file of {FILE}, direct I/O, {PAIRS} pairs of runs of {} s for each job, fio and nandle in \
         turns, the first one changing from pair to pair. fio as shipped, with --ioengine=io_uring. Processor time \
         is of the whole process, user and system, by completed requests; both take the latency of every request. \
         Exact refills the queue at each completion, as fio does by default; batched at a quarter of the depth. Nandle \
         asks for transparent huge pages; with \"fio in huge pages\" fio has --iomem=mmaphuge, which gives both the \
         same: on 1 MiB reads the rest of the difference is the pages, not the driver. Both have as many buffers as \
         requests outstanding.",
        contenders::SECONDS
    );
    let results = Results::new(BENCH.name, &method, machine(&directory), comparisons)?;
    output::say(&results.write(&workspace_root().join("benches"))?);
    Ok(())
}

fn free_huge_pages() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("HugePages_Free:"));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

fn directory(options: &[String]) -> Outcome<PathBuf> {
    match options {
        [] => Ok(workspace_root().join("target")),
        [option, directory] if option == "--in" => Ok(directory.into()),
        other => Err(format!("`io` takes --in DIR, got {other:?}").into()),
    }
}

pub(super) fn build() -> Outcome {
    if succeeds(&mut cargo(&["build", "--release", "--package", "nandle"]))? {
        Ok(())
    } else {
        Err("building nandle failed".into())
    }
}

fn compare(job: Job, theirs: &[Figures], ours: &[Figures]) -> Outcome<Vec<Comparison>> {
    let compared = |unit: &str, figure: fn(&Figures) -> f64| {
        let fio = Runs { name: "fio", figures: theirs.iter().map(figure).collect() };
        let nandle = Runs { name: "nandle", figures: ours.iter().map(figure).collect() };
        Comparison::new(&job.to_string(), unit, fio, nandle)
    };
    Ok(vec![
        compared("bandwidth, MB/s", |figures| figures.bandwidth_bytes_per_s / 1e6)?,
        compared("CPU, ns/request", |figures| figures.cpu_ns_per_request)?,
    ])
}

/// File that both read, removed on drop.
pub(super) struct BenchFile {
    pub(super) path: PathBuf,
}

impl BenchFile {
    fn make(directory: &std::path::Path) -> Outcome<Self> {
        Self::of_size(directory, FILE)
    }

    pub(super) fn of_size(directory: &std::path::Path, size: &str) -> Outcome<Self> {
        std::fs::create_dir_all(directory)?;
        let file = Self { path: directory.join(format!("bench-io-{}.nandle", std::process::id())) };
        contenders::make_file(&file.path, size)?;
        Ok(file)
    }
}

impl Drop for BenchFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
