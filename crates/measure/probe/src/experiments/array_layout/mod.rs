//! *Is there an array behind the device, and what are its chunk and its number of members?*
//!
//! Batches of small random reads are submitted at once, and each latency is recorded. A read waits
//! for others on the same member. So for all layouts (chunks of 4 KiB to 16 MiB on up to 16
//! members), latency is correlated with the number of reads on the same member, and the true layout
//! has the highest correlation. The layout is then verified: reads of a single member must be
//! slower than reads of the whole area. The experiment only reads.
//!
//! The layout found may be that of a drive's own channels, which look like an array from outside.

mod layout;

use nandle_io::{Completion, Nanos, Operation};
use nandle_profile::experiments::ArrayLayout;
use nandle_profile::{Conducted, Experiments, OperationKind};

use self::layout::{Batch, Layout, scores};
use super::rounds::{Requests, Rounds, SLICE_MAX, Sample, Seeds, Turns, area_from};
use super::{Circumstances, Cost, Experiment, Lab};
use crate::load::LoadError;
use crate::pattern::{Generator, Pattern, Random, below, generator};

/// See the [module](self).
pub(super) struct ArrayDetection;

const BLOCK_BYTES: u64 = 4 << 10;
/// Deep enough for reads to queue on many members.
const QUEUE_DEPTH: u32 = 128;
const BATCHES_MAX: usize = 400;
/// Fewest reads for comparing two hundred layouts.
const READS_MIN: u64 = 1000;
/// Fraction (one in `TRIAL_PART`) of the time for verifying the layout.
const TRIAL_PART: u64 = 4;
const TRIAL_ROUNDS: usize = 7;
const TRIAL_REQUESTS_MAX: u64 = 3000;
/// Largest relative rate of a single member for a layout to be accepted.
const ONE_MEMBER_MAX: f64 = 0.8;
/// Number of best layouts that are recorded.
const KEPT: usize = 8;

impl Experiment for ArrayDetection {
    type Findings = ArrayLayout;

    fn name(&self) -> &'static str {
        "array-layout"
    }

    fn question(&self) -> &'static str {
        "Is there an array behind the device, and what are its chunk and its number of members?"
    }

    fn cost(&self, _circumstances: &Circumstances) -> Result<Cost, String> {
        let (time_least, time_wanted) = (Nanos::from_secs(2), Nanos::from_secs(40));
        Ok(Cost { time_least, time_wanted, write_bytes_max: 0 })
    }

    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<ArrayLayout>> {
        &mut experiments.array_layout
    }

    fn run(&self, lab: &mut Lab<'_>, findings: &mut ArrayLayout) -> Result<(), LoadError> {
        let for_trial = Nanos(lab.time_left().0 / TRIAL_PART);
        findings.block_bytes = BLOCK_BYTES.next_multiple_of(lab.circumstances.shape.logical_block_bytes);
        findings.queue_depth = QUEUE_DEPTH.min(lab.circumstances.slots);
        let batches = batches(lab, findings, for_trial)?;
        findings.observations = batches.iter().map(|batch| batch.len() as u64).sum();
        if findings.observations < READS_MIN {
            lab.cut_short("there were too few reads to compare layouts; give a larger --budget");
            return Ok(());
        }
        let scores = scores(&batches, findings.block_bytes, lab.circumstances.area_bytes);
        findings.candidates = scores.iter().take(KEPT).copied().collect();
        let Some(layout) = Layout::seen(&scores, findings.observations) else { return Ok(()) };
        try_layout(lab, layout, for_trial, findings)
    }
}

/// Reads batches at random positions.
fn batches(lab: &mut Lab<'_>, findings: &ArrayLayout, time_after: Nanos) -> Result<Vec<Batch>, LoadError> {
    let ends = lab.now() + (lab.time_left() - time_after);
    let area = area_from(lab, 0, findings.block_bytes)?;
    let mut generator = generator(lab.seed, 53);
    let mut batches = Vec::new();
    let mut done: Vec<Completion> = Vec::new();
    while batches.len() < BATCHES_MAX && (batches.is_empty() || lab.now() < ends) {
        lab.report("reads that wait for each other");
        let mut operations = Vec::new();
        for _ in 0..findings.queue_depth {
            let block = below(&mut generator, area.blocks);
            operations.push(read(lab, area.offset_bytes(block), findings.block_bytes)?);
        }
        lab.lane.run_all(operations, &mut done, lab.cancel)?;
        done.sort_by_key(|completion| completion.token);
        let latency_ns = |completion: &Completion| completion.completed_at.since(completion.submitted_at).0;
        let good = done.iter().filter(|completion| completion.result.is_ok());
        batches.push(
            good.map(|completion| (completion.operation.offset_bytes(), latency_ns(completion))).collect(),
        );
    }
    Ok(batches)
}

fn read(lab: &Lab<'_>, offset_bytes: u64, block_bytes: u64) -> Result<Operation, LoadError> {
    let length = usize::try_from(block_bytes).unwrap_or(usize::MAX);
    let memory = |source| LoadError::Memory { queue_depth: 1, block_bytes, source };
    Ok(Operation::read(offset_bytes, lab.lane.arena().allocate(length).map_err(memory)?))
}

/// Compares reads of one member with reads of the whole area, in turns.
fn try_layout(
    lab: &mut Lab<'_>,
    layout: Layout,
    time: Nanos,
    findings: &mut ArrayLayout,
) -> Result<(), LoadError> {
    let mut seeds = Seeds::new(lab);
    let (block_bytes, queue_depth) = (findings.block_bytes, findings.queue_depth);
    let turns = Turns { time, rounds_max: TRIAL_ROUNDS, slice_max: SLICE_MAX };
    let rounds = Rounds::measure(lab, &[true, false], turns, |lab, &on_one, time| {
        let seed = seeds.next();
        let requests = Requests {
            operation: OperationKind::Read,
            block_bytes,
            queue_depth,
            count_max: TRIAL_REQUESTS_MAX,
            first_uncounted: 0,
        };
        let whole_area: Pattern = Box::new(Random::new(area_from(lab, 0, block_bytes)?, seed));
        let member = on_one.then(|| OneMember::new(layout, lab.circumstances.area_bytes, block_bytes, seed));
        let pattern = member.flatten().map_or(whole_area, |member| Box::new(member));
        Ok(Sample::requests(&requests.slice(lab, pattern, seed, time)?))
    })?;
    findings.one_member_share = rounds.ratio(0, 1);
    if findings.one_member_share.is_some_and(|share| share.value <= ONE_MEMBER_MAX) {
        (findings.chunk_bytes, findings.members) = (Some(layout.chunk_bytes), Some(layout.members));
    }
    Ok(())
}

/// Random blocks of one random member.
struct OneMember {
    layout: Layout,
    member: u64,
    rows: u64,
    block_bytes: u64,
    generator: Generator,
}

impl OneMember {
    fn new(layout: Layout, area_bytes: u64, block_bytes: u64, seed: u64) -> Option<Self> {
        let mut generator = generator(seed, 59);
        let member = below(&mut generator, layout.members.into());
        let rows = area_bytes.checked_div(layout.chunk_bytes * u64::from(layout.members))?;
        (rows > 0).then_some(Self { layout, member, rows, block_bytes, generator })
    }
}

impl Iterator for OneMember {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let Layout { chunk_bytes, members } = self.layout;
        let row = below(&mut self.generator, self.rows);
        let block = below(&mut self.generator, chunk_bytes / self.block_bytes);
        Some((row * u64::from(members) + self.member) * chunk_bytes + block * self.block_bytes)
    }
}
