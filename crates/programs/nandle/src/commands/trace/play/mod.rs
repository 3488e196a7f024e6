//! `nandle trace play`.

mod args;
mod place;
mod remarks;
mod table;

use std::path::Path;

use nandle_io::Nanos;
use nandle_replay::AddressesUsed;
use nandle_replay::play::{
    AREA_BYTES, PLAY_SCHEMA_VERSION, PlayAddresses, PlayError, PlayFile, PlayOptions, PlaySummary,
    PlayWatcher, Survey, Timing, play,
};
use nandle_session::{Cancel, Observer as _, Progress as _};
use nandle_target::backend;
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::output;
use nandle_terminal::progress::Bar;
use nandle_terminal::result_file::{self, REPORT};
use nandle_terminal::words::thousands;

pub(crate) use self::args::PlayArgs;

use self::place::Place;
use super::source::{reader, remarks_of_beginning};
use crate::commands::report::write_report;
use crate::error::CliError;

/// Trace surveyed before it is played.
struct Surveyed {
    survey: Survey,
    format: &'static str,
    bad_lines: u64,
    /// Remarks on reading it.
    remarks: Vec<String>,
}

pub(super) fn run(args: &PlayArgs, common: Common) -> Result<(), CliError> {
    if let Some(path) = &args.report {
        result_file::check(path, &REPORT)?;
    }
    if args.source.trace == Path::new("-") {
        return Err(CliError::usage(
            "a trace is gone through twice, once to see what it needs and once to play it, and standard input can be read only once: save \
             it to a file (`nandle trace convert - FILE`) and name that",
        ));
    }
    let cancel = cancel_on_signals()?;
    let mut progress = Bar::new(!common.no_progress);
    let surveyed = survey(args, &cancel, &mut progress)?;
    check(args, &surveyed.survey)?;
    let mut place = Place::open(args, &surveyed.survey, &cancel)?;
    if let Some(remark) = place.what_is_written(&surveyed.survey) {
        progress.remark(&remark);
    }
    place.session.prepare_apart(None, &mut progress)?;
    let played =
        play_on(args, &mut place, &surveyed.survey, Watching { progress: &mut progress, cancel: &cancel })?;
    progress.finish();
    let file = file(args, &surveyed, &place, &played);
    print(&file, args.report.as_deref(), common)?;
    exit_of(&played)
}

/// Reads the whole trace.
fn survey(args: &PlayArgs, cancel: &Cancel, progress: &mut Bar) -> Result<Surveyed, CliError> {
    progress.progress("reading the trace", 0.0);
    let mut records = reader(&args.source)?;
    let until_interrupted = records.by_ref().take_while(|_| !cancel.is_cancelled());
    let survey = Survey::read(args.selection().of(until_interrupted));
    if cancel.is_cancelled() {
        return Err(CliError::interrupted("interrupted while the trace was read"));
    }
    let (format, bad_lines) = (records.format().name(), records.bad_lines());
    Ok(Surveyed { survey: survey?, format, bad_lines, remarks: remarks_of_beginning(&records) })
}

/// Checks that the trace has what playing requires.
fn check(args: &PlayArgs, survey: &Survey) -> Result<(), PlayError> {
    let (with_latency, requests) = (survey.with_latency, survey.requests());
    if args.timing == Timing::Think && !survey.has_latencies() {
        return Err(PlayError::NoLatencies { with_latency, requests });
    }
    if args.compare && with_latency == 0 { Err(PlayError::NothingToCompare) } else { Ok(()) }
}

fn play_on(
    args: &PlayArgs,
    place: &mut Place,
    survey: &Survey,
    watching: Watching,
) -> Result<PlaySummary, CliError> {
    let options = PlayOptions {
        timing: args.timing,
        queue_depth: args.in_flight_max(),
        places: place.places.clone(),
        patience: place.session.patience,
        read_bytes: place.session.outstanding.bytes,
    };
    let records = args.selection().of(reader(&args.source)?);
    let mut watcher = Counting { watching, of: survey.requests() };
    Ok(play(place.io.as_mut(), &place.device, records, &options, &mut watcher)?)
}

fn file(args: &PlayArgs, surveyed: &Surveyed, place: &Place, played: &PlaySummary) -> PlayFile {
    let has_schedule = !matches!(args.timing, Timing::Closed { .. });
    PlayFile {
        schema_version: PLAY_SCHEMA_VERSION,
        trace: args.source.trace.display().to_string(),
        format: surveyed.format.to_owned(),
        target: args.on.to_string(),
        backend: backend(place.io.as_ref(), &place.device),
        timing: args.timing.to_string(),
        queue_depth: args.in_flight_max(),
        reads_only: args.reads_only,
        addresses: addresses(args.addresses.into(), &surveyed.survey),
        wrapped: played.folded > 0,
        enlarged_to_bytes: place.enlarged_to_bytes,
        trace_span_ns: surveyed.survey.span.0,
        elapsed_ns: played.elapsed.0,
        folded_requests: played.folded,
        cut_requests: played.cut,
        widened_requests: played.widened,
        passed_over_requests: played.passed_over,
        bad_lines: surveyed.bad_lines,
        first_error: played.first_error.clone(),
        operations: played.operations(),
        schedule: has_schedule.then(|| played.schedule()),
        fell_behind: played.fell_behind(args.timing, due_span(args.timing, &surveyed.survey)),
        comparison: if args.compare { played.comparison() } else { Vec::new() },
        distributions: played.distributions(),
        remarks: remarks::all(args, surveyed, place, played),
    }
}

/// Time from the first to the last scheduled request.
fn due_span(timing: Timing, survey: &Survey) -> Nanos {
    match timing {
        Timing::Rate { per_s } => {
            let seconds = survey.requests().saturating_sub(1) as f64 / per_s;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "never negative; saturates"
            )]
            let span = Nanos((seconds * 1e9) as u64);
            span
        }
        Timing::AsIs | Timing::Think | Timing::Closed { .. } => survey.span,
    }
}

fn addresses(addresses: PlayAddresses, survey: &Survey) -> AddressesUsed {
    match addresses {
        PlayAddresses::Keep => AddressesUsed::Keep,
        PlayAddresses::Compact => AddressesUsed::Compact {
            area_bytes: AREA_BYTES,
            area_count: survey.compact_bytes() / AREA_BYTES,
            left_out_bytes: survey.end_bytes.next_multiple_of(AREA_BYTES) - survey.compact_bytes(),
        },
    }
}

/// Writes the report, if requested, and prints the result.
fn print(file: &PlayFile, report: Option<&Path>, common: Common) -> Result<(), CliError> {
    if let Some(path) = report {
        write_report(path, &nandle_report::play_html(file))?;
        output::note(&format!("report: {}", path.display()));
    }
    if common.json { Ok(output::json(file)?) } else { Ok(output::result(&table::text(file))?) }
}

/// Fails if a request failed, after the figures are printed.
fn exit_of(played: &PlaySummary) -> Result<(), CliError> {
    let (failed, all) = (played.failed(), played.failed() + played.requests());
    let Some(first) = played.first_error.as_deref().filter(|_| failed > 0) else { return Ok(()) };
    let [failed, all] = [failed, all].map(|count| thousands(count as f64));
    Err(CliError::failed(format!("{failed} of {all} requests failed, the first: {first}")))
}

/// Shows progress and checks for Ctrl-C.
struct Watching<'a> {
    progress: &'a mut Bar,
    cancel: &'a Cancel,
}

struct Counting<'a> {
    watching: Watching<'a>,
    of: u64,
}

impl PlayWatcher for Counting<'_> {
    fn progress(&mut self, requests: u64) {
        self.watching.progress.progress("playing", requests as f64 / self.of.max(1) as f64);
    }

    fn is_cancelled(&self) -> bool {
        self.watching.cancel.is_cancelled()
    }
}
