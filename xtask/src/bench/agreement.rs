//! Whether probes of modelled drives find what exhaustive runs find: 60 s without writes, 10 min with them, all in
//! virtual time, so that every machine gives the same table.

mod cells;
mod drives;
mod question;
mod reads;
mod table;
mod writes;

use serde::Serialize;
use serde_json::Value;

use self::drives::{DRIVES, Drive};
use self::question::Question;
use super::Bench;
use super::io::build;
use crate::command::answer;
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench = Bench {
    name: "agreement",
    about: "probes of modelled drives held against exhaustive runs (option: names of drives)",
    run,
};

/// What is checked in, of each drive by itself.
#[derive(Debug, Serialize)]
struct Agreement {
    benchmark: &'static str,
    drive: &'static str,
    date: String,
    method: &'static str,
    questions: Vec<Question>,
}

const METHOD: &str = "Questions of reading are asked of `nandle probe model:NAME --budget 60s --read-only`, those of \
    writing of `--budget 10m`, and both are held against `nandle sweep` over every combination, each cell on a drive of its \
    own, for as long as it takes: writes until each pattern has come to its own steady state, of which the last half counts. \
    What no sweep can find (commits, reads beside writes) is held against the same experiment alone with an hour. From sweeps \
    the parameters are derived by the definitions of docs/profile.md, written anew in `xtask/src/bench/agreement`. Sizes, depths \
    and counts agree when they are at most one doubling apart, figures within 10 %. The probe's interval plays no part \
    in that.";

fn run(options: &[String]) -> Outcome {
    let unknown = options.iter().find(|name| DRIVES.iter().all(|drive| drive.name != **name));
    if let Some(name) = unknown {
        let known: Vec<&str> = DRIVES.iter().map(|drive| drive.name).collect();
        return Err(format!("`agreement` knows no drive {name:?}; it knows {}", known.join(", ")).into());
    }
    build()?;
    let wanted = |drive: &&Drive| options.is_empty() || options.iter().any(|name| name == drive.name);
    for drive in DRIVES.iter().filter(wanted) {
        output::say(&format!("{} …", drive.name));
        let agreement = Agreement {
            benchmark: BENCH.name,
            drive: drive.name,
            date: answer("date", &["-u", "+%Y-%m-%d"]).ok_or("cannot run `date` for today's date")?,
            method: METHOD,
            questions: questions(drive)?,
        };
        output::say(&table::write(&agreement, &workspace_root().join("benches"))?);
    }
    Ok(())
}

fn questions(drive: &Drive) -> Outcome<Vec<Question>> {
    let short = drive.probe(&["--budget=60s", "--read-only"])?;
    let mut questions = reads::questions(drive, derived(&short)?)?;
    let long = drive.probe(&["--budget=10m"])?;
    questions.extend(writes::questions(drive, derived(&long)?)?);
    Ok(questions)
}

fn derived(profile: &Value) -> Outcome<&Value> {
    profile.get("derived").ok_or_else(|| "a profile without `derived`".into())
}
