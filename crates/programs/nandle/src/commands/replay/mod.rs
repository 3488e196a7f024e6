//! `nandle replay`.

mod args;
mod costs;
mod decision;
mod memory;
mod remarks;
mod stores;
mod table;

use std::path::Path;
use std::rc::Rc;

use nandle_pages::PolicyKind;
use nandle_replay::{
    Comparison, Failure, OmittedPolicy, Outcomes, PolicyOutcome, REPLAY_SCHEMA_VERSION, ReplayFile, Watcher,
    Work, merge_repeats, replay, with_speedups,
};
use nandle_session::Cancel;
use nandle_session::{Observer as _, Progress as _};
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::output;
use nandle_terminal::progress::Bar;
use nandle_terminal::result_file::{self, REPORT};

pub(crate) use args::{PAGES_BYTES, ReplayArgs};
pub(crate) use costs::write_costs;

use self::costs::Known;
use self::stores::StoreFactory;
use crate::commands::report::write_report;
use crate::commands::trace::{reader, remarks_of_reading};
use crate::error::CliError;

/// Steps of a policy before the next one's turn.
const STRETCH_STEPS: usize = 4096;

pub(crate) fn run(args: &ReplayArgs, common: Common) -> Result<(), CliError> {
    check_policies(&args.policies)?;
    if let Some(path) = &args.report {
        result_file::check(path, &REPORT)?;
    }
    let cancel = cancel_on_signals()?;
    let mut progress = Bar::new(!common.no_progress);
    let known = costs::known(args.profile.as_deref())?;
    let mut factory = StoreFactory::new(args, known.costs, &cancel)?;
    if args.repeats > 1 && factory.is_modelled() {
        return Err(CliError::usage(
            "--repeats: a modelled drive takes the same each time; it is for directories, files and devices",
        ));
    }
    let mut remarks = remarks::before_reading(&factory, &known, &progress);
    progress.progress("reading the trace", 0.0);
    let mut records = reader(&args.source)?;
    let until_interrupted = records.by_ref().take_while(|_| !cancel.is_cancelled());
    let work = Work::read(until_interrupted, factory.work_options());
    if cancel.is_cancelled() {
        return Err(CliError::interrupted("interrupted while the trace was read"));
    }
    let mut work = work?;
    (work.passes, work.fill_percent) = (args.passes, args.fill);
    work.check_versions()?;
    let mut left_out = factory.fit(&mut work)?;
    let work = Rc::new(work);
    remarks.extend(remarks_of_reading(&records));
    remarks.extend(remarks::before_starting(&work, records.bad_lines(), &progress));
    remarks.extend(factory.enlarged());
    remarks.extend(factory.memory_remark());
    for left_out in &left_out {
        progress.remark(&format!("note: {}", left_out.sentence()));
    }
    factory.prepare(&work, &mut progress)?;
    let policies = repeated(args, &factory, &work, &mut left_out, (&mut progress, &cancel))?;
    progress.finish();
    remarks.extend(remarks::of_splits(&policies));
    remarks.extend(left_out.iter().map(OmittedPolicy::sentence));
    let (decision, lack) = decision::decide(args, &work, &factory, known.profile.as_ref(), &policies);
    remarks.extend(lack);
    let file = ReplayFile {
        remarks,
        decision,
        policies,
        left_out,
        ..begin(args, &work, &factory, &known, records.bad_lines())
    };
    print(&file, args.report.as_deref(), common)?;
    exit_of(&file.left_out)
}

/// Result file without figures.
fn begin(
    args: &ReplayArgs,
    work: &Work,
    factory: &StoreFactory,
    known: &Known,
    bad_lines: u64,
) -> ReplayFile {
    ReplayFile {
        schema_version: REPLAY_SCHEMA_VERSION,
        trace: args.source.trace.display().to_string(),
        target: args.on.to_string(),
        trace_writes: work.fit.writes(),
        page_writes: work.page_writes,
        passes: Some(work.passes),
        repeats: Some(args.repeats),
        filled_pages: Some(work.filled_pages()),
        pages: work.pages,
        page_bytes: work.page_bytes as u64,
        durability: args.durability.into(),
        queue_depth: args.queue_depth,
        compressible_percent: args.compressible,
        compresses: !args.no_compression,
        addresses: work.compacted.into(),
        wrapped: work.wrapped,
        enlarged_to_bytes: factory.enlarged_to_bytes(),
        bad_lines,
        write_costs: known.into(),
        remarks: Vec::new(),
        policies: Vec::new(),
        left_out: Vec::new(),
        decision: None,
    }
}

/// Writes the report, if requested, and prints the result.
fn print(file: &ReplayFile, report: Option<&Path>, common: Common) -> Result<(), CliError> {
    if let Some(path) = report {
        write_report(path, &nandle_report::replay_html(file))?;
        output::note(&format!("report: {}", path.display()));
    }
    if common.json { Ok(output::json(file)?) } else { Ok(output::result(&table::text(file))?) }
}

/// Figures of the policies that finished, with speed-ups over `direct`.
fn of_those_that_finished(
    outcomes: Outcomes,
    left_out: &mut Vec<OmittedPolicy>,
) -> Result<Vec<PolicyOutcome>, CliError> {
    let Outcomes { policies, failed } = outcomes;
    left_out.extend(failed.iter().map(|Failure { policy, error }| OmittedPolicy::failed(*policy, error)));
    match failed.into_iter().next() {
        Some(first) if policies.is_empty() => Err(first.error.into()),
        _ => Ok(with_speedups(policies)),
    }
}

/// Fails if a store failed, whatever the others did. A policy excluded up front is only reported.
fn exit_of(left_out: &[OmittedPolicy]) -> Result<(), CliError> {
    let failed: Vec<_> =
        left_out.iter().filter(|left_out| left_out.failed).map(OmittedPolicy::sentence).collect();
    if failed.is_empty() { Ok(()) } else { Err(CliError::failed(failed.join(" "))) }
}

/// Refuses duplicate policies: results are named by policy.
fn check_policies(policies: &[PolicyKind]) -> Result<(), CliError> {
    let twice =
        (1..).zip(policies).find(|(next, policy)| policies.iter().skip(*next).any(|other| other == *policy));
    twice.map_or(Ok(()), |(_, policy)| {
        Err(CliError::usage(format!("--policies names {policy} more than once; name each policy once")))
    })
}

/// Merges all runs of every policy. The order of policies reverses with each run, so that drift
/// affects all equally. A policy that fails once is left out of later runs.
fn repeated(
    args: &ReplayArgs,
    factory: &StoreFactory,
    work: &Rc<Work>,
    left_out: &mut Vec<OmittedPolicy>,
    (progress, cancel): (&mut Bar, &Cancel),
) -> Result<Vec<PolicyOutcome>, CliError> {
    let mut runs = Vec::new();
    let mut order = factory.policies().to_vec();
    for run in 1..=args.repeats {
        let watching = Watching { progress: &mut *progress, cancel, run, runs: args.repeats };
        let outcomes = compare(args, factory, &order, work, watching)?;
        let mut finished = of_those_that_finished(outcomes, left_out)?;
        let place =
            |outcome: &PolicyOutcome| factory.policies().iter().position(|one| *one == outcome.policy);
        finished.sort_by_key(place);
        order.retain(|policy| finished.iter().any(|outcome| outcome.policy == *policy));
        order.reverse();
        runs.push(finished);
    }
    Ok(merge_repeats(runs))
}

/// Runs the policies in turns, if all have room at once.
fn compare(
    args: &ReplayArgs,
    factory: &StoreFactory,
    order: &[PolicyKind],
    work: &Rc<Work>,
    mut watching: Watching,
) -> Result<Outcomes, CliError> {
    let comparison = Comparison { stretch_steps: STRETCH_STEPS, verify: !args.no_verify };
    let at_once = if factory.has_room_for_all() { order.len() } else { 1 };
    let mut all = Outcomes::default();
    for policies in order.chunks(at_once.max(1)) {
        let (mut candidates, mut sessions) = (Vec::new(), Vec::new());
        for policy in policies {
            let (session, made) = factory.open(*policy, work, watching.progress)?;
            sessions.push(session);
            match made {
                Ok(candidate) => candidates.push(candidate),
                Err(error) => all.failed.push(Failure { policy: *policy, error }),
            }
        }
        let outcomes = replay(candidates, comparison, &mut watching)?;
        all.policies.extend(outcomes.policies);
        all.failed.extend(outcomes.failed);
    }
    Ok(all)
}

/// Shows progress and checks for Ctrl-C.
struct Watching<'a> {
    progress: &'a mut Bar,
    cancel: &'a Cancel,
    run: u32,
    runs: u32,
}

impl Watcher for Watching<'_> {
    fn progress(&mut self, policy: PolicyKind, share: f64) {
        let run = if self.runs > 1 { format!(", run {} of {}", self.run, self.runs) } else { String::new() };
        self.progress.progress(&format!("replaying: {policy}{run}"), share);
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}
