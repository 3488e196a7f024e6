use crate::{ReplayError, Step, Work};

/// Flag of a page with undefined contents; the version in the lower bits is kept.
const DISCARDED: u32 = 1 << 31;
/// Pages per part: 256 KiB of memory.
const PART_PAGES: usize = 1 << 16;

/// Version of each page: 0 if never written, flagged if discarded. Parts are allocated when one of
/// their pages is written, so a store may be far larger than the data written to it.
pub(crate) struct Versions {
    parts: Vec<Option<Box<[u32]>>>,
}

impl Versions {
    pub(crate) fn new(pages: u64) -> Self {
        let parts = pages.div_ceil(PART_PAGES as u64);
        let parts =
            usize::try_from(parts).unwrap_or_else(|_| unreachable!("{parts} parts are more than memory"));
        Self { parts: vec![None; parts] }
    }

    /// Maximum memory for the versions of `pages` pages, in bytes.
    pub(crate) fn most_bytes(pages: u64) -> u64 {
        let part_bytes = (PART_PAGES * size_of::<u32>() + size_of::<Option<Box<[u32]>>>()) as u64;
        pages.div_ceil(PART_PAGES as u64).saturating_mul(part_bytes)
    }

    /// Assigns the next version to a page.
    pub(crate) fn increment(&mut self, page: u64) -> u32 {
        let version = self.change(page, |version| (version & !DISCARDED) + 1);
        assert!(version & DISCARDED == 0, "page {page} has as many versions as are told apart");
        version
    }

    /// Marks the contents of a page as undefined.
    pub(crate) fn forget(&mut self, page: u64) {
        self.change(page, |version| version | DISCARDED);
    }

    fn change(&mut self, page: u64, change: impl FnOnce(u32) -> u32) -> u32 {
        let version = usize::try_from(page).ok().and_then(|place| {
            let part = self.parts.get_mut(place / PART_PAGES)?;
            part.get_or_insert_with(|| vec![0; PART_PAGES].into()).get_mut(place % PART_PAGES)
        });
        let Some(version) = version else { unreachable!("page {page} lies in the store") };
        *version = change(*version);
        *version
    }

    /// Pages with defined contents, in ascending order, and their versions.
    pub(crate) fn known(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let parts = (0..).step_by(PART_PAGES).zip(&self.parts);
        let pages = parts.filter_map(|(first, part)| Some((first..).zip(part.as_ref()?.iter().copied())));
        pages.flatten().filter(|(_, version)| *version > 0 && version & DISCARDED == 0)
    }
}

impl Work {
    /// Checks that versions suffice for all passes.
    ///
    /// # Errors
    ///
    /// A page is written too often.
    pub fn check_versions(&self) -> Result<(), ReplayError> {
        let most = u64::from(DISCARDED - 1);
        // The fill writes each page once, too.
        let written =
            |of_a_pass: u64| of_a_pass.saturating_mul(u64::from(self.passes.max(1))).saturating_add(1);
        // Upper bound, as if all writes were to one page; nearly always sufficient.
        if written(self.page_writes) <= most {
            return Ok(());
        }
        let of_a_pass = self.most_writes_of_a_page();
        let passes_max = most.saturating_sub(1) / of_a_pass.max(1);
        if written(of_a_pass) <= most {
            Ok(())
        } else {
            Err(ReplayError::TooManyVersions { of_a_pass, passes_max })
        }
    }

    /// Writes per pass of the most-written page.
    fn most_writes_of_a_page(&self) -> u64 {
        let mut versions = Versions::new(self.pages);
        let mut most = 0;
        for step in self.steps() {
            let Step::Write { page, pages } = step else { continue };
            for page in *page..page + u64::from(*pages) {
                most = most.max(versions.increment(page));
            }
        }
        u64::from(most)
    }
}

#[cfg(test)]
mod tests {
    use nandle_trace::{Operation, Record};

    use super::*;
    use crate::{Addresses, WorkOptions};

    /// One page is written three times per pass, and many others once.
    #[test]
    fn passes_are_limited_by_the_versions_of_a_page() {
        let record = |page: u64| Record {
            time_us: page,
            operation: Operation::Write,
            address: page * 4096,
            length_bytes: 4096,
            latency_ns: None,
        };
        let records = [7, 7].into_iter().chain(0..3000).map(|page| Ok(record(page)));
        let options = WorkOptions { page_bytes: 4096, limit: None, addresses: Addresses::Keep };
        let mut work = Work::read(records, options).unwrap();
        // Including the fill, this makes 2^31 - 1 versions.
        work.passes = ((1_u32 << 31) - 2) / 3;
        work.check_versions().unwrap();
        work.passes += 1;
        let error = work.check_versions().unwrap_err();
        let ReplayError::TooManyVersions { of_a_pass: 3, passes_max } = error else { panic!("{error}") };
        assert_eq!(passes_max, u64::from(work.passes) - 1);
    }

    #[test]
    fn versions_continue_after_a_discard_and_parts_are_allocated_on_write() {
        let mut versions = Versions::new(1 << 40);
        let far = (1 << 40) - 1;
        assert_eq!((versions.increment(far), versions.increment(far), versions.increment(3)), (1, 2, 1));
        versions.forget(far);
        versions.forget(9);
        assert_eq!(versions.known().collect::<Vec<_>>(), [(3, 1)]);
        assert_eq!(versions.increment(far), 3);
        assert_eq!(versions.known().collect::<Vec<_>>(), [(3, 1), (far, 3)]);
        assert_eq!(versions.parts.iter().flatten().count(), 2);
    }
}
