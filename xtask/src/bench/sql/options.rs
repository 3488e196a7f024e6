//! The command line of `bench sql`.

use std::path::PathBuf;

use crate::bench::amounts::{bytes, count};
use crate::bench::columns::cubes::{self, Cube};
use crate::bench::speed::Speed;
use crate::bench::tpch;
use crate::{Outcome, workspace_root};

#[derive(Debug)]
pub(super) struct Options {
    pub(super) part: Part,
    pub(super) scale: f64,
    pub(super) rounds: usize,
    pub(super) speeds: Vec<Speed>,
    /// Also load the files into tables.
    pub(super) has_tables: bool,
    /// Rows of the table of flights.
    pub(super) rows: u64,
    pub(super) probe_budget: String,
    pub(super) folder: PathBuf,
    /// Folder of data to use and keep.
    pub(super) kept: Option<PathBuf>,
}

/// Part of the benchmark.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Queries of TPC-H, by number.
    Queries(Vec<u32>),
    /// Memory usage of queries with each of several settings.
    Memories(Vec<u32>, Vec<u64>),
    Cubes(Vec<Cube>),
}

const KNOWN: &str = "--scale, --rounds, --only, --speeds, --tables, --memories, --cubes, --rows, --probe-budget, --in, --kept";

impl Options {
    pub(super) fn parse(words: &[String]) -> Outcome<Self> {
        let mut options = Self {
            part: Part::Queries(Vec::new()),
            scale: 10.0,
            rounds: 5,
            speeds: Speed::COLD.to_vec(),
            has_tables: false,
            rows: 10_000_000,
            probe_budget: "60s".to_owned(),
            folder: workspace_root().join("target"),
            kept: None,
        };
        let (mut only, mut memories, mut is_of_cubes) = (None, None, false);
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--tables" => options.has_tables = true,
                "--cubes" => is_of_cubes = true,
                name => {
                    let value = words.next().ok_or_else(|| format!("`sql`: {name} needs a value"))?;
                    match name {
                        "--only" => only = Some(value.as_str()),
                        "--memories" => memories = Some(value.as_str()),
                        _ => options.set(name, value)?,
                    }
                }
            }
        }
        options.part = part(only, memories, is_of_cubes)?;
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Outcome {
        match name {
            "--scale" => self.scale = value.parse()?,
            "--rounds" => self.rounds = value.parse()?,
            "--speeds" => self.speeds = Speed::list(value)?,
            "--rows" => self.rows = count(value)?,
            "--probe-budget" => value.clone_into(&mut self.probe_budget),
            "--in" => self.folder = value.into(),
            "--kept" => self.kept = Some(value.into()),
            other => return Err(format!("`sql` takes {KNOWN}; got {other}").into()),
        }
        Ok(())
    }
}

fn part(only: Option<&str>, memories: Option<&str>, is_of_cubes: bool) -> Outcome<Part> {
    let queries = || only.map_or_else(|| Ok(tpch::queries()), tpch::numbers);
    match (memories, is_of_cubes) {
        (None, false) => Ok(Part::Queries(queries()?)),
        (Some(memories), false) => {
            let memories = memories.split(',').map(bytes).collect::<Outcome<Vec<u64>>>()?;
            Ok(Part::Memories(queries()?, memories))
        }
        (None, true) => Ok(Part::Cubes(only.map_or_else(|| Ok(cubes::all()), cubes::named)?)),
        (Some(_), true) => Err("`sql`: --memories is of TPC-H's queries; leave out --cubes".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Outcome<Options> {
        Options::parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn without_options_it_is_cold_tpch_at_scale_10() {
        let options = parse("").unwrap();
        assert_eq!((options.scale, options.rounds, options.has_tables), (10.0, 5, false));
        assert_eq!(options.part, Part::Queries((1..=22).collect()));
        assert_eq!((options.speeds, options.kept), (vec![Speed::AsIs, Speed::Limited], None));
    }

    #[test]
    fn options_are_read() {
        let options =
            parse("--scale 0.5 --rounds 1 --only 1,22 --in /tmp --kept /data --speeds warm --tables")
                .unwrap();
        assert_eq!((options.scale, options.rounds, options.folder), (0.5, 1, PathBuf::from("/tmp")));
        assert_eq!((options.part, options.has_tables), (Part::Queries(vec![1, 22]), true));
        assert_eq!((options.speeds, options.kept), (vec![Speed::Warm], Some(PathBuf::from("/data"))));
        for wrong in ["--scale", "--colour red", "--only 23", "--only x", "--speeds slow", "--memories 7"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn one_part_is_chosen() {
        let options = parse("--memories 2GiB,256MiB --only 6").unwrap();
        assert_eq!(options.part, Part::Memories(vec![6], vec![2 << 30, 256 << 20]));
        let options = parse("--cubes --rows 2M --only delay-month,diverted-year").unwrap();
        let Part::Cubes(cubes) = options.part else { panic!("cubes were asked for") };
        assert_eq!((cubes.len(), options.rows), (2, 2_000_000));
        assert!(parse("--cubes --memories 2GiB").is_err() && parse("--cubes --only 6").is_err());
    }
}
