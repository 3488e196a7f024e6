//! Joins on modelled drives with each cluster size, in virtual time.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::rows::JoinKeys;
use super::told::{self, Told};
use crate::bench::io::nandle_program;
use crate::{Outcome, output};

const MEMORY: [&str; 2] = ["2MiB", "16MiB"];
const CLUSTERS: [&str; 9] = ["4KiB", "8KiB", "16KiB", "32KiB", "64KiB", "128KiB", "256KiB", "512KiB", "auto"];

/// A join with one cluster size.
struct Joined {
    name: &'static str,
    cluster_bytes: u64,
    fan_out: u64,
    divided: u64,
    in_pieces: u64,
    join_s: f64,
    predicted_s: f64,
}

/// Tables for each drive and memory. The drives' profiles must exist.
pub(super) fn pages(folder: &Path, rows: u64, profiles: &[(&str, PathBuf)]) -> Outcome<String> {
    let [left, right] = ["left", "right"].map(|name| folder.join(name));
    JoinKeys::Random.write(&left, rows)?;
    JoinKeys::EachOnce.write(&right, rows)?;
    let mut text = format!(
        "\n# Joins\n\nTwo tables of {rows} rows of 100 bytes on a key that each row of the first finds once in the second, by what one read brings. Clusters that \
         memory is too short for are left out. What reading and writing is expected to take counts no row that a filter leaves out. A run divides rows by other hashes than the one before, so joins differ by a percent or so.\n"
    );
    for (drive, profile) in profiles {
        for memory in MEMORY {
            output::say(&format!("{drive}: joins in {memory}"));
            let join = |name: &&'static str| join([&left, &right], drive, profile, memory, name).transpose();
            let joins = CLUSTERS.iter().filter_map(join).collect::<Outcome<Vec<_>>>()?;
            text += &table(&format!("{drive}, {memory}"), &joins);
        }
    }
    Ok(text)
}

/// Runs a join. Returns `None` if the cluster is too long for the memory.
fn join(
    files: [&Path; 2],
    drive: &str,
    profile: &Path,
    memory: &str,
    name: &'static str,
) -> Outcome<Option<Joined>> {
    let mut command = Command::new(nandle_program());
    command.args(["join", "--delimiter", ",", "--no-progress", "--json", "-o", "/dev/null"]);
    command.args(["--memory", memory, "--cluster", name, "--temporary", &format!("model:{drive}")]);
    let ran = command.arg("--profile").arg(profile).args(files).output()?;
    if !ran.status.success() {
        let message = String::from_utf8_lossy(&ran.stderr).into_owned();
        let is_too_long = name != "auto" && message.contains("memory");
        return if is_too_long { Ok(None) } else { Err(format!("{drive} {name}: {message}").into()) };
    }
    let told = Told::parse(&ran.stdout)?;
    Ok(Some(Joined {
        name,
        cluster_bytes: told.count("cluster_bytes")?,
        fan_out: told.count("fan_out")?,
        divided: told.count("divided_pairs")?,
        in_pieces: told.count("block_loops")?,
        join_s: told.seconds("joined_ns")?,
        predicted_s: told.seconds("predicted_ns")?,
    }))
}

fn table(title: &str, joins: &[Joined]) -> String {
    let heads = "cluster | partitions | pairs divided again | pairs in pieces | joining, s | predicted, s";
    let seconds: Vec<f64> = joins.iter().map(|joined| joined.join_s).collect();
    told::table(title, heads, joins.iter().map(Joined::row).collect(), &seconds)
}

impl Joined {
    fn row(&self) -> String {
        let Self { name, cluster_bytes, fan_out, divided, in_pieces, join_s, predicted_s } = self;
        let name =
            if *name == "auto" { format!("auto: {}KiB", cluster_bytes / 1024) } else { (*name).to_owned() };
        format!("| {name} | {fan_out} | {divided} | {in_pieces} | {join_s:.2} | {predicted_s:.2} |")
    }
}
