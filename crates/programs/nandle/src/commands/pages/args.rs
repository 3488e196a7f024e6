use std::path::PathBuf;

use clap::{Args, Subcommand};
use nandle_pages::salvage::InspectOptions;
use nandle_pages::{PageOptions, PolicyKind};
use nandle_terminal::args::positive_bytes;

/// Check a page store for damage, and salvage its sound pages
///
/// The store is opened for reading only and never written to. It needn't have been closed, may be
/// damaged anywhere, and may be on a disk that can't read all of it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle pages verify pages.db\n  nandle pages verify pages.db --all\n  nandle pages verify pages.db --json\n  nandle pages salvage pages.db -o saved.db\n  nandle pages salvage pages.db -o saved.db --policy stable-ring --page-size 4KiB --pages 100000\n                                     if all copies of the label are lost"
)]
pub(crate) struct PagesArgs {
    #[command(subcommand)]
    pub(super) command: PagesCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum PagesCommand {
    /// List all damage of a page store
    ///
    /// Checks every copy of every structure, reads every page, and verifies its checksum if it has
    /// one. Continues to the end, whatever it finds. Findings of a kind are shown together; --all
    /// lists each.
    ///
    /// Exit codes: 0 the store is sound, 1 damage was found, 2 the store can't be examined.
    #[command(
        after_help = "Examples:\n  nandle pages verify pages.db\n  nandle pages verify pages.db --all\n  nandle pages verify pages.db --json | jq '.findings[] | select(.severity == \"loss\")'"
    )]
    Verify(VerifyArgs),
    /// Copy the sound pages of a page store to a new store
    ///
    /// The new store has the same policy, page length and number of pages. It holds the newest
    /// version of each page, or an older one if the newest is lost. Pages of which no version is
    /// left are zeros. The command lists the pages that were lost, and those that are or may be
    /// older than the last commit.
    ///
    /// Exit codes: 0 the store is sound and was copied completely, 1 damage was found, 2 salvage is
    /// impossible and there is no new store.
    #[command(
        after_help = "Examples:\n  nandle pages salvage pages.db -o saved.db\n  nandle pages salvage pages.db -o saved.db --newest-only\n  nandle pages salvage pages.db -o saved.db --policy stable-ring --page-size 4KiB --pages 100000\n                                     if all copies of the label are lost"
    )]
    Salvage(SalvageArgs),
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// File or device of the store
    pub(super) store: PathBuf,
    /// List every finding and all pages
    #[arg(long, visible_alias = "explain")]
    pub(super) all: bool,
    #[command(flatten)]
    pub(super) layout: LayoutArgs,
}

#[derive(Debug, Args)]
pub(super) struct SalvageArgs {
    /// File or device of the store
    pub(super) store: PathBuf,
    /// File for the new store; must not exist
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: PathBuf,
    /// Leave out pages whose newest version is lost
    #[arg(long)]
    pub(super) newest_only: bool,
    /// List every finding and all pages
    #[arg(long, visible_alias = "explain")]
    pub(super) all: bool,
    #[command(flatten)]
    pub(super) layout: LayoutArgs,
}

/// Layout of a store, for use if its label is lost.
#[derive(Debug, Args)]
pub(super) struct LayoutArgs {
    /// Write policy of the store, if all copies of the label are lost
    #[arg(long, value_name = "POLICY", requires_all = ["page_size", "pages"])]
    policy: Option<PolicyKind>,
    /// Size of a page, if all copies of the label are lost
    #[arg(long, value_name = "SIZE", value_parser = positive_bytes, requires = "policy")]
    page_size: Option<u64>,
    /// Number of pages at creation, if all copies of the label are lost
    #[arg(long, value_name = "COUNT", requires = "policy")]
    pages: Option<u64>,
    /// Maximum number of pages, with --policy [default: four times --pages]
    #[arg(long, value_name = "COUNT", requires = "policy")]
    pages_max: Option<u64>,
    /// Size of the staging area, with --policy [default: an eighth of the pages, 16MiB to 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = positive_bytes, requires = "policy")]
    buffer: Option<u64>,
    /// Alignment of the areas, with --policy [default: 1MiB]
    #[arg(long, value_name = "SIZE", value_parser = positive_bytes, requires = "policy")]
    alignment: Option<u64>,
}

impl LayoutArgs {
    /// Library options for these arguments.
    pub(super) fn options(&self) -> InspectOptions {
        let (Some(policy), Some(page_size), Some(pages)) = (self.policy, self.page_size, self.pages) else {
            return InspectOptions::default();
        };
        let mut options = PageOptions::new(pages);
        options.policy = policy;
        options.page_bytes = usize::try_from(page_size).unwrap_or(usize::MAX);
        options.pages_max = self.pages_max;
        options.buffer_bytes = self.buffer;
        if let Some(alignment) = self.alignment {
            options.open.costs.mapping_unit_bytes = alignment;
        }
        InspectOptions::default().assuming(options)
    }
}
