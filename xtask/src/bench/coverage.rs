//! Coverage of a probe's 95 % intervals: probes of modelled drives with random parameters. Time is
//! virtual, so the table is the same on every machine.

mod drives;
mod options;
mod reads;
mod tally;
mod writes;

use std::fs;
use std::path::Path;

use self::drives::RandomDrive;
use self::options::Options;
use self::tally::Tally;
use super::Bench;
use crate::command::{answer, build_folder, cargo, succeeds};
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench = Bench {
    name: "coverage",
    about: "how often 95 % intervals cover the truth, over random drives (options: --drives=N, --seeds=N, --reads, --writes)",
    run,
};

const METHOD: &str = "Flash drives with random parameters (a seed each, printed in the table), hybrid and page-mapped in turns, with \
    and without a write buffer that acknowledges early. Each is probed with every seed: `nandle probe --budget 60s --read-only` for \
    plateaus and cells, `--budget 10m --only write-patterns,smallest-block` for the others. The truth comes from the models alone: each \
    cell is run for itself by `nandle sweep`, for long; focused area and partitions are bisected to 5 % between the last one that is \
    cheap and the first that isn't, and an interval covers the truth when it reaches into that gap. Cells have two long runs; \
    an interval covers the truth when it reaches between them.";

fn run(options: &[String]) -> Outcome {
    let options = Options::parse(options)?;
    // Time is virtual, so a debug build suffices.
    if !succeeds(&mut cargo(&["build", "--quiet", "--package", "nandle"]))? {
        return Err("the program doesn't build".into());
    }
    let folder = build_folder().join("bench-coverage");
    fs::create_dir_all(&folder)?;
    let mut tally = Tally::default();
    for seed in 1..=options.drives {
        let drive = RandomDrive::new(seed, &folder)?;
        output::say(&format!("drive {seed}: {} …", drive.about));
        tally.begin(&drive.about);
        if options.reads {
            reads::count(&drive, options.seeds, &mut tally)?;
        }
        if options.writes {
            writes::count(&drive, options.seeds, &mut tally)?;
        }
        output::say(&tally.last_drive());
    }
    record(&tally, &options, &workspace_root().join("benches").join(BENCH.name))
}

fn record(tally: &Tally, options: &Options, folder: &Path) -> Outcome {
    let date = answer("date", &["-u", "+%Y-%m-%d"]).ok_or("cannot run `date` for today's date")?;
    let text = format!(
        "# Benchmark `coverage`, {date}\n\n{}\n\n{METHOD} {} seeds a drive.\n\nIntervals that miss: [latest.json](latest.json)\n",
        tally.table(),
        options.seeds
    );
    output::say(&text);
    fs::create_dir_all(folder)?;
    fs::write(folder.join("latest.json"), serde_json::to_string_pretty(tally)? + "\n")?;
    fs::write(folder.join("latest.md"), text)?;
    Ok(())
}
