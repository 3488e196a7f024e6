//! Compares a one-minute probe with exhaustive sweeps. Equally long sweeps run before and after the
//! probe, which also show the spread of sweeps on this disk.

mod agreement;
mod knee;
mod runs;
mod table;

use std::path::PathBuf;

use serde::Serialize;

use self::agreement::{Compared, Noise, Question};
pub(crate) use self::knee::{efficient_block, knee, plateau};
pub(crate) use self::runs::Cells;
use super::Bench;
use super::io::{BenchFile, build};
use super::machine::{Machine, machine};
use crate::command::answer;
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench =
    Bench { name: "probe", about: "a probe of 60 s held against sweeps as long (option: --in DIR)", run };

/// Size of the file that all read.
const FILE: &str = "4GiB";
/// Sweeps before and after the probe.
const SWEEPS_BESIDE: u32 = 2;

/// Results as checked in.
#[derive(Debug, Serialize)]
struct Agreement {
    benchmark: &'static str,
    date: String,
    method: String,
    machine: Machine,
    noise: Noise,
    /// Tolerated relative error of a cell.
    tolerance: f64,
    /// Median ratio of the probe's bandwidth to that of the sweeps.
    pace: f64,
    questions: Vec<Question>,
    cells: Vec<Compared>,
}

fn run(options: &[String]) -> Outcome {
    let directory = match options {
        [] => workspace_root().join("target"),
        [option, directory] if option == "--in" => PathBuf::from(directory),
        other => return Err(format!("`probe` takes --in DIR, got {other:?}").into()),
    };
    build()?;
    let file = BenchFile::of_size(&directory, FILE)?;
    let mut sweeps = Vec::new();
    let mut sweep = |number: u32| {
        output::say(&format!("sweep {} of {} …", number + 1, 2 * SWEEPS_BESIDE));
        sweeps.push(runs::sweep(&file.path, number)?);
        Outcome::Ok(())
    };
    (0..SWEEPS_BESIDE).try_for_each(&mut sweep)?;
    output::say("probe …");
    let profile = runs::probe(&file.path, &directory)?;
    (SWEEPS_BESIDE..2 * SWEEPS_BESIDE).try_for_each(&mut sweep)?;
    let noise = agreement::noise(&sweeps);
    let tolerance = noise.p90.max(agreement::TOLERANCE);
    let (cells, pace) = agreement::compare(&sweeps, &runs::believed(&profile)?, tolerance);
    let agreement = Agreement {
        benchmark: BENCH.name,
        date: answer("date", &["-u", "+%Y-%m-%d"]).ok_or("cannot run `date` for today's date")?,
        method: method(),
        machine: machine(&directory),
        noise,
        tolerance,
        pace,
        questions: agreement::questions(&sweeps, &profile)?,
        cells,
    };
    output::say(&table::write(&agreement, &workspace_root().join("benches"))?);
    Ok(())
}

fn method() -> String {
    format!(
        "Random reads of one file of {FILE}, direct I/O: {SWEEPS_BESIDE} sweeps of the probe's grid, `nandle probe --budget \
         60s`, and {SWEEPS_BESIDE} sweeps more. A sweep comes by each cell {} times for {} ms, each time in another random \
         order, so it reads about as long as the probe does. Noise is what the same cell of two sweeps differs by, over all \
         cells and pairs of sweeps, once the pace (the median over all cells of one by the other) is taken out. A \
         sweep's knee is the least depth within 10 % of the block size's plateau, its efficient block the smallest within \
         10 % of the best, as docs/profile.md defines them. The probe's value agrees when it is at most one step \
         of the grid from that of all sweeps together, its interval when it contains that or lies one step from \
         it. The last column says how many of the sweeps are within a step of all the others together: no \
         probe can know better what the disk itself leaves open. A cell is right when, the pace taken out, it is within \
         5 % of the mean of all sweeps, or within what one cell in ten of two sweeps differs by, where that is more.",
        runs::PASSES,
        runs::MILLISECONDS_PER_PASS
    )
}
