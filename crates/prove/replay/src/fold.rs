//! Folds addresses beyond the end of a store back into it.

use crate::{ReplayError, Step, Work};

/// Minimum pages to fold into. Fewer pages would not represent the trace.
const FOLD_PAGES_MIN: u64 = 1024;

/// Checks that a store of `pages_max` pages is large enough to fold into.
pub(crate) fn check(work: &Work, pages_max: u64) -> Result<(), ReplayError> {
    if pages_max >= FOLD_PAGES_MIN {
        return Ok(());
    }
    let page_bytes = work.page_bytes as u64;
    Err(ReplayError::TargetTooSmall {
        needed_bytes: work.needed_bytes(),
        room_bytes: pages_max.saturating_mul(page_bytes),
        least_bytes: FOLD_PAGES_MIN.saturating_mul(page_bytes),
    })
}

/// Returns the reason why a store of `pages_max` pages can't take the work unfolded.
pub(crate) fn refuse(work: &Work, pages_max: u64) -> ReplayError {
    check(work, pages_max).err().unwrap_or(ReplayError::BeyondTarget {
        needed_bytes: work.needed_bytes(),
        room_bytes: pages_max.saturating_mul(work.page_bytes as u64),
        kept: work.compacted.is_none(),
    })
}

/// Folds the steps into a store of `pages_max` pages.
pub(crate) fn steps(steps: &[Step], pages_max: u64) -> Vec<Step> {
    let mut folded = Vec::with_capacity(steps.len());
    for step in steps {
        match *step {
            Step::Sync => folded.push(Step::Sync),
            Step::Write { page, pages } => {
                folded
                    .extend(ranges(page, pages, pages_max).map(|(page, pages)| Step::Write { page, pages }));
            }
            // Discarding every page once is enough.
            Step::Discard { page, pages } => {
                let pages = pages.min(u32::try_from(pages_max).unwrap_or(u32::MAX));
                folded.extend(
                    ranges(page, pages, pages_max).map(|(page, pages)| Step::Discard { page, pages }),
                );
            }
        }
    }
    folded
}

/// Splits a range at the end of the store; each remainder starts at the beginning.
fn ranges(page: u64, pages: u32, pages_max: u64) -> impl Iterator<Item = (u64, u32)> {
    let (mut page, mut left) = (page % pages_max, pages);
    std::iter::from_fn(move || {
        let room = u32::try_from(pages_max - page).unwrap_or(u32::MAX);
        let now = (page, left.min(room));
        (page, left) = (0, left - now.1);
        (now.1 > 0).then_some(now)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_is_split_at_every_end_of_the_store() {
        let of = |page, pages| ranges(page, pages, 2048).collect::<Vec<_>>();
        assert_eq!(of(2047, 2), [(2047, 1), (0, 1)]);
        assert_eq!(of(3000, 1), [(952, 1)]);
        assert_eq!(of(2047, 5000), [(2047, 1), (0, 2048), (0, 2048), (0, 903)]);
        assert_eq!(of(5, 0), []);
    }
}
