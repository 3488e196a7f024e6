use clap::Args;
use nandle_terminal::args::bytes_of_at_least;

use super::contest::PAIRS_TO_TELL;

/// Whether and how the advice is tried.
#[derive(Debug, Args)]
pub(in crate::commands::advise) struct TrialArgs {
    /// Run a fixed workload with the defaults and with the advice, by turns, and print both (postgresql and sqlite)
    #[arg(long, requires = "product")]
    pub(in crate::commands::advise) verify: bool,
    /// Pairs of runs, one with the defaults and one with the advice; six at least, as fewer tell nothing from noise
    #[arg(long, value_name = "COUNT", default_value_t = PAIRS_TO_TELL, requires = "verify",
          value_parser = clap::value_parser!(u32).range(PAIRS_TO_TELL as i64..=1000))]
    pub(in crate::commands::advise) verify_pairs: u32,
    /// Size of the data that is worked on
    #[arg(long, value_name = "SIZE", default_value = "1GiB", requires = "verify", value_parser = data_bytes)]
    pub(in crate::commands::advise) verify_data: u64,
}

fn data_bytes(text: &str) -> Result<u64, String> {
    bytes_of_at_least(text, 16 << 20, "16MiB")
}
