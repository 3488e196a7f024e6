use std::path::PathBuf;

use clap::{Args, Subcommand};
use nandle_pages::salvage::InspectOptions;
use nandle_pages::{PageOptions, PolicyKind};
use nandle_terminal::args::positive_bytes;

/// Examine a page store for damage, and copy what is sound of a damaged one.
///
/// The store's file is opened for reading only, and never written to. It needn't have been closed, and may be damaged anywhere, or
/// lie on a disk that can't read all of it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  nandle pages verify pages.db\n  nandle pages verify pages.db --all\n  nandle pages verify pages.db --json\n  nandle pages salvage pages.db -o saved.db\n  nandle pages salvage pages.db -o saved.db --policy stable-ring --page-size 4KiB --pages 100000\n                                     all copies of the label are lost"
)]
pub(crate) struct PagesArgs {
    #[command(subcommand)]
    pub(super) command: PagesCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum PagesCommand {
    /// List all damage of a page store
    ///
    /// Looks at every copy of every structure, reads every page, and holds it against its checksum where there is one. Goes on to the
    /// end, whatever it finds. Findings of a kind are shown together; --all lists each.
    ///
    /// Exit codes: 0 the store is sound, 1 damage was found, 2 the store can't be examined.
    #[command(
        after_help = "Examples:\n  nandle pages verify pages.db\n  nandle pages verify pages.db --all\n  nandle pages verify pages.db --json | jq '.findings[] | select(.severity == \"loss\")'"
    )]
    Verify(VerifyArgs),
    /// Copy what is sound of a page store to a new one
    ///
    /// The new store has the same policy, page length and number of pages. It holds every page of which something is left: the newest
    /// version, or an older one where the newest is lost. Lost pages are zeros there. The command lists which pages were lost, and which are
    /// or may be older than the last commit.
    ///
    /// Exit codes: 0 the store is sound and all of it was copied, 1 damage was found, 2 it can't be done; then there is no new store.
    #[command(
        after_help = "Examples:\n  nandle pages salvage pages.db -o saved.db\n  nandle pages salvage pages.db -o saved.db --newest-only\n  nandle pages salvage pages.db -o saved.db --policy stable-ring --page-size 4KiB --pages 100000\n                                     all copies of the label are lost"
    )]
    Salvage(SalvageArgs),
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// The store's file, or the device that it is on
    pub(super) store: PathBuf,
    /// List each finding and all pages
    #[arg(long, visible_alias = "explain")]
    pub(super) all: bool,
    #[command(flatten)]
    pub(super) layout: LayoutArgs,
}

#[derive(Debug, Args)]
pub(super) struct SalvageArgs {
    /// The store's file, or the device that it is on
    pub(super) store: PathBuf,
    /// The new store's file. It must not exist
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: PathBuf,
    /// Leave pages out of which only an older version is left
    #[arg(long)]
    pub(super) newest_only: bool,
    /// List each finding and all pages
    #[arg(long, visible_alias = "explain")]
    pub(super) all: bool,
    #[command(flatten)]
    pub(super) layout: LayoutArgs,
}

/// How the store was made, in case that its label is lost.
#[derive(Debug, Args)]
pub(super) struct LayoutArgs {
    /// If all copies of the label are lost: how the store writes
    #[arg(long, value_name = "POLICY", requires_all = ["page_size", "pages"])]
    policy: Option<PolicyKind>,
    /// If all copies of the label are lost: length of a page
    #[arg(long, value_name = "SIZE", value_parser = positive_bytes, requires = "policy")]
    page_size: Option<u64>,
    /// If all copies of the label are lost: how many pages the store was made with
    #[arg(long, value_name = "COUNT", requires = "policy")]
    pages: Option<u64>,
    /// With --policy: how many pages there was to be room for [default: four times as many]
    #[arg(long, value_name = "COUNT", requires = "policy")]
    pages_max: Option<u64>,
    /// With --policy: size of the staging area [default: an eighth of the pages, 16MiB to 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = positive_bytes, requires = "policy")]
    buffer: Option<u64>,
    /// With --policy: what the areas were aligned to [default: 1MiB]
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
