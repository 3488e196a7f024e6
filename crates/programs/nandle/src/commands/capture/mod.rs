//! `nandle capture`.

mod args;
mod askers;
mod child;
mod counts;
mod filter;
mod instance;
mod pipe;
mod processes;
mod recorder;
mod summary;
mod tracefs;

use std::fs;
use std::process::{Child, ExitCode};
use std::time::{Duration, Instant};

use nandle_io::Nanos;
use nandle_session::{Cancel, Observer as _};
use nandle_target::facts::{RequestQueue, request_queue};
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::output;
use nandle_terminal::progress::Bar;
use nandle_terminal::words::{counted, thousands};
use nandle_trace::{OutputFormat, Writer};

pub(crate) use args::CaptureArgs;

use self::args::Chosen;
use self::instance::Instance;
use self::pipe::Pipe;
use self::processes::Processes;
use self::recorder::{Recorded, Recorder};
use self::summary::Captured;
use super::trace::check_new;
use crate::error::CliError;

/// Interval between reads while the kernel gathers events.
const POLL: Duration = Duration::from_millis(50);
/// Reads between checks of the clock.
const READS_MAX: u32 = 256;

pub(crate) fn run(args: &CaptureArgs, common: Common) -> Result<ExitCode, CliError> {
    check_new(&args.output)?;
    let tracefs = tracefs::find(&tracefs::PLACES)?;
    let queue = request_queue(args.path()).map_err(|error| CliError::usage(error.to_string()))?;
    if let Some(process) = args.pid.filter(|process| !fs::exists(format!("/proc/{process}")).unwrap_or(false))
    {
        return Err(CliError::usage(format!("--pid {process}: there is no such process")));
    }
    let cancel = cancel_on_signals()?;
    let instance = Instance::create(&tracefs, args.buffer)?;
    let writer = Writer::create(&args.output, OutputFormat::Csv { latencies: true })?;
    let captured = capture(args, common, &queue, instance, writer, &cancel);
    let captured = captured.inspect_err(|_| {
        // The capture created it, and half a trace looks like a whole one.
        let _ = fs::remove_file(&args.output);
    })?;
    summary::print(args, common, &captured)?;
    match captured.exit_code {
        Some(code) => Ok(code.into()),
        None if cancel.is_cancelled() => {
            Err(CliError::interrupted("interrupted; the trace has what was recorded until then"))
        }
        None => Ok(ExitCode::SUCCESS),
    }
}

fn capture(
    args: &CaptureArgs,
    common: Common,
    queue: &RequestQueue,
    instance: Instance,
    writer: Writer,
    cancel: &Cancel,
) -> Result<Captured, CliError> {
    let filter = filter::of_queue(queue);
    if args.chosen() != Chosen::Everybody {
        instance.enable("sched/sched_process_fork", None)?;
        instance.enable("block/block_getrq", Some(&filter))?;
    }
    for event in ["block_rq_complete", "block_rq_requeue", "block_rq_issue"] {
        instance.enable(&format!("block/{event}"), Some(&filter))?;
    }
    let processes = Processes::new(args.chosen());
    let mut recorder = Recorder::new(processes, queue, writer);
    let mut child = child::start(&args.command, common.json)?;
    if let (Some(child), Chosen::Command) = (&child, args.chosen()) {
        recorder.add_process(child.id());
    }
    let outcome = record(args, common, &instance, &mut recorder, child.as_mut(), cancel);
    let outcome = outcome.and_then(|took| Ok((took, instance.lost_events()?, recorder.finish()?)));
    let removed = instance.remove();
    // Waits for the command even if recording failed.
    if outcome.is_ok() && child.is_some() && !child::has_ended(child.as_mut())? {
        output::note("the recording has ended; the command still runs, and is waited for");
    }
    let exit_code = child::exit_code(child)?;
    let (took, lost_events, Recorded { counts, fit }) = outcome?;
    removed?;
    let took = Nanos(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    Ok(Captured { queue: queue.clone(), took, counts, fit, lost_events, exit_code })
}

/// Records until the time is up, the command ends, or the user interrupts. Returns the duration.
fn record(
    args: &CaptureArgs,
    common: Common,
    instance: &Instance,
    recorder: &mut Recorder,
    mut child: Option<&mut Child>,
    cancel: &Cancel,
) -> Result<Duration, CliError> {
    let mut pipe = Pipe::new(instance.pipe()?);
    // A command owns the terminal.
    let mut progress = Bar::new(!common.no_progress && child.is_none());
    let recorded_for = args.recorded_for().map(|Nanos(nanos)| Duration::from_nanos(nanos));
    let began = Instant::now();
    loop {
        let elapsed = began.elapsed();
        let is_over = recorded_for.is_some_and(|time| elapsed >= time)
            || cancel.is_cancelled()
            || child::has_ended(child.as_deref_mut())?;
        if is_over {
            instance.stop()?;
        }
        let mut reads = 0;
        while pipe.read(|line| recorder.line(line))? {
            reads += 1;
            if reads >= READS_MAX && !is_over {
                break;
            }
        }
        if is_over {
            progress.finish();
            return Ok(elapsed);
        }
        progress.progress(&told(recorder), share(elapsed, recorded_for));
        if reads < READS_MAX {
            std::thread::sleep(POLL);
        }
    }
}

fn told(recorder: &Recorder) -> String {
    let counts = recorder.counts();
    let left_out = match counts.left_out() {
        0 => String::new(),
        left_out => format!(", {} of others left out", thousands(left_out as f64)),
    };
    format!("{} recorded{left_out}; Ctrl-C ends it", counted(counts.requests(), "request"))
}

fn share(elapsed: Duration, of: Option<Duration>) -> f64 {
    of.map_or(0.0, |of| elapsed.as_secs_f64() / of.as_secs_f64())
}
