use nandle_pages::PolicyKind;
use nandle_replay::{Compacted, PolicyOutcome};
use nandle_units::format_bytes;
use serde::Serialize;

use super::costs::ToldCosts;
use crate::words::counted;

/// The result.
#[derive(Serialize)]
pub(super) struct Told<'a> {
    pub(super) schema_version: u32,
    pub(super) trace: String,
    pub(super) target: String,
    /// Writes of the trace, of which each is a batch of pages.
    pub(super) trace_writes: u64,
    pub(super) page_writes: u64,
    pub(super) pages: u64,
    pub(super) page_bytes: u64,
    pub(super) durability: &'a str,
    pub(super) queue_depth: u32,
    /// The part of each page's contents that compresses to nothing.
    pub(super) compressible_percent: u8,
    /// Whether `out-of-place` compresses.
    pub(super) compresses: bool,
    pub(super) addresses: ToldAddresses,
    pub(super) wrapped: bool,
    /// What a modelled target was made as large as for the work; `null` where it is as it was named.
    pub(super) enlarged_to_bytes: Option<u64>,
    pub(super) bad_lines: u64,
    pub(super) write_costs: ToldCosts,
    pub(super) remarks: Vec<String>,
    pub(super) policies: &'a [PolicyOutcome],
    pub(super) left_out: &'a [LeftOut],
}

impl Told<'_> {
    /// How many writes there are, and of what.
    pub(super) fn amount(&self) -> String {
        let page = format_bytes(self.page_bytes);
        if self.trace_writes == self.page_writes {
            format!("{} of {page}", counted(self.page_writes, "write"))
        } else {
            format!(
                "{} ({} of {page})",
                counted(self.trace_writes, "write"),
                counted(self.page_writes, "page")
            )
        }
    }

    /// When a write had to be durable, in words that follow "durable".
    pub(super) fn durable(&self) -> &'static str {
        match self.durability {
            "each" => "one by one",
            "trace" => "where the trace syncs",
            _ => "at the end",
        }
    }

    /// What makes the policies' figures differ that isn't their merit.
    pub(super) fn caveats(&self) -> Vec<String> {
        let has = |is_wanted: &dyn Fn(&PolicyOutcome) -> bool| self.policies.iter().any(is_wanted);
        let is_direct = |policy: &PolicyOutcome| policy.policy == PolicyKind::Direct.name();
        if !has(&is_direct) || !has(&|policy| !is_direct(policy)) {
            return Vec::new();
        }
        let waits = "direct waits until the drive has taken each page, where the staging policies gather pages in \
                     memory: with more writes under way (--queue-depth) it waits for several at once.";
        let commits = "A commit is one durable write where a policy stages it, and where direct has a single page that \
                       comes alone; direct with several pages, and auto when it goes straight home, write and then \
                       flush.";
        let waits = (self.queue_depth == 1 && self.durability != "each").then(|| waits.to_owned());
        waits.into_iter().chain((self.durability == "each").then(|| commits.to_owned())).collect()
    }

    /// What the pages were filled with, as a part of a sentence.
    pub(super) fn contents(&self) -> String {
        let contents = match self.compressible_percent {
            0 => "nothing in them compresses".to_owned(),
            percent => format!("{percent} % of each page compress to nothing"),
        };
        let is_off = !self.compresses && self.compressible_percent > 0;
        if is_off { format!("{contents}, and nobody compresses") } else { contents }
    }
}

/// What became of the trace's addresses.
#[derive(Debug, Serialize)]
#[serde(tag = "mode", rename_all = "lowercase")]
pub(super) enum ToldAddresses {
    /// Areas that are written lie side by side.
    Compact {
        /// Bytes of an area.
        area_bytes: u64,
        /// Areas that are written to.
        area_count: u64,
        /// Bytes before and between them, which are left out.
        left_out_bytes: u64,
    },
    /// They are the trace's.
    Keep,
}

impl From<Option<Compacted>> for ToldAddresses {
    fn from(compacted: Option<Compacted>) -> Self {
        compacted.map_or(Self::Keep, |Compacted { area_bytes, areas, left_out_bytes }| Self::Compact {
            area_bytes,
            area_count: areas,
            left_out_bytes,
        })
    }
}

/// A policy without figures.
#[derive(Debug, Clone, Serialize)]
pub(super) struct LeftOut {
    pub(super) policy: &'static str,
    /// Whether its store failed at work. Otherwise it was never begun, because it can't take the work.
    pub(super) failed: bool,
    pub(super) reason: String,
}

impl LeftOut {
    /// It can't take the work.
    pub(super) fn refused(policy: PolicyKind, reason: &impl ToString) -> Self {
        Self { policy: policy.name(), failed: false, reason: reason.to_string() }
    }

    /// Its store failed.
    pub(super) fn failed(policy: PolicyKind, reason: &impl ToString) -> Self {
        Self { policy: policy.name(), failed: true, reason: reason.to_string() }
    }

    /// A sentence.
    pub(super) fn sentence(&self) -> String {
        // An error of a store names its policy itself.
        let reason = self
            .reason
            .strip_prefix(self.policy)
            .map_or(self.reason.as_str(), |rest| rest.trim_start_matches([',', ':', ' ']));
        let what = if self.failed { "failed and has no figures" } else { "is left out" };
        format!("{} {what}: {reason}.", self.policy)
    }
}
