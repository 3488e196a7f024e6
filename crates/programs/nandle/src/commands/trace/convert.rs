//! `nandle trace convert`.

use std::fs;

use nandle_terminal::args::Common;
use nandle_terminal::output;
use nandle_terminal::words::counted;
use nandle_trace::{OutputFormat, Writer, ZoneTranslator};
use serde_json::json;

use super::source::{go_through, reader};
use super::{ConvertArgs, WrittenFormatArg, check_new};
use crate::error::CliError;

pub(super) fn run(args: &ConvertArgs, common: Common) -> Result<(), CliError> {
    check_new(&args.output)?;
    // Opens the input first: if it is unreadable, no file is created.
    let reader = reader(&args.source)?;
    let format = match args.to {
        WrittenFormatArg::Csv => OutputFormat::Csv { latencies: reader.has_latencies() },
        WrittenFormatArg::FioIolog => OutputFormat::FioIolog { file: args.file.clone() },
    };
    if reader.has_latencies() && matches!(format, OutputFormat::FioIolog { .. }) {
        output::note("fio's iolog has no place for latencies: those of the trace are left out");
    }
    let has_zones = matches!(format, OutputFormat::Csv { .. });
    let mut writer = Writer::create(&args.output, format)?;
    let mut events = 0_u64;
    let (mut zones, mut changed) = (ZoneTranslator::default(), 0_u64);
    let written = go_through(reader, args.writes.limit, common, |record| {
        let kept = if has_zones { Some(record) } else { zones.conventional(record) };
        changed += u64::from(kept != Some(record));
        let Some(record) = kept else { return Ok(()) };
        events += 1;
        Ok(writer.write(&record)?)
    });
    let gone = match written.and_then(|gone| Ok(writer.finish().map(|()| gone)?)) {
        Ok(gone) => gone,
        Err(error) => {
            // The command created it, and half a trace looks like a whole one.
            let _ = fs::remove_file(&args.output);
            return Err(error);
        }
    };
    let mut remarks = gone.remarks;
    if changed > 0 {
        remarks.push(format!(
            "fio's iolog has no zones: {} as a drive without zones gets it (appends as writes, resets as discards, the rest left out).",
            counted(changed, "zoned request")
        ));
    }
    if common.json {
        return Ok(output::json(&json!({
            "schema_version": 1, "trace": args.source.trace, "format": gone.format, "output": args.output,
            "events": events, "bad_lines": gone.bad_lines, "remarks": remarks,
        }))?);
    }
    for remark in &remarks {
        output::note(remark);
    }
    let bad = match gone.bad_lines {
        0 => String::new(),
        lines => format!(", {} left out", counted(lines, "damaged line")),
    };
    Ok(output::result(&format!("{}: {}{bad}\n", args.output.display(), counted(events, "event")))?)
}
