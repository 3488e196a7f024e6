use std::path::PathBuf;

use clap::Args;
use nandle_target::TargetSpec;

use crate::commands::workload::{OperatorArg, RowArgs, target};

/// Find the part of a sort or join that gains most on another device
///
/// Runs the operator with everything on the first device, then with each part alone on the second,
/// then with everything there. Next, only the temporary data is on each of the devices, with
/// clusters of 2 KiB to 128 KiB, and input and output take no time. The output shows the amounts
/// that are merged or joined and the times, and compares them with the claims of the study from
/// which the rows come (Lee, Moon, Park, Kim, Kim, SIGMOD 2008).
///
/// `nandle workload --help` describes the work and its times.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle place sort --from model:barracuda-7200.10 --to model:samsung-mcaqe32\n  nandle place join --from model:barracuda-7200.10 --to model:x25-e-64 --report place.html\n  nandle place sort --from model:savvio-15k --to model:nvme-plp --rows 200000 --json\n  nandle place sort --from /mnt/disk --to /mnt/ssd --from-profile disk.json --to-profile ssd.json"
)]
pub(crate) struct PlaceArgs {
    /// Operator to run on the rows
    #[arg(value_name = "OPERATOR")]
    pub(super) operator: OperatorArg,
    /// First device: a directory, a file, a block device or a modelled drive
    ///
    /// In a directory, a test file is created and removed at the end. A file or block device loses
    /// its contents.
    #[arg(long, value_name = "TARGET", value_parser = target())]
    pub(super) from: TargetSpec,
    /// Second device, to which parts are moved
    #[arg(long, value_name = "TARGET", value_parser = target())]
    pub(super) to: TargetSpec,
    #[command(flatten)]
    pub(super) rows: RowArgs,
    /// Profile of the first device, from `nandle probe` [default: measured on a modelled drive,
    /// assumed for a real one]
    #[arg(long, value_name = "FILE")]
    pub(super) from_profile: Option<PathBuf>,
    /// Profile of the second device [default: as for the first]
    #[arg(long, value_name = "FILE")]
    pub(super) to_profile: Option<PathBuf>,
}
