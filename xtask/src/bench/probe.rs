//! Whether a probe of a minute finds what an exhaustive sweep finds: one probe between two sweeps of the same grid,
//! which also show how far two sweeps are from one another on this disk.

mod agreement;
mod runs;
mod table;

use std::path::PathBuf;

use serde::Serialize;

use self::agreement::{Fitted, Question};
use super::Bench;
use super::io::{BenchFile, build};
use super::machine::{Machine, machine};
use crate::command::answer;
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench =
    Bench { name: "probe", about: "a probe of 60 s held against two full sweeps (option: --in DIR)", run };

/// Size of the file that all three read.
const FILE: &str = "4GiB";

/// What is checked in.
#[derive(Debug, Serialize)]
struct Agreement {
    benchmark: &'static str,
    date: String,
    method: String,
    machine: Machine,
    /// Half the cells of the two sweeps differ by more than this share.
    noise_median: f64,
    /// One cell in ten differs by more.
    noise_p90: f64,
    questions: Vec<Question>,
    fitted: Vec<Fitted>,
}

fn run(options: &[String]) -> Outcome {
    let directory = match options {
        [] => workspace_root().join("target"),
        [option, directory] if option == "--in" => PathBuf::from(directory),
        other => return Err(format!("`probe` takes --in DIR, got {other:?}").into()),
    };
    build()?;
    let file = BenchFile::of_size(&directory, FILE)?;
    output::say("first sweep …");
    let first = runs::sweep(&file.path)?;
    output::say("probe …");
    let probe = runs::probe(&file.path, &directory)?;
    output::say("second sweep …");
    let second = runs::sweep(&file.path)?;
    let noise = agreement::noise(&first, &second);
    let agreement = Agreement {
        benchmark: "probe",
        date: answer("date", &["-u", "+%Y-%m-%d"]).ok_or("cannot run `date` for today's date")?,
        method: format!(
            "Random reads of one file of {FILE}, direct I/O: a sweep of the grid ({} s a cell), `nandle probe --budget \
             60s`, and the same sweep again. A sweep's knee is the least depth within 10 % of the block size's best; its \
             efficient block the smallest within 10 % of the best of all. Agreement: the probe's interval contains a \
             sweep's value, or lies one step of the grid from it. A fitted cell is right when it is within 5 % of the \
             mean of both sweeps, or within what one cell in ten of the two sweeps differs by, where that is more.",
            runs::SECONDS_PER_CELL
        ),
        machine: machine(&directory),
        noise_median: noise.0,
        noise_p90: noise.1,
        questions: agreement::questions(&first, &second, &probe)?,
        fitted: agreement::fitted(&first, &second, &probe, noise.1.max(0.05))?,
    };
    output::say(&table::write(&agreement, &workspace_root().join("benches"))?);
    Ok(())
}
