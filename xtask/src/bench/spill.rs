//! `nandle sort`: beside `sort` of GNU and DuckDB on a disk, and its choice of clusters on modelled drives.

mod clusters;
mod duckdb;
mod rows;
mod sorts;

use super::Bench;
use super::io::build;
use super::machine::machine;
use super::results::Results;
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench = Bench {
    name: "spill",
    about: "sorting files larger than memory, beside GNU sort and DuckDB (options: --only sort|clusters, --rows N, --in DIR)",
    run,
};

/// Rows of a file; 100 bytes each.
const ROWS: u64 = 10_000_000;
const PARTS: [&str; 2] = ["sort", "clusters"];

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
        let comparisons = sorts::comparisons(&folder, rows)?;
        let results = Results::new(BENCH.name, &sorts::method(rows), machine(&folder), comparisons)?;
        output::say(&results.write(&workspace_root().join("benches"))?);
    }
    if parts.contains(&"clusters") {
        clusters::record(&folder)?;
    }
    Ok(())
}
