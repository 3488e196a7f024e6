//! Cost of reading the clock. Every measured latency includes one reading, which limits its
//! resolution.

use std::hint::black_box;
use std::time::{Instant, SystemTime};

use super::Bench;
use super::machine::machine;
use super::results::{Comparison, Results, Runs};
use super::stats::paired;
use crate::{Outcome, output, workspace_root};

const PAIRS: usize = 21;
const READINGS: u32 = 200_000;

pub(super) const BENCH: Bench =
    Bench { name: "clock", about: "the cost of reading the monotonic and the calendar clock", run };

fn run(options: &[String]) -> Outcome {
    if let Some(option) = options.first() {
        return Err(format!("`clock` takes no option, got {option:?}").into());
    }
    let (calendar, monotonic) =
        paired(PAIRS, || Ok(ns_per_call(SystemTime::now)), || Ok(ns_per_call(Instant::now)))?;
    let comparison = Comparison::new(
        "one reading",
        "ns",
        Runs { name: "calendar clock", figures: calendar },
        Runs { name: "monotonic clock", figures: monotonic },
    )?;
    let root = workspace_root();
    let method = format!("{PAIRS} pairs of runs, {READINGS} readings in each run, one thread.");
    let results = Results::new(BENCH.name, &method, machine(&root), vec![comparison])?;
    output::say(&results.write(&root.join("benches"))?);
    Ok(())
}

fn ns_per_call<T>(call: impl Fn() -> T) -> f64 {
    let start = Instant::now();
    for _ in 0..READINGS {
        black_box(call());
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(READINGS)
}
