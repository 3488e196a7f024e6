//! The paper's sort, and joins, on modelled drives with each cluster size. Time is virtual, so
//! every run gives the same figures.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::join_clusters;
use super::rows::Keys;
use super::told::{self, Told};
use crate::bench::io::nandle_program;
use crate::{Outcome, output, workspace_root};

/// The paper sorts 2 million tuples of 100 bytes in 2 MB of memory.
const ROWS: u64 = 2_000_000;
const DRIVES: [&str; 4] = ["barracuda-7200.10", "samsung-mcaqe32", "x25-e-64", "nvme-tlc"];
const CLUSTERS: [&str; 8] = ["2KiB", "4KiB", "8KiB", "16KiB", "32KiB", "64KiB", "128KiB", "auto"];

/// A sort with one cluster size.
struct Sorted {
    cluster_bytes: u64,
    runs: u64,
    merges: u64,
    last_fan_in: u64,
    run_s: f64,
    merge_s: f64,
    predicted_s: f64,
}

/// Writes `benches/spill/clusters.md`.
pub(super) fn record(folder: &Path) -> Outcome {
    let folder = folder.join("bench-spill-clusters");
    fs::create_dir_all(&folder)?;
    let input = folder.join("input");
    Keys::Random.write(&input, ROWS)?;
    let mut page = "# Clusters of sorts and joins on modelled drives\n\n`cargo xtask bench spill --only clusters`: the sort of the Enterprise study (claims C51 and C52), \
        2 million rows of 100 bytes with 2 MiB of memory, temporary data on a modelled drive, by what one read brings. `auto` is what `nandle sort` chooses \
        from a profile of ten minutes. Time is the drive's own; making runs and merging apart, input and output on another device. Every run gives the same figures.\n"
        .to_owned();
    let profiles = DRIVES.map(|drive| (drive, folder.join(format!("{drive}.json"))));
    for (drive, profile) in &profiles {
        output::say(drive);
        probe(drive, profile)?;
        let sorts = CLUSTERS.iter().map(|cluster| sort(&input, profile, &format!("model:{drive}"), cluster));
        page += &table(drive, &sorts.collect::<Outcome<Vec<_>>>()?);
    }
    page += &join_clusters::pages(&folder, ROWS, &profiles)?;
    fs::remove_dir_all(folder)?;
    let kept = workspace_root().join("benches/spill");
    fs::create_dir_all(&kept)?;
    fs::write(kept.join("clusters.md"), &page)?;
    output::say(&page);
    Ok(())
}

fn probe(drive: &str, profile: &Path) -> Outcome {
    let mut probe = Command::new(nandle_program());
    let budget = ["--budget", "10m", "--yes", "--no-progress", "--json", "--profile"];
    probe.args(["probe", &format!("model:{drive}")]).args(budget).arg(profile);
    let folder = profile.parent().unwrap_or(Path::new("."));
    let ran = probe.current_dir(folder).output()?;
    if !ran.status.success() {
        return Err(format!("probing {drive}: {}", String::from_utf8_lossy(&ran.stderr)).into());
    }
    Ok(())
}

fn sort(input: &Path, profile: &Path, target: &str, cluster: &str) -> Outcome<Sorted> {
    let mut command = Command::new(nandle_program());
    command.args([
        "sort",
        "--memory",
        "2MiB",
        "--no-progress",
        "--json",
        "-o",
        "/dev/null",
        "--cluster",
        cluster,
    ]);
    let ran = command.args(["--temporary", target, "--profile"]).arg(profile).arg(input).output()?;
    if !ran.status.success() {
        return Err(format!("{target} {cluster}: {}", String::from_utf8_lossy(&ran.stderr)).into());
    }
    let told = Told::parse(&ran.stdout)?;
    Ok(Sorted {
        cluster_bytes: told.count("cluster_bytes")?,
        runs: told.count("runs")?,
        merges: told.count("merges_before_the_last")?,
        last_fan_in: told.count("last_fan_in")?,
        run_s: told.seconds("run_ns")?,
        merge_s: told.seconds("merge_ns")?,
        predicted_s: told.seconds("predicted_merge_ns")?,
    })
}

fn table(drive: &str, sorts: &[Sorted]) -> String {
    let heads = "cluster | runs | merges before the last | the last joins | making runs, s | merging, s | predicted, s";
    let rows = CLUSTERS.iter().zip(sorts).map(|(name, sorted)| sorted.row(name));
    let seconds: Vec<f64> = sorts.iter().map(|sorted| sorted.merge_s).collect();
    told::table(drive, heads, rows.collect(), &seconds)
}

impl Sorted {
    fn row(&self, name: &str) -> String {
        let Self { cluster_bytes, runs, merges, last_fan_in, run_s, merge_s, predicted_s } = self;
        let name =
            if name == "auto" { format!("auto: {}KiB", cluster_bytes / 1024) } else { name.to_owned() };
        format!(
            "| {name} | {runs} | {merges} | {last_fan_in} | {run_s:.2} | {merge_s:.2} | {predicted_s:.2} |"
        )
    }
}
