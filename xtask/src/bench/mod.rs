//! Benchmarks, a file for each, with shared parts: the machine, the statistics of paired runs, and
//! the results under `benches/NAME/`.

mod agreement;
mod amounts;
mod background;
mod cgroup;
mod clock;
mod columns;
mod conditions;
mod contained;
mod coverage;
mod data_folder;
mod example;
mod flush;
mod grouping;
mod io;
mod machine;
mod model;
mod pages;
mod predicates;
mod probe;
mod python;
mod reads;
mod release;
mod results;
mod scans;
mod serve;
mod speed;
mod spill;
mod sql;
mod stats;
mod tpch;
mod trial;
mod workers;

use crate::{Outcome, output};

/// A benchmark, by its name in `cargo xtask bench`.
struct Bench {
    name: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Outcome,
}

const BENCHES: &[Bench] = &[
    agreement::BENCH,
    clock::BENCH,
    columns::BENCH,
    coverage::BENCH,
    flush::BENCH,
    grouping::BENCH,
    io::BENCH,
    model::BENCH,
    pages::BENCH,
    predicates::BENCH,
    probe::BENCH,
    reads::BENCH,
    scans::BENCH,
    serve::BENCH,
    spill::BENCH,
    sql::BENCH,
    workers::BENCH,
];

/// Runs a benchmark by name, or lists all without a name.
///
/// # Errors
/// There is no such benchmark, or it failed.
pub(crate) fn run(name: Option<&str>, options: &[String]) -> Outcome {
    let Some(name) = name else {
        for bench in BENCHES {
            output::say(&format!("{:12} {}", bench.name, bench.about));
        }
        return Ok(());
    };
    match BENCHES.iter().find(|bench| bench.name == name) {
        Some(bench) => (bench.run)(options),
        None => Err(format!("no benchmark is named {name:?}; `cargo xtask bench` lists them").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_errors() {
        let error = run(Some("no-such-benchmark"), &[]).unwrap_err();
        assert!(error.to_string().contains("no-such-benchmark"));
        assert!(run(None, &[]).is_ok());
    }
}
