//! Compares `nandle sort` and `nandle join` with GNU sort and join, `DuckDB` and `DataFusion` on a
//! disk, and evaluates their choice of clusters on modelled drives.

mod clusters;
mod join_clusters;
mod joins;
mod python;
mod rows;
mod sorts;
mod told;
mod trial;

use std::fs;
use std::path::Path;

use self::trial::Tried;
use super::Bench;
use super::io::build;
use super::machine::machine;
use super::python::Installed;
use super::results::Results;
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench = Bench {
    name: "spill",
    about: "sorting and joining files larger than memory, beside GNU's tools, DuckDB and DataFusion (options: --only sort|join|clusters, --rows N, --in DIR)",
    run,
};

/// Rows of a file, 100 bytes each.
const ROWS: u64 = 10_000_000;
const PARTS: [&str; 3] = ["sort", "join", "clusters"];

fn run(options: &[String]) -> Outcome {
    let mut parts = PARTS.to_vec();
    let (mut rows, mut folder) = (ROWS, workspace_root().join("target"));
    let mut words = options.iter();
    while let Some(option) = words.next() {
        match (option.as_str(), words.next()) {
            ("--only", Some(part)) if PARTS.contains(&part.as_str()) => parts = vec![part],
            ("--rows", Some(count)) => rows = count.parse()?,
            ("--in", Some(path)) => folder = path.into(),
            other => {
                return Err(format!(
                    "`spill` takes --only and one of {PARTS:?}, --rows N, --in DIR; got {other:?}"
                )
                .into());
            }
        }
    }
    build()?;
    if parts.contains(&"sort") {
        let tried = with_programs(&folder, |folder, installed| sorts::compare(folder, rows, installed))?;
        record(BENCH.name, &sorts::method(rows), &folder, tried)?;
    }
    if parts.contains(&"join") {
        let tried = with_programs(&folder, |folder, installed| joins::compare(folder, rows, installed))?;
        record("spill-join", &joins::method(rows), &folder, tried)?;
    }
    if parts.contains(&"clusters") {
        clusters::record(&folder)?;
    }
    Ok(())
}

/// Runs `work` in a temporary folder, with the programs from `PyPI`.
fn with_programs(folder: &Path, work: impl FnOnce(&Path, &Installed) -> Outcome<Tried>) -> Outcome<Tried> {
    let folder = folder.join("bench-spill");
    fs::create_dir_all(&folder)?;
    let tried = Installed::below(&folder, &python::PACKAGES).and_then(|installed| work(&folder, &installed));
    fs::remove_dir_all(folder)?;
    tried
}

fn record(name: &str, method: &str, folder: &Path, tried: Tried) -> Outcome {
    let mut results = Results::new(name, method, machine(folder), tried.comparisons)?;
    results.failures = tried.failures;
    output::say(&results.write(&workspace_root().join("benches"))?);
    Ok(())
}
