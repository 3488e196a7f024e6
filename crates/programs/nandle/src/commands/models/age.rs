//! `nandle models age`: writes to a modelled drive up to the requested wear, and saves its state.

use nandle_io::Nanos;
use nandle_model::aging::Aging;
use nandle_model::library::FirstState;
use nandle_probe::pattern::Area;
use nandle_profile::write_atomically;
use nandle_session::Cancel;
use nandle_session::{Observer as _, Progress as _};
use nandle_terminal::args::Common;
use nandle_terminal::interrupt::cancel_on_signals;
use nandle_terminal::output;
use nandle_terminal::progress::Bar;
use nandle_terminal::result_file;
use nandle_units::{format_bytes, format_duration};
use serde_json::json;

use super::args::AgeArgs;
use super::wear::{Amount, Wear};
use crate::error::CliError;
use crate::result_file::STATE;

/// Writes between checks of the clock and of Ctrl-C.
const STRETCH: u64 = 4096;

pub(super) fn run(args: &AgeArgs, common: Common) -> Result<(), CliError> {
    let model = super::load(&args.name)?;
    let model = match &args.from {
        Some(path) => model.starting_from_file(path),
        None => model.starting(FirstState::Filled { percent: args.fill }),
    }?;
    result_file::check(&args.output, &STATE)?;
    let name = model.name().to_owned();
    let mut aging = Aging::new(model)?;
    let cancel = cancel_on_signals()?;
    let mut progress = Bar::new(!common.no_progress);
    for (wear, seed) in args.write.iter().zip(args.seed..) {
        write(&mut aging, args, *wear, seed, &cancel, &mut progress)?;
        progress.begin_stage();
    }
    let took = aging.now();
    let (state, counted) = aging.finish()?;
    progress.finish();
    let path = args.output.display();
    let written = state.encode().and_then(|bytes| write_atomically(&args.output, &bytes));
    written.map_err(|error| CliError::failed(format!("{path}: writing the state: {error}")))?;
    if common.json {
        return Ok(nandle_terminal::output::json(&json!({
            "schema_version": 1, "name": name, "state": args.output, "virtual_time_ns": took.0,
            "host_written_bytes": counted.host_written_bytes, "flash_written_bytes": counted.flash_written_bytes,
            "erased_bytes": counted.erased_bytes, "write_amplification": counted.write_amplification(),
        }))?);
    }
    let amplification =
        counted.write_amplification().map_or_else(|| "–".into(), |factor| format!("{factor:.2}"));
    Ok(output::result(&format!(
        "written by the host    {}\nwritten to flash       {}\nwrite amplification    {amplification}\n\
         virtual time           {}\n\nProbe it with: nandle probe model:{}:state={path}\n",
        format_bytes(counted.host_written_bytes),
        format_bytes(counted.flash_written_bytes),
        format_duration(took),
        args.name.strip_prefix("model:").unwrap_or(&args.name),
    ))?)
}

fn write(
    aging: &mut Aging,
    args: &AgeArgs,
    wear: Wear,
    seed: u64,
    cancel: &Cancel,
    progress: &mut Bar,
) -> Result<(), CliError> {
    let area = area(aging, args)?;
    let mut offsets_bytes = wear.pattern.start(area, 1, seed);
    let (began, mut written_bytes) = (aging.now(), 0);
    let doing = format!("{} writes", wear.pattern);
    loop {
        let share = match wear.amount {
            Amount::Bytes(bytes) => written_bytes as f64 / bytes.max(1) as f64,
            Amount::Time(time) => aging.now().since(began).0 as f64 / time.0.max(1) as f64,
        };
        if share >= 1.0 {
            return Ok(());
        }
        if cancel.is_cancelled() {
            return Err(CliError::interrupted(format!(
                "interrupted at {:.0} % of {doing}; nothing was kept",
                share * 100.0
            )));
        }
        progress.progress(&doing, share);
        let (left, until) = match wear.amount {
            Amount::Bytes(bytes) => ((bytes - written_bytes).div_ceil(args.block_size), Nanos(u64::MAX)),
            Amount::Time(time) => (STRETCH, began + time),
        };
        let count = left.min(STRETCH);
        aging.write(&mut offsets_bytes, args.block_size, args.queue_depth, count as usize, until);
        written_bytes += count * args.block_size;
    }
}

/// Area to write: the filled part, so that the drive's fill level stays.
fn area(aging: &Aging, args: &AgeArgs) -> Result<Area, CliError> {
    let shape = aging.shape();
    let filled_bytes = match (args.fill, &args.from) {
        (1..100, None) => shape.capacity_bytes / 100 * u64::from(args.fill),
        _ => shape.capacity_bytes,
    };
    let block_bytes = args.block_size;
    Area::new(0, filled_bytes, block_bytes)
        .filter(|_| block_bytes.is_multiple_of(shape.logical_block_bytes))
        .ok_or_else(|| {
            CliError::usage(format!(
                "--block-size {block_bytes}: expected a multiple of {} bytes, and at most {} (what is filled)",
                shape.logical_block_bytes,
                format_bytes(filled_bytes)
            ))
        })
}
