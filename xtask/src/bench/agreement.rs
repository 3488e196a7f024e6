//! Compares probes of modelled drives with exhaustive runs: 60 s for reads, 10 min with writes.
//! Time is virtual, so the table is the same on every machine.

mod ablation;
mod cells;
mod drives;
mod options;
mod question;
mod reads;
mod table;
mod trials;
mod truth;
mod writes;

use serde::Serialize;

pub(super) use self::cells::Cell;
use self::drives::Drive;
use self::options::{Options, What};
use self::question::Answer;
use self::truth::Side;
use super::Bench;
use super::io::build;
use crate::command::answer;
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench = Bench {
    name: "agreement",
    about: "probes of modelled drives held against exhaustive runs (options: names of drives, --seeds=N, --reads, --writes, --truth=anew, --ablation)",
    run,
};

/// Results of one drive, as checked in.
#[derive(Debug, Serialize)]
struct Agreement {
    benchmark: &'static str,
    drive: &'static str,
    side: &'static str,
    date: String,
    method: &'static str,
    /// Answers by seed.
    probes: Vec<Vec<Answer>>,
}

const METHOD: &str = "Questions of reading are asked of `nandle probe model:NAME --budget 60s --read-only`, those of \
    writing of `--budget 10m`, each with every seed from 1 on, and both are held against `nandle sweep` over every \
    combination, each cell on a drive of its own, for as long as it takes: writes until each pattern has come to its own \
    steady state, of which the last half counts. What no sweep can find (commits, reads beside writes) is held against the \
    same experiment alone with an hour. There are three exhaustive runs of reading and two of writing, with seeds of their own; where they differ, a probe \
    agrees with all that lies between them. From sweeps the parameters are derived by the definitions of docs/profile.md, \
    written anew in `xtask/src/bench/agreement`. Sizes, depths and counts agree when they are at most one doubling apart, \
    figures within 10 %. The probe's interval plays no part in that; it holds when an exhaustive value lies in it.";

fn run(options: &[String]) -> Outcome {
    let options = Options::parse(options)?;
    build()?;
    match options.what {
        What::Truth => each(&options, truth::record),
        What::Ablation => {
            output::say(&ablation::run(&options.drives, options.seeds)?);
            Ok(())
        }
        What::Agreement => each(&options, |drive, side| agreement(drive, side, options.seeds)),
    }
}

fn agreement(drive: &Drive, side: Side, seeds: u64) -> Outcome {
    output::say(&format!("{}, {} …", drive.name, side.name()));
    let truth = truth::recorded(drive, side)?;
    let probe = |seed| match side {
        Side::Reads => trials::reading(drive, &truth, seed, None),
        Side::Writes => trials::writing(drive, &truth, seed),
    };
    let agreement = Agreement {
        benchmark: BENCH.name,
        drive: drive.name,
        side: side.name(),
        date: answer("date", &["-u", "+%Y-%m-%d"]).ok_or("cannot run `date` for today's date")?,
        method: METHOD,
        probes: (1..=seeds).map(probe).collect::<Outcome<_>>()?,
    };
    output::say(&table::write(&agreement, &workspace_root().join("benches"))?);
    Ok(())
}

/// Runs an action on each side of each drive. All read sides come first, as they take only minutes.
fn each(options: &Options, act: impl Fn(&Drive, Side) -> Outcome) -> Outcome {
    let sides = [Side::Reads, Side::Writes];
    let mut wanted = sides.into_iter().filter(|side| options.side.is_none_or(|only| only == *side));
    wanted.try_for_each(|side| options.drives.iter().try_for_each(|drive| act(drive, side)))
}
