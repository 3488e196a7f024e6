//! `nandle scan`.

use clap::Args;

use crate::common::Common;
use crate::error::CliError;

/// Read columns
#[derive(Debug, Args)]
pub(crate) struct ScanArgs {}

/// Runs the command.
pub(crate) fn run(_args: &ScanArgs, _common: Common) -> Result<(), CliError> {
    Ok(())
}
