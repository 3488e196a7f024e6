use serde::Serialize;

use super::share;

/// Reported shares of the written pages, in thousandths.
const THOUSANDTHS: [u64; 6] = [1, 10, 50, 100, 200, 500];

/// Share of writes that go to the most-written pages.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SkewShare {
    /// Share of the written pages, the most-written ones first.
    pub of_pages: f64,
    /// Share of the page writes that go to these pages.
    pub of_writes: f64,
}

/// Computes the shares from the number of writes of each page.
pub(super) fn shares(writes_by_page: impl Iterator<Item = u64>) -> Vec<SkewShare> {
    let mut writes: Vec<u64> = writes_by_page.collect();
    writes.sort_unstable_by_key(|writes| std::cmp::Reverse(*writes));
    debug_assert!(writes.last() != Some(&0), "a page that wasn't written isn't among them");
    let all = writes.iter().sum();
    let told = |thousandths: u64| {
        let pages = (writes.len() as u64 * thousandths).div_ceil(1000);
        let taken = writes.iter().take(usize::try_from(pages).unwrap_or(usize::MAX)).sum();
        SkewShare { of_pages: share(thousandths, 1000), of_writes: share(taken, all) }
    };
    if writes.is_empty() { Vec::new() } else { THOUSANDTHS.into_iter().map(told).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_written_pages_come_first() {
        let shares = shares([1, 1, 6, 1, 1, 1, 1, 1, 1, 6].into_iter());
        let of_writes =
            |of_pages: f64| shares.iter().find(|s| (s.of_pages - of_pages).abs() < 1e-12).unwrap().of_writes;
        assert!((of_writes(0.1) - 0.3).abs() < 1e-12);
        assert!((of_writes(0.2) - 0.6).abs() < 1e-12);
        assert!((of_writes(0.5) - 0.75).abs() < 1e-12);
    }
}
