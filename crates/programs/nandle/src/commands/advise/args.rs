use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use nandle_advise::Product;
use nandle_advise::settings::{Version, Workload};
use nandle_terminal::args::bytes_of_at_least;

use super::pages::StoreArgs;
#[cfg(feature = "verify")]
use super::verify::TrialArgs;

/// Assess a device, or recommend settings for a database, the kernel or a page store
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  nandle advise profile.json\n  nandle advise profile.json --for postgresql > nandle.conf\n  nandle advise profile.json --for mariadb --product-version 10.11 --memory 16GiB\n  nandle advise profile.json --for linux > nandle.sh          review it, then run: sh nandle.sh\n  nandle advise profile.json --for pages --fill 80% --batch 16\n  nandle advise profile.json --for postgresql --verify        compare it with the defaults"
)]
pub(crate) struct AdviseArgs {
    /// Profile written by `nandle probe`
    pub(crate) profile: PathBuf,
    /// Product to recommend settings for; pages stands for the write policy of a page store
    ///
    /// Without this option, the device is assessed.
    #[arg(long = "for", value_name = "PRODUCT", value_parser = subjects())]
    pub(crate) product: Option<Subject>,
    /// Version of the product [default: for PostgreSQL, that of the data directory under --on;
    /// otherwise the latest known]
    #[arg(long, value_name = "VERSION", requires = "product")]
    pub(crate) product_version: Option<Version>,
    /// Workload of the database [default: oltp]
    #[arg(long, requires = "product", value_parser = workloads())]
    pub(crate) workload: Option<Workload>,
    /// Sessions that do I/O concurrently [default: 16 for oltp, 8 for mixed, 4 for olap; 1 for
    /// pages]
    #[arg(long, value_name = "COUNT", requires = "product", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) sessions: Option<u32>,
    /// Memory for the database's caches; without it, there is no advice on caches
    #[arg(long, value_name = "SIZE", requires = "product", value_parser = cache_bytes)]
    pub(crate) memory: Option<u64>,
    /// Directory of the database [default: the probed directory, if it is on this machine]
    ///
    /// Prints a warning if the profile is of another device. --verify runs here.
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) on: Option<PathBuf>,
    #[command(flatten)]
    pub(super) store: StoreArgs,
    #[cfg(feature = "verify")]
    #[command(flatten)]
    pub(super) trial: TrialArgs,
}

/// Subject of the advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Settings of a product.
    Product(Product),
    /// Write policy of a page store.
    Pages,
}

/// Name of page stores on the command line.
const PAGES: &str = "pages";

impl AdviseArgs {
    /// Returns true if the advice is also to be verified.
    #[cfg(feature = "verify")]
    pub(super) fn is_tried(&self) -> bool {
        self.trial.verify
    }

    /// Returns false: this build can't verify advice.
    #[cfg(not(feature = "verify"))]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(super) fn is_tried(&self) -> bool {
        false
    }
}

/// Parses the name of a product, or `pages`.
fn subjects() -> impl TypedValueParser<Value = Subject> {
    let names = Product::ALL.map(Product::name).into_iter().chain([PAGES]);
    PossibleValuesParser::new(names).try_map(|name| {
        if name == PAGES {
            return Ok(Subject::Pages);
        }
        named(Product::ALL, Product::name, &name).map(Subject::Product)
    })
}

/// Parses a workload, with an explanation of each.
fn workloads() -> impl TypedValueParser<Value = Workload> {
    let described = |workload: Workload| {
        PossibleValue::new(workload.name()).help(match workload {
            Workload::Oltp => "Many short transactions",
            Workload::Olap => "Few large queries",
            Workload::Mixed => "Both",
        })
    };
    let names = PossibleValuesParser::new(Workload::ALL.map(described));
    names.try_map(|name| named(Workload::ALL, Workload::name, &name))
}

fn named<T: Copy, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
    wanted: &str,
) -> Result<T, String> {
    all.into_iter().find(|one| name(*one) == wanted).ok_or_else(|| format!("{wanted:?} isn't known"))
}

fn cache_bytes(text: &str) -> Result<u64, String> {
    bytes_of_at_least(text, 16 << 20, "16MiB")
}
