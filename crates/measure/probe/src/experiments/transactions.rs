//! *What does a short transaction wait for?*
//!
//! Two figures for a first look at a device: the time of a database's default commit with its 99th
//! percentile, and the rate of a mixed page load with 70 % random reads and 30 % random writes, at
//! depths 1 and 16. All three loads take turns. [`flush`](super::flush) times commits in more ways
//! and takes a minute.
//!
//! The experiment writes some twenty MiB of commits and at most a hundred MiB at random positions
//! of the area.

use nandle_io::Nanos;
use nandle_profile::experiments::{MixedLoad, Transactions};
use nandle_profile::{Conducted, Experiments, OperationKind};
use nandle_units::format_bytes;

use super::flush::UsualCommit;
use super::rounds::{Requests, Rounds, Sample, Seeds, Turns, area_from};
use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::{LoadError, Measurement};
use crate::pattern::Random;

/// See the [module](self).
pub(super) struct ShortTransactions;

/// Page size of `PostgreSQL`, and the share of reads in short transactions.
const PAGE_BYTES: u64 = 8 << 10;
const READ_PERCENT: u8 = 70;
/// One session, and the number of sessions assumed by the advice for short transactions.
const DEPTHS: [u32; 2] = [1, 16];
/// Longer than in other experiments, for slow devices: a disk turns 120 times a second.
const SLICE_MAX: Nanos = Nanos::from_millis(1000);
const SLICE_REQUESTS_MAX: u64 = 750;
/// Enough for a thousand commits even if some slices are cut short.
const ROUNDS_MAX: usize = 22;

/// Load of one turn.
#[derive(Clone, Copy)]
enum Turn {
    Commit,
    /// Mixed load: queue depth, and index of its sum.
    Mixed(u32, usize),
}

impl Experiment for ShortTransactions {
    type Findings = Transactions;

    fn name(&self) -> &'static str {
        "transactions"
    }

    fn question(&self) -> &'static str {
        "What does a short transaction wait for?"
    }

    fn is_essential(&self) -> bool {
        true
    }

    fn cost(&self, circumstances: &Circumstances) -> Result<Cost, String> {
        if !circumstances.shape.writable {
            return Err("the device was opened for reading".into());
        }
        let slices = DEPTHS.map(|depth| requests(circumstances, depth).bytes_max());
        let mixed = ROUNDS_MAX as u64 * slices.iter().sum::<u64>();
        Ok(Cost {
            time_least: Nanos::from_secs(10),
            time_wanted: Nanos::from_secs(20),
            write_bytes_max: UsualCommit::bytes_wanted(circumstances, ROUNDS_MAX)
                + mixed * u64::from(100 - READ_PERCENT) / 100,
        })
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<Transactions>> {
        &mut experiments.transactions
    }

    fn run(&self, lab: &mut Lab<'_>, findings: &mut Transactions) -> Result<(), LoadError> {
        let depths: Vec<u32> = DEPTHS.into_iter().filter(|depth| *depth <= lab.circumstances.slots).collect();
        let mixed = depths.iter().enumerate().map(|(number, depth)| Turn::Mixed(*depth, number));
        let turns: Vec<Turn> = mixed.chain([Turn::Commit]).collect();
        let mut commits = UsualCommit::new(lab, ROUNDS_MAX)?;
        let mut sums: Vec<Measurement> = depths.iter().map(|_| Measurement::new()).collect();
        let mut seeds = Seeds::new(lab);
        let how = Turns { time: lab.time_left(), rounds_max: ROUNDS_MAX, slice_max: SLICE_MAX };
        let rounds = Rounds::measure(lab, &turns, how, |lab, turn, time| match *turn {
            Turn::Commit => commits.slice(lab, time).map(|()| None),
            Turn::Mixed(queue_depth, number) => {
                let measured = slice(lab, queue_depth, seeds.next(), time)?;
                if let Some(sum) = sums.get_mut(number) {
                    sum.extend(&measured);
                }
                Ok(Sample::requests(&measured))
            }
        });
        findings.commits = commits.cost().into_iter().collect();
        let (rounds, block_bytes) = (rounds?, requests(lab.circumstances, 1).block_bytes);
        for (number, (queue_depth, sum)) in depths.into_iter().zip(&sums).enumerate() {
            findings.mixed.extend(rounds.rate(number).map(|requests_per_s| MixedLoad {
                read_percent: READ_PERCENT,
                block_bytes,
                queue_depth,
                requests: sum.requests,
                requests_per_s,
                latency_ns: sum.latency_ns.summary(),
            }));
        }
        Ok(())
    }
}

fn requests(circumstances: &Circumstances, queue_depth: u32) -> Requests {
    let unit_bytes = circumstances.shape.logical_block_bytes.max(circumstances.shape.memory_alignment_bytes);
    Requests {
        operation: OperationKind::Mixed { read_percent: READ_PERCENT },
        block_bytes: PAGE_BYTES.next_multiple_of(unit_bytes),
        queue_depth,
        count_max: SLICE_REQUESTS_MAX,
        first_uncounted: 0,
    }
}

fn slice(lab: &mut Lab<'_>, queue_depth: u32, seed: u64, time: Nanos) -> Result<Measurement, LoadError> {
    let requests = requests(lab.circumstances, queue_depth);
    lab.report(&format!(
        "{READ_PERCENT} % reads of {}, {queue_depth} outstanding",
        format_bytes(requests.block_bytes)
    ));
    let area = area_from(lab, 0, requests.block_bytes)?;
    requests.slice(lab, Box::new(Random::new(area, seed)), seed, time)
}
