//! TPC-H: files from `tpchgen-cli`, and queries.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::data_folder::DataFolder;
use super::python::{Installed, Package};
use crate::command::succeeds;
use crate::{Outcome, workspace_root};

const QUERIES: u32 = 22;

/// Generator of the files, a program of its own.
const GENERATOR: [Package; 1] = [Package { name: "tpchgen-cli", version: "4.0.0", needs: &[], program: "" }];

/// Parquet files of a scale, generated if missing.
pub(super) fn files(data: &DataFolder, scale: f64) -> Outcome<PathBuf> {
    data.have(&format!("tpch-{scale}"), |folder| {
        let installed = Installed::below(data.path(), &GENERATOR)?;
        let mut generator = Command::new(installed.folder().join("environment/bin/tpchgen-cli"));
        generator.args(["parquet", "-q", "-s", &scale.to_string(), "--output-dir"]).arg(folder);
        if succeeds(&mut generator)? { Ok(()) } else { Err("tpchgen-cli made no files".into()) }
    })
}

/// Files of a folder, one per table.
pub(super) fn tables(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut tables =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Outcome<Vec<PathBuf>>>()?;
    tables.sort();
    Ok(tables)
}

pub(super) fn queries() -> Vec<u32> {
    (1..=QUERIES).collect()
}

/// Text of a query. The fraction in query 11 depends on the scale.
pub(super) fn query(number: u32, scale: f64) -> Outcome<String> {
    let path = workspace_root().join(format!("crates/query/engine/tests/tpch/{number:02}.sql"));
    Ok(fs::read_to_string(path)?.replace("0.0001", &format!("{:.9}", 0.0001 / scale)))
}

/// Parses a list of queries such as `1,6,14`.
pub(super) fn numbers(text: &str) -> Outcome<Vec<u32>> {
    let numbers = text.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>()?;
    match numbers.iter().find(|number| !(1..=QUERIES).contains(*number)) {
        Some(wrong) => Err(format!("there is no query {wrong}; they are 1 to {QUERIES}").into()),
        None => Ok(numbers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_by_the_scale() {
        let query = query(11, 10.0).unwrap();
        assert!(query.contains("0.000010000"), "{query}");
    }

    #[test]
    fn queries_are_chosen_by_number() {
        assert_eq!(numbers("1,22").unwrap(), [1, 22]);
        assert_eq!(queries().len(), 22);
        assert!(numbers("23").is_err() && numbers("x").is_err());
    }
}
