use clap::Args;
use nandle_terminal::args::bytes_of_at_least;

use super::contest::PAIRS_TO_TELL;

/// Options for a trial of the advice.
#[derive(Debug, Args)]
#[command(next_help_heading = "Trial of the advice (--verify)")]
pub(in crate::commands::advise) struct TrialArgs {
    /// Compare the advice with the defaults under a fixed workload (postgresql and sqlite)
    ///
    /// The runs alternate between the two, and the results of both are printed.
    #[arg(long, requires = "product")]
    pub(in crate::commands::advise) verify: bool,
    /// Pairs of runs, one with the defaults and one with the advice; at least 6, to tell a
    /// difference from noise
    #[arg(long, value_name = "COUNT", default_value_t = PAIRS_TO_TELL, requires = "verify",
          value_parser = clap::value_parser!(u32).range(PAIRS_TO_TELL as i64..=1000))]
    pub(in crate::commands::advise) verify_pairs: u32,
    /// Size of the test data
    #[arg(long, value_name = "SIZE", default_value = "1GiB", requires = "verify", value_parser = data_bytes)]
    pub(in crate::commands::advise) verify_data: u64,
}

fn data_bytes(text: &str) -> Result<u64, String> {
    bytes_of_at_least(text, 16 << 20, "16MiB")
}
