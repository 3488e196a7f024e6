//! Descriptions of a replay, shared by the table and the report.

use nandle_pages::PolicyKind;
use nandle_units::{counted, format_bytes};

use super::ReplayFile;
use super::decision::time;
use crate::{AutoFindings, Durability, Method, PolicyOutcome};

impl ReplayFile {
    /// Number and length of the writes.
    pub fn amount(&self) -> String {
        let passes = self.passes.filter(|passes| *passes > 1);
        let passes = passes.map_or_else(String::new, |passes| format!("{passes} passes of "));
        passes + &self.amount_of_a_pass()
    }

    fn amount_of_a_pass(&self) -> String {
        let page = format_bytes(self.page_bytes);
        if self.trace_writes == self.page_writes {
            format!("{} of {page}", counted(self.page_writes, "write"))
        } else {
            let pages = counted(self.page_writes, "page");
            format!("{} ({pages} of {page})", counted(self.trace_writes, "write"))
        }
    }

    /// Point at which writes had to be durable, in words that follow "durable".
    pub fn durable(&self) -> &'static str {
        match self.durability {
            Durability::Each => "one by one",
            Durability::Trace => "where the trace syncs",
            Durability::None => "at the end",
        }
    }

    /// Caveats that affect the comparison of the policies, each a sentence.
    pub fn caveats(&self) -> Vec<String> {
        self.beside_direct().into_iter().chain(self.before_cleaning()).collect()
    }

    fn beside_direct(&self) -> Option<String> {
        let is_direct = |policy: &PolicyOutcome| policy.policy == PolicyKind::Direct;
        if !self.policies.iter().any(is_direct) || self.policies.iter().all(is_direct) {
            return None;
        }
        let waits = "direct waits for the drive after each page, while the staging policies gather pages in memory. \
                     With more concurrent writes (--queue-depth), it waits for several at once.";
        let commits = "A commit is one durable write where a policy stages it, and where direct has a single page that \
                       comes alone; direct with several pages, and auto when it goes straight home, write and then \
                       flush.";
        match self.durability {
            Durability::Each => Some(commits.to_owned()),
            Durability::Trace | Durability::None if self.queue_depth == 1 => Some(waits.to_owned()),
            Durability::Trace | Durability::None => None,
        }
    }

    /// Caveat about figures of `out-of-place` without cleaning, as on a new store.
    fn before_cleaning(&self) -> Option<String> {
        self.policies.iter().any(PolicyOutcome::is_before_cleaning).then(|| {
            "out-of-place never had to move a page to make room, so nothing of cleaning is in its figures: --fill 90% and more \
             --passes bring it about."
                .to_owned()
        })
    }

    /// Last choice of `auto` and its reason; `None` if it didn't run.
    pub fn auto_in_words(&self) -> Option<String> {
        let AutoFindings { chosen, trials, staged_page_ns, straight_page_ns, .. } =
            self.policies.iter().find_map(|policy| policy.auto)?;
        let way = match chosen {
            Some(Method::Staging) => "staging",
            Some(Method::Straight) => "writing directly",
            None => {
                return Some("auto made no choice: the work ended before it had tried both methods.".into());
            }
        };
        let Some((staged_ns, straight_ns)) = staged_page_ns.zip(straight_page_ns) else {
            return Some(format!(
                "auto kept to {way} because of the given write costs: the work ended before it had tried the other method."
            ));
        };
        // Ties favour direct writing: staging must be clearly faster.
        let is_outdated = if chosen == Some(Method::Staging) {
            straight_ns < staged_ns
        } else {
            staged_ns as f64 <= 0.9 * straight_ns as f64
        };
        let outdated = if is_outdated { ", too late for another change" } else { "" };
        Some(format!(
            "auto last chose {way}, after {} with the trace's writes: when last measured, a page took {} staged and {} \
             written directly{outdated}.",
            counted(trials, "trial"),
            time(staged_ns as f64),
            time(straight_ns as f64)
        ))
    }

    /// Contents of the pages, as a part of a sentence.
    pub fn contents(&self) -> String {
        let contents = match self.compressible_percent {
            0 => "nothing in them compresses".to_owned(),
            percent => format!("{percent} % of each page compress to nothing"),
        };
        let is_off = !self.compresses && self.compressible_percent > 0;
        if is_off { format!("{contents}, and no policy compresses") } else { contents }
    }
}
