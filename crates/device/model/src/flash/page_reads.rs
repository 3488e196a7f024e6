//! Read time of a page: the number of times its cells are sensed, and retries after uncorrectable
//! errors.
//!
//! The bits of a cell belong to pages of several types, and each type has its number of reference
//! voltages; the cells are sensed once for each. If the voltages have shifted by wear and time,
//! error correction fails, and the page is read again with other references (Park et al.: *Reducing
//! Solid-State Drive Read Latency by Optimizing Read-Retry*, ASPLOS 2021). The quality differs from
//! page to page and stays with the contents, so a page needs the same number of retries at each
//! read until its block is erased.
//!
//! Data retention and refreshing are left out. A run in virtual time lasts seconds or minutes, and
//! retention errors take days and weeks to gather (Cai et al.: *Flash Correct-and-Refresh*, ICCD
//! 2012). A drive that rewrites all of its 4 TB once a month writes 1.5 MB/s, less than a
//! thousandth of its rate.

use super::parameters::{ChipParameters, ReadRetry};

/// Limit of retries; beyond it a drive uses other means.
const RETRIES_MAX: u32 = 40;

/// Properties of a page that determine its read time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageState {
    /// Page number in its block.
    pub(crate) page: u32,
    /// Program operation that wrote it, numbered over the drive.
    pub(crate) row: u32,
    /// Erase count of its block.
    pub(crate) erases: u32,
}

#[derive(Debug)]
pub(crate) struct PageReads {
    /// Cell time of each type of page; types take turns in a block.
    read_ns: Vec<u64>,
    retry: Option<ReadRetry>,
}

impl PageReads {
    /// `None` if all pages are alike and none is read twice.
    pub(crate) fn of(parameters: &ChipParameters) -> Option<Self> {
        let senses = if parameters.senses.is_empty() { &[1][..] } else { &parameters.senses };
        if senses.len() == 1 && parameters.read_retry.is_none() {
            return None;
        }
        let all: u64 = senses.iter().copied().map(u64::from).sum();
        let types = senses.len() as u64;
        let read_ns = |senses: &u32| (parameters.read_ns * types * u64::from(*senses) + all / 2) / all.max(1);
        Some(Self { read_ns: senses.iter().map(read_ns).collect(), retry: parameters.read_retry.clone() })
    }

    /// Cell time of a page.
    pub(crate) fn read_ns(&self, page: u32) -> u64 {
        debug_assert!(!self.read_ns.is_empty(), "there is one type of page at least");
        let kind = page as usize % self.read_ns.len().max(1);
        self.read_ns.get(kind).copied().unwrap_or(0)
    }

    /// Number of retries of a page.
    pub(crate) fn retries(&self, state: PageState) -> u32 {
        let Some(retry) = &self.retry else { return 0 };
        let quality = quality(retry.seed, state);
        let mut part = retry.part_of_pages + retry.part_of_pages_per_cycle * f64::from(state.erases);
        let mut retries = 0;
        while quality < part && retries < RETRIES_MAX {
            retries += 1;
            part *= retry.again;
        }
        retries
    }

    /// Time from the end of a read until its failure is detected.
    pub(crate) fn decode_ns(&self) -> u64 {
        self.retry.as_ref().map_or(0, |retry| retry.decode_ns)
    }
}

/// Rank of the page among all pages, from 0.0 for the worst to 1.0. A stable pseudorandom number
/// (`SplitMix64`; Steele, Lea, Flood, OOPSLA 2014).
fn quality(seed: u64, state: PageState) -> f64 {
    let own = u64::from(state.erases) << 32 | u64::from(state.row);
    let mut mixed = seed ^ own.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library;

    fn reads(senses: &[u32], read_retry: Option<ReadRetry>) -> Option<PageReads> {
        let mut chips = library::flash("x25-e-64").unwrap().chips;
        chips.read_ns = 50_000;
        chips.senses = senses.to_vec();
        chips.read_retry = read_retry;
        PageReads::of(&chips)
    }

    fn retry(part_of_pages: f64, part_of_pages_per_cycle: f64) -> ReadRetry {
        ReadRetry { part_of_pages, part_of_pages_per_cycle, again: 0.1, decode_ns: 0, seed: 1 }
    }

    #[test]
    fn types_take_turns_and_their_mean_is_the_pages() {
        let reads = reads(&[2, 3, 2], None).unwrap();
        let times: Vec<u64> = (0..6).map(|page| reads.read_ns(page)).collect();
        assert_eq!(times, [42_857, 64_286, 42_857, 42_857, 64_286, 42_857]);
    }

    #[test]
    fn pages_that_are_all_alike_need_no_table() {
        assert!(reads(&[], None).is_none() && reads(&[1], None).is_none());
    }

    #[test]
    fn as_many_pages_are_read_again_as_are_bad_and_more_of_worn_blocks() {
        let reads = reads(&[], Some(retry(0.01, 0.000_1))).unwrap();
        let part = |erases: u32, times: u32| {
            let bad = (0..200_000).filter(|&row| reads.retries(PageState { page: 0, row, erases }) >= times);
            bad.count() as f64 / 200_000.0
        };
        let shares = [part(0, 1), part(0, 2), part(900, 1), part(900, 2)];
        for (got, expected) in shares.into_iter().zip([0.01, 0.001, 0.1, 0.01]) {
            assert!((got / expected - 1.0).abs() < 0.15, "{shares:?}");
        }
    }

    #[test]
    fn a_page_is_as_good_each_time_until_its_block_is_erased() {
        let reads = reads(&[], Some(retry(0.5, 0.0))).unwrap();
        let retries =
            |erases| (0..64).map(|row| reads.retries(PageState { page: 0, row, erases })).collect::<Vec<_>>();
        assert_eq!(retries(3), retries(3));
        assert_ne!(retries(3), retries(4));
    }
}
