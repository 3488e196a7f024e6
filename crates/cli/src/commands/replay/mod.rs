//! `nandle replay`.

mod args;
mod contenders;
mod costs;
mod page;
mod table;

use std::rc::Rc;

use nandle_io::units::format_bytes;
use nandle_pages::PolicyKind;
use nandle_probe::Observer as _;
use nandle_probe::load::Cancel;
use nandle_replay::{PolicyOutcome, Race, Watcher, Work, beside_direct, replay};
use serde::Serialize;

pub(crate) use args::ReplayArgs;

use self::args::PAGES_BYTES;
use self::contenders::{Stable, Stall};
use self::costs::{Known, ToldCosts};
use crate::args::Common;
use crate::commands::advise::Warning;
use crate::commands::trace::{Fit, reader, remark};
use crate::error::CliError;
use crate::interrupt::cancel_on_signals;
use crate::output;
use crate::progress::Progress;
use crate::result_file::{self, Content};
use crate::words::counted;

/// Steps that a policy does before it is the next one's turn.
const STRETCH_STEPS: usize = 4096;

#[derive(Serialize)]
struct Told<'a> {
    schema_version: u32,
    trace: String,
    target: String,
    /// Writes of the trace, of which each is a batch of pages.
    trace_writes: u64,
    page_writes: u64,
    pages: u64,
    page_bytes: u64,
    durability: &'a str,
    queue_depth: u32,
    /// The part of each page's contents that compresses to nothing.
    compressible_percent: u8,
    /// Whether `out-of-place` compresses.
    compresses: bool,
    wrapped: bool,
    bad_lines: u64,
    write_costs: ToldCosts,
    remarks: Vec<String>,
    policies: &'a [PolicyOutcome],
}

impl Told<'_> {
    /// How many writes there are, and of what.
    fn amount(&self) -> String {
        let page = format_bytes(self.page_bytes);
        if self.trace_writes == self.page_writes {
            format!("{} of {page}", counted(self.page_writes, "write"))
        } else {
            format!(
                "{} ({} of {page})",
                counted(self.trace_writes, "write"),
                counted(self.page_writes, "page")
            )
        }
    }

    /// When a write had to be durable, in words that follow "durable".
    fn durable(&self) -> &'static str {
        match self.durability {
            "each" => "one by one",
            "trace" => "where the trace syncs",
            _ => "at the end",
        }
    }

    /// What makes the policies' figures differ that isn't their merit.
    fn caveats(&self) -> Vec<String> {
        let has = |is_wanted: &dyn Fn(&PolicyOutcome) -> bool| self.policies.iter().any(is_wanted);
        let is_direct = |policy: &PolicyOutcome| policy.policy == PolicyKind::Direct.name();
        if !has(&is_direct) || !has(&|policy| !is_direct(policy)) {
            return Vec::new();
        }
        let waits = "direct waits until the drive has taken each page, where the staging policies gather pages in \
                     memory: with more writes under way (--queue-depth) it waits for several at once.";
        let commits = "A commit is one durable write where a policy stages it, and where direct has a single page that \
                       comes alone; direct with several pages, and auto when it goes straight home, write and then \
                       flush.";
        let waits = (self.queue_depth == 1 && self.durability != "each").then(|| waits.to_owned());
        waits.into_iter().chain((self.durability == "each").then(|| commits.to_owned())).collect()
    }

    /// What the pages were filled with, as a part of a sentence.
    fn contents(&self) -> String {
        let contents = match self.compressible_percent {
            0 => "nothing in them compresses".to_owned(),
            percent => format!("{percent} % of each page compress to nothing"),
        };
        let is_off = !self.compresses && self.compressible_percent > 0;
        if is_off { format!("{contents}, and nobody compresses") } else { contents }
    }
}

/// Runs the command.
pub(crate) fn run(args: &ReplayArgs, common: Common) -> Result<(), CliError> {
    check_policies(&args.policies)?;
    if let Some(path) = &args.report {
        result_file::check(path, Content::Report)?;
    }
    let cancel = cancel_on_signals()?;
    let mut progress = Progress::new(!common.no_progress);
    let known = costs::known(args.profile.as_deref())?;
    let mut stable = Stable::new(args, known.costs, &cancel)?;
    let mut remarks = before_reading(&stable, &known, &progress);
    progress.progress("reading the trace", 0.0);
    let mut records = reader(&args.source)?;
    let until_interrupted = records.by_ref().take_while(|_| !cancel.is_cancelled());
    let work = Work::read(until_interrupted, stable.work_options()?);
    if cancel.is_cancelled() {
        return Err(CliError::interrupted("interrupted while the trace was read"));
    }
    let work = Rc::new(work?);
    remarks.extend(before_starting(&work, records.bad_lines(), &progress));
    stable.prepare(&work, &mut progress)?;
    let policies = race(args, &stable, &work, Watching { progress: &mut progress, cancel: &cancel })?;
    progress.finish();
    let told = Told {
        schema_version: 1,
        trace: args.source.trace.display().to_string(),
        target: args.on.to_string(),
        trace_writes: work.fit.writes(),
        page_writes: work.page_writes,
        pages: work.pages,
        page_bytes: work.page_bytes as u64,
        durability: args.durability.name(),
        queue_depth: args.queue_depth,
        compressible_percent: args.compressible,
        compresses: !args.no_compression,
        wrapped: work.wrapped,
        bad_lines: records.bad_lines(),
        write_costs: (&known).into(),
        remarks,
        policies: &policies,
    };
    if let Some(path) = &args.report {
        page::write(path, &told)?;
    }
    if common.json { output::json(&told) } else { output::result(&table::text(&told)) }
}

/// Each policy is told by its name, so each can be there once.
fn check_policies(policies: &[PolicyKind]) -> Result<(), CliError> {
    let twice =
        (1..).zip(policies).find(|(next, policy)| policies.iter().skip(*next).any(|other| other == *policy));
    twice.map_or(Ok(()), |(_, policy)| {
        Err(CliError::usage(format!("--policies names {policy} more than once; name each policy once")))
    })
}

/// What there is to say of target and profile. A warning is said at once: the user may want to end it here.
fn before_reading(stable: &Stable, known: &Known, progress: &Progress) -> Vec<String> {
    let mut remarks: Vec<_> = stable.remark().into_iter().collect();
    remarks.extend(known.remarks.iter().cloned());
    let warning = known.profile.as_ref().and_then(|profile| stable.warning_of_another(profile));
    if let Some(Warning::Other(text) | Warning::Unknown(text)) = warning {
        progress.note(&text);
        remarks.push(text);
    }
    remarks
}

/// The same of the trace.
fn before_starting(work: &Work, bad_lines: u64, progress: &Progress) -> Vec<String> {
    let (fit, passed_over) = (&work.fit, work.passed_over);
    let fit = Fit {
        page_bytes: fit.page_bytes(),
        writes: fit.writes(),
        unaligned: fit.unaligned(),
        usual_bytes: fit.usual_bytes(),
    };
    let mut remarks: Vec<_> = remark(fit, &PAGES_BYTES).into_iter().collect();
    for remark in &remarks {
        progress.note(&format!("note: {remark}"));
    }
    remarks.extend(
        work.wrapped.then(|| "Addresses beyond the target's end were folded back into it.".to_owned()),
    );
    remarks.extend(
        (passed_over > 0)
            .then(|| format!("Only writes are replayed, not the trace's {}.", counted(passed_over, "read"))),
    );
    remarks.extend(
        (bad_lines > 0).then(|| format!("{} of the trace passed over.", counted(bad_lines, "damaged line"))),
    );
    remarks
}

/// Lets the policies do the work, in turns where there is room for all of them.
fn race(
    args: &ReplayArgs,
    stable: &Stable,
    work: &Rc<Work>,
    mut watching: Watching,
) -> Result<Vec<PolicyOutcome>, CliError> {
    let race = Race { stretch_steps: STRETCH_STEPS, verify: !args.no_verify };
    let at_once = if stable.has_room_for_all() { args.policies.len() } else { 1 };
    let mut outcomes = Vec::new();
    for policies in args.policies.chunks(at_once.max(1)) {
        let stalls = policies
            .iter()
            .map(|policy| stable.stall(*policy, work, watching.progress))
            .collect::<Result<Vec<_>, _>>()?;
        let (contenders, _sessions): (Vec<_>, Vec<_>) = stalls.into_iter().map(Stall::parts).unzip();
        outcomes.extend(replay(contenders, race, &mut watching)?);
    }
    Ok(beside_direct(outcomes))
}

/// Shows how far it is, and looks for Ctrl-C.
struct Watching<'a> {
    progress: &'a mut Progress,
    cancel: &'a Cancel,
}

impl Watcher for Watching<'_> {
    fn progress(&mut self, policy: PolicyKind, share: f64) {
        self.progress.progress(&format!("replaying: {policy}"), share);
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}
