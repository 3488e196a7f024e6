//! Options of the benchmark.

use std::path::PathBuf;

use super::cubes::{self, Cube};
use super::programs::Program;
use crate::bench::amounts::count;
use crate::{Outcome, workspace_root};

pub(super) struct Options {
    pub(super) rows: u64,
    pub(super) rounds: usize,
    pub(super) cubes: Vec<Cube>,
    pub(super) peers: Vec<Program>,
    /// Also run with the read limits of a small cloud volume.
    pub(super) is_limited_too: bool,
    /// Memory setting of each program.
    pub(super) memory_bytes: u64,
    pub(super) folder: PathBuf,
    /// Keep the data for later runs.
    pub(super) keeps: bool,
}

impl Options {
    pub(super) fn parse(words: &[String]) -> Outcome<Self> {
        let mut options = Self {
            rows: 10_000_000,
            rounds: 3,
            cubes: cubes::all(),
            peers: Program::PEERS.to_vec(),
            is_limited_too: false,
            memory_bytes: 768 << 20,
            folder: workspace_root().join("target"),
            keeps: false,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--limited" => options.is_limited_too = true,
                "--keep" => options.keeps = true,
                name => {
                    let value = words.next().ok_or_else(|| format!("`columns`: {name} needs a value"))?;
                    options.set(name, value)?;
                }
            }
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Outcome {
        match name {
            "--rows" => self.rows = count(value)?,
            "--rounds" => self.rounds = value.parse()?,
            "--cubes" if value == "all" => {}
            "--cubes" => self.cubes = cubes::named(value)?,
            "--peers" => self.peers = Program::named(value)?,
            "--memory" => self.memory_bytes = value.trim_end_matches("MiB").parse::<u64>()? << 20,
            "--in" => self.folder = value.into(),
            other => return Err(format!("`columns` takes --rows, --rounds, --cubes, --peers, --memory, --in, --limited, --keep; got {other}").into()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    fn parse(line: &str) -> Result<Options, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&words).map_err(|error| error.to_string())
    }

    #[test]
    fn options_are_read() {
        let options =
            parse("--rows 2M --cubes delay-month,diverted-year --peers polars --limited --memory 64MiB")
                .unwrap();
        assert_eq!((options.rows, options.cubes.len(), options.peers.len()), (2_000_000, 2, 1));
        assert!(options.is_limited_too && options.memory_bytes == 64 << 20);
        assert_eq!(parse("").unwrap().cubes.len(), 69);
        for wrong in ["--cubes delay-decade", "--peers other", "--rows", "--colour red"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
