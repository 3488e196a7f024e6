//! Runs of cubes: programs take turns, cold, in groups with equal limits.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::cubes::Cube;
use super::data::{Facts, GROUP_BYTES};
use super::options::Options;
use super::programs::Program;
use crate::bench::cgroup::Group;
use crate::bench::contained;
use crate::bench::machine::disk_numbers;
use crate::bench::python::Installed;
use crate::bench::speed::Speed;
use crate::{Outcome, output};

/// A run of a cube by a program.
#[derive(Debug, Serialize)]
pub(super) struct Run {
    pub(super) speed: Speed,
    pub(super) cube: String,
    pub(super) program: &'static str,
    pub(super) round: usize,
    #[serde(flatten)]
    pub(super) outcome: Took,
}

/// Figures of the run, or the reason for excluding it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Took {
    Figures(Figures),
    Failure { failure: String },
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Figures {
    pub(super) seconds: f64,
    pub(super) result_rows: u64,
    /// Bytes read from the disk, as the group accounts them.
    pub(super) read_bytes: Option<u64>,
    /// Peak with page cache.
    pub(super) peak_bytes: Option<u64>,
    pub(super) anonymous_bytes: Option<u64>,
}

/// Setting common to all runs.
pub(super) struct Bench<'a> {
    pub(super) folder: &'a Path,
    pub(super) options: &'a Options,
    pub(super) installed: &'a Installed,
    pub(super) facts: &'a Facts,
}

impl Bench<'_> {
    /// Runs all rounds of a cube. A program that failed isn't run again.
    pub(super) fn rounds(&self, cube: &Cube, speed: Speed) -> Outcome<Vec<Run>> {
        let mut programs = vec![Program::Nandle];
        programs.extend(&self.options.peers);
        let mut runs: Vec<Run> = Vec::new();
        for round in 0..self.options.rounds {
            let count = programs.len();
            programs.rotate_left(round.min(count));
            for program in &programs {
                let failed = |run: &Run| run.program == program.name() && run.figures().is_none();
                if runs.iter().any(failed) {
                    continue;
                }
                let Some(outcome) = self.once(*program, cube, speed)? else { continue };
                runs.push(Run { speed, cube: cube.name.clone(), program: program.name(), round, outcome });
            }
        }
        same_rows(cube, &runs)?;
        Ok(runs)
    }

    fn once(&self, program: Program, cube: &Cube, speed: Speed) -> Outcome<Option<Took>> {
        let Self { folder, options, installed, .. } = self;
        let Some(command) = program.cube(installed, cube, folder, options.memory_bytes) else {
            return Ok(None);
        };
        contained::forget(&program.store(folder))?;
        let group = Group::make(GROUP_BYTES);
        let disk = disk_numbers(folder);
        let group = group.zip(disk).and_then(|(group, disk)| group.with_reads(&disk, speed.limit()));
        if group.is_none() && speed == Speed::Limited {
            return Ok(Some(Took::failure("no cgroup limits reads here")));
        }
        let ran = contained::run(&command, group.as_ref(), folder)?;
        let said = match &ran.said {
            Ok(said) => said,
            Err(why) => return Ok(Some(Took::failure(why))),
        };
        let told = Told::parse(said, program)?;
        let needed_bytes =
            told.needed_bytes.unwrap_or_else(|| self.facts.needed_bytes(program, &cube.columns));
        let read_bytes = ran.taken.and_then(|taken| taken.read_bytes);
        if let Some(read) = read_bytes.filter(|read| !is_cold(*read, needed_bytes)) {
            let why = format!("it wasn't cold: {read} of {needed_bytes} bytes were read");
            output::say(&format!("  {} {}: {why}", program.name(), cube.name));
            return Ok(Some(Took::failure(&why)));
        }
        Ok(Some(Took::Figures(Figures {
            seconds: told.seconds,
            result_rows: told.rows,
            read_bytes,
            peak_bytes: ran.taken.and_then(|taken| taken.peak_bytes),
            anonymous_bytes: ran.taken.map(|taken| taken.anonymous_bytes),
        })))
    }
}

impl Run {
    pub(super) fn figures(&self) -> Option<&Figures> {
        match &self.outcome {
            Took::Figures(figures) => Some(figures),
            Took::Failure { .. } => None,
        }
    }
}

impl Took {
    fn failure(why: &str) -> Self {
        Self::Failure { failure: why.to_owned() }
    }
}

/// Returns true if nearly all needed bytes were read. The need is exact except for a few blocks
/// shared by columns.
fn is_cold(read_bytes: u64, needed_bytes: u64) -> bool {
    read_bytes.saturating_mul(10) >= needed_bytes.saturating_mul(9)
}

/// Parsed output of a program.
struct Told {
    seconds: f64,
    rows: u64,
    needed_bytes: Option<u64>,
}

impl Told {
    /// Parses the output. Each program times itself, from opening on.
    fn parse(said: &str, program: Program) -> Outcome<Self> {
        let told: Value =
            serde_json::from_str(said.lines().last().filter(|_| program != Program::Nandle).unwrap_or(said))?;
        let count = |at: &str| told.pointer(at).and_then(Value::as_u64);
        let missing = || format!("{}: no rows or seconds in {said}", program.name());
        let seconds = |at: &str| told.pointer(at).and_then(Value::as_f64).ok_or_else(missing);
        if program == Program::Nandle {
            let rows = count("/paths/0/cubes/0/result_rows").ok_or_else(missing)?;
            return Ok(Self {
                seconds: seconds("/elapsed_s")?,
                rows,
                needed_bytes: count("/paths/0/cubes/0/wanted_bytes"),
            });
        }
        Ok(Self {
            seconds: seconds("/seconds")?,
            rows: count("/rows").ok_or_else(missing)?,
            needed_bytes: None,
        })
    }
}

/// Checks that all results of a cube have equally many rows.
fn same_rows(cube: &Cube, runs: &[Run]) -> Outcome {
    let counts: Vec<(&str, u64)> =
        runs.iter().filter_map(|run| Some((run.program, run.figures()?.result_rows))).collect();
    let same = counts.iter().zip(counts.iter().skip(1)).all(|(one, next)| one.1 == next.1);
    if same {
        Ok(())
    } else {
        Err(format!("{}: results have different numbers of rows: {counts:?}", cube.name).into())
    }
}
