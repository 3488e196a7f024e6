//! `nandle trace convert`.

use std::fs;

use nandle_trace::{Format, Writer};
use serde_json::json;

use super::ConvertArgs;
use super::source::go_through;
use crate::args::Common;
use crate::error::CliError;
use crate::output;
use crate::words::thousands;

/// Runs the command.
pub(super) fn run(args: &ConvertArgs, common: Common) -> Result<(), CliError> {
    let format = Format::from(args.to);
    if !Writer::can_write(format) {
        let name = format.description();
        return Err(CliError::usage(format!("--to: {name} is only read; csv and fio-iolog are written")));
    }
    let mut writer = Writer::create(&args.output, format, &args.file)?;
    let mut events = 0_u64;
    let written = go_through(&args.source, common, |record| {
        events += 1;
        Ok(writer.write(&record)?)
    });
    let gone = match written.and_then(|gone| Ok(writer.finish().map(|()| gone)?)) {
        Ok(gone) => gone,
        Err(error) => {
            // We have made it, and half a trace looks like a whole one.
            let _ = fs::remove_file(&args.output);
            return Err(error);
        }
    };
    if common.json {
        return output::json(&json!({
            "schema_version": 1, "trace": args.source.trace, "format": gone.format, "output": args.output,
            "events": events, "bad_lines": gone.bad_lines,
        }));
    }
    let bad = match gone.bad_lines {
        0 => String::new(),
        lines => format!(", {} damaged lines left out", thousands(lines as f64)),
    };
    output::result(&format!("{}: {} events{bad}\n", args.output.display(), thousands(events as f64)))
}
