use std::path::PathBuf;

use clap::Args;
use nandle_target::TargetSpec;

use crate::commands::workload::{OperatorArg, RowArgs, target};

/// Which part of a sort or join gains most on another device, and with which clusters.
///
/// A sort or join is run with everything on one device, then with each part of it alone on another, then with everything there. Below
/// that the temporary data alone are on each device, with clusters of 2 KiB to 128 KiB, where input and output take no time: what is
/// merged or joined in which time, and what the study that the rows come from says of it (Lee, Moon, Park, Kim, Kim, SIGMOD 2008).
///
/// `nandle workload --help` says what is run, and what its times are.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle place sort --from model:barracuda-7200.10 --to model:samsung-mcaqe32\n  nandle place join --from model:barracuda-7200.10 --to model:x25-e-64 --report place.html\n  nandle place sort --from model:savvio-15k --to model:nvme-plp --rows 200000 --json\n  nandle place sort --from /mnt/disk --to /mnt/ssd --from-profile disk.json --to-profile ssd.json"
)]
pub(crate) struct PlaceArgs {
    /// What is done to the rows
    #[arg(value_name = "OPERATOR")]
    pub(super) operator: OperatorArg,
    /// Where everything lies at first: a directory (a test file is made in it, gone afterwards), a file or block device whose contents
    /// may be lost, a modelled drive
    #[arg(long, value_name = "TARGET", value_parser = target())]
    pub(super) from: TargetSpec,
    /// Where parts of it go
    #[arg(long, value_name = "TARGET", value_parser = target())]
    pub(super) to: TargetSpec,
    #[command(flatten)]
    pub(super) rows: RowArgs,
    /// The first device's profile, as `nandle probe` writes it [default: a modelled one is asked in virtual time]
    #[arg(long, value_name = "FILE")]
    pub(super) from_profile: Option<PathBuf>,
    /// The second device's
    #[arg(long, value_name = "FILE")]
    pub(super) to_profile: Option<PathBuf>,
}
