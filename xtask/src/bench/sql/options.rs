//! The command line of `bench sql`, and the queries.

use std::fs;
use std::path::PathBuf;

use crate::{Outcome, workspace_root};

const QUERIES: u32 = 22;

#[derive(Debug)]
pub(super) struct Options {
    pub(super) scale: f64,
    pub(super) rounds: usize,
    /// Numbers of queries.
    pub(super) queries: Vec<u32>,
    pub(super) folder: PathBuf,
}

impl Options {
    pub(super) fn parse(words: &[String]) -> Outcome<Self> {
        let (queries, folder) = ((1..=QUERIES).collect(), workspace_root().join("target"));
        let mut options = Self { scale: 10.0, rounds: 5, queries, folder };
        let (pairs, rest) = words.as_chunks::<2>();
        for [name, value] in pairs {
            match name.as_str() {
                "--scale" => options.scale = value.parse()?,
                "--rounds" => options.rounds = value.parse()?,
                "--only" => options.queries = numbers(value)?,
                "--in" => options.folder = value.into(),
                other => {
                    return Err(format!("`sql` takes --scale, --rounds, --only, --in; got {other}").into());
                }
            }
        }
        match rest {
            [] => Ok(options),
            [name, ..] => Err(format!("`sql`: {name} needs a value").into()),
        }
    }

    /// The text of a query. The share that query 11 asks for is by the scale.
    pub(super) fn query(&self, number: u32) -> Outcome<String> {
        let path = workspace_root().join(format!("crates/query/engine/tests/tpch/{number:02}.sql"));
        Ok(fs::read_to_string(path)?.replace("0.0001", &format!("{:.9}", 0.0001 / self.scale)))
    }
}

/// `1,6,14`.
fn numbers(text: &str) -> Outcome<Vec<u32>> {
    let numbers = text.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>()?;
    match numbers.iter().find(|number| !(1..=QUERIES).contains(*number)) {
        Some(wrong) => Err(format!("`sql`: there is no query {wrong}; they are 1 to {QUERIES}").into()),
        None => Ok(numbers),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Outcome<Options> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read() {
        let options = parse("--scale 0.5 --rounds 1 --only 1,22 --in /tmp").unwrap();
        assert_eq!((options.scale, options.rounds, options.folder), (0.5, 1, PathBuf::from("/tmp")));
        assert_eq!(options.queries, [1, 22]);
        for wrong in ["--scale", "--colour red", "--only 23", "--only x"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_share_is_by_the_scale() {
        let query = parse("--scale 10").unwrap().query(11).unwrap();
        assert!(query.contains("0.000010000"), "{query}");
    }
}
