use std::path::PathBuf;
use std::str::FromStr;

use clap::Args as ClapArgs;
use nandle_units::parse_bytes;

/// Compare profiles of one device over time, or of several devices
///
/// Two profiles of one device show what changed, the first being the older. Profiles of several
/// devices are shown side by side: figures, prices, sizing, and the best device for each component
/// of a database.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  nandle compare january.json june.json --fail-on-regression 10\n  nandle compare disk.json ssd.json --price disk=180 --price ssd=624\n  nandle compare disk.json ssd.json --read-share 25 --page 8KiB --clock-ghz 3.2 --cpi 2.1"
)]
pub(crate) struct CompareArgs {
    /// Profiles written by `nandle probe`
    #[arg(required = true, value_name = "PROFILE")]
    pub(crate) profiles: Vec<PathBuf>,
    /// Exit with code 1 if the second profile is worse by more than this percentage
    ///
    /// A difference counts only if the intervals don't overlap.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) fail_on_regression: Option<f64>,
    /// Price of a drive, in any currency; NAME is the profile's file name without .json
    #[arg(long = "price", value_name = "NAME=AMOUNT")]
    pub(crate) prices: Vec<PriceArg>,
    /// Percentage of page requests that are reads
    #[arg(long, value_name = "PERCENT", default_value = "50", value_parser = percent)]
    pub(crate) read_share: f64,
    /// Page size of the database
    #[arg(long, value_name = "SIZE", default_value = "8KiB", value_parser = page_bytes)]
    pub(crate) page: u64,
    /// Processor clock rate
    #[arg(long, value_name = "GHZ", default_value = "3", value_parser = positive)]
    pub(crate) clock_ghz: f64,
    /// Processor cycles per instruction
    #[arg(long, value_name = "CYCLES", default_value = "2", value_parser = positive)]
    pub(crate) cpi: f64,
    /// Processor speed in million instructions per second, instead of --clock-ghz and --cpi
    #[arg(long, value_name = "COUNT", value_parser = positive, conflicts_with_all = ["clock_ghz", "cpi"])]
    pub(crate) mips: Option<f64>,
    /// Percentage of the database's time spent in I/O on the first drive
    #[arg(long, value_name = "PERCENT", default_value = "60", value_parser = percent)]
    pub(crate) io_share: f64,
    /// Price of a GiB of memory, in the currency of --price
    #[arg(long, value_name = "AMOUNT", value_parser = positive)]
    pub(crate) memory_price: Option<f64>,
    /// Size of the table for scans and index look-ups
    #[arg(long, value_name = "SIZE", default_value = "10GiB", value_parser = table_bytes)]
    pub(crate) table: u64,
}

/// Price of a drive.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PriceArg {
    pub(crate) name: String,
    pub(crate) amount: f64,
}

impl FromStr for PriceArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, amount) = text
            .rsplit_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| format!("{text:?}: expected NAME=AMOUNT, as in ssd=624.50"))?;
        Ok(Self { name: name.into(), amount: positive(amount)? })
    }
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("expected a number above 0, got {text:?}"))
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse().ok();
    let number = number.filter(|number: &f64| (0.0..=100.0).contains(number));
    number.ok_or_else(|| format!("expected per cent, 0 to 100, got {text:?}"))
}

fn page_bytes(text: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text).map_err(|error| error.to_string())?;
    let fits = (512..=16 << 20).contains(&bytes);
    if fits { Ok(bytes) } else { Err("expected a page of 512B to 16MiB".into()) }
}

fn table_bytes(text: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text).map_err(|error| error.to_string())?;
    if bytes == 0 { Err("expected a size above 0".into()) } else { Ok(bytes) }
}
