//! TPC-H with workers bound to a core each: two workers compared with one and with a single
//! one-core process; workers with different devices, with shares by predicted time and with equal
//! shares; and the time to plan for workers and to connect to them.

mod coordinator;
mod fleet;
mod options;
mod record;
mod shares;

use self::coordinator::{Coordinator, Task};
use self::fleet::{ALONE, BY_TIME, EQUAL, Fleet, ONE, TWO};
use self::options::{Options, Part};
use self::record::Record;
use super::Bench;
use super::data_folder::DataFolder;
use super::machine::machine;
use super::release;
use super::results::Results;
use super::tpch;
use super::trial::{Trial, rounds};
use crate::{Outcome, output, workspace_root};

pub(super) const BENCH: Bench = Bench {
    name: "workers",
    about: "TPC-H by one worker and by two that are bound to a core each (options: --scale N, --rounds N, --only QUERY,…, --parts cores,devices,planning, --distribute-above TIME, --in DIR, --kept DIR)",
    run,
};

/// Memory setting of each process, and limit of a worker's group.
const MEMORY_BYTES: u64 = 1 << 30;
const GROUP_BYTES: u64 = 3 << 30;

fn run(words: &[String]) -> Outcome {
    let options = Options::parse(words)?;
    release::build()?;
    let data = DataFolder::open(options.kept.as_deref(), &options.folder.join("bench-workers"))?;
    let measured = measure(&options, &data);
    data.close()?;
    output::say(&measured?);
    Ok(())
}

/// Runs all parts, and rewrites the record after each task, so that an interrupted benchmark leaves
/// results.
fn measure(options: &Options, data: &DataFolder) -> Outcome<String> {
    let files = tpch::files(data, options.scale)?;
    let fleet = Fleet::start(options, data, &files)?;
    let coordinator = Coordinator { options, folder: data.path(), files: &files, fleet: &fleet };
    let results = Results::new(BENCH.name, "", machine(data.path()), Vec::new())?;
    let mut record = Record { results, shares: coordinator.all_shares()? };
    let mut table = String::new();
    rounds(
        &mut trials(options)?,
        options.rounds,
        &mut |task, name| coordinator.run(task, name),
        &mut |trials, done| {
            table = record.write(options, trials, done, &workspace_root().join("benches"))?;
            Ok(())
        },
    )?;
    Ok(table)
}

fn trials(options: &Options) -> Outcome<Vec<Trial<Task>>> {
    let has = |part| options.parts.contains(&part);
    let everyone: Vec<&'static str> = [(Part::Cores, ALONE), (Part::Cores, ONE), (Part::Cores, TWO)]
        .into_iter()
        .chain([(Part::Devices, EQUAL), (Part::Devices, BY_TIME)])
        .filter_map(|(part, name)| has(part).then_some(name))
        .collect();
    let mut trials = Vec::new();
    if has(Part::Planning) {
        let both = || vec![ALONE, TWO];
        trials.push(Trial::new("connecting".to_owned(), Task::Connecting, both()));
        trials.push(Trial::new("a short query".to_owned(), Task::Short, both()));
        for number in &options.queries {
            let task = Task::Planning(tpch::query(*number, options.scale)?);
            trials.push(Trial::new(format!("planning query {number}"), task, both()));
        }
    }
    for number in options.queries.iter().filter(|_| !everyone.is_empty()) {
        let task = Task::Query(tpch::query(*number, options.scale)?);
        trials.push(Trial::new(format!("query {number}"), task, everyone.clone()));
    }
    Ok(trials)
}
