use serde::Serialize;

use super::share;

/// Lengths of the windows, in page writes.
const WINDOWS: [usize; 5] = [512, 2048, 8192, 32_768, 131_072];

/// Effect of a write buffer of a window's size: share of rewrites, and of pages with neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RunShare {
    /// Length of the window, in consecutive page writes.
    pub window_writes: u64,
    /// Share of a window's page writes that rewrite a page of the same window.
    pub rewritten: f64,
    /// Share of a window's pages in runs of two or more consecutive pages.
    pub in_runs_of_2: f64,
    /// Share in runs of four or more.
    pub in_runs_of_4: f64,
    /// Share in runs of sixteen or more.
    pub in_runs_of_16: f64,
    /// Longest run of any window, in pages.
    pub longest_pages: u64,
}

/// Runs of consecutive pages in successive windows.
pub(super) struct Runs {
    windows: Vec<Window>,
}

struct Window {
    writes: usize,
    pages: Vec<u64>,
    all: u64,
    distinct: u64,
    in_runs: [u64; 3],
    longest: u64,
}

const LENGTHS: [u64; 3] = [2, 4, 16];

impl Default for Runs {
    fn default() -> Self {
        let window = |&writes: &usize| Window {
            writes,
            pages: Vec::new(),
            all: 0,
            distinct: 0,
            in_runs: [0; 3],
            longest: 0,
        };
        Self { windows: WINDOWS.iter().map(window).collect() }
    }
}

impl Runs {
    pub(super) fn add(&mut self, page: u64) {
        for window in &mut self.windows {
            window.pages.push(page);
            if window.pages.len() == window.writes {
                window.close();
            }
        }
    }

    /// Omits windows that were never filled, except the first if no window was filled.
    pub(super) fn shares(mut self) -> Vec<RunShare> {
        let filled = self.windows.iter().filter(|window| window.distinct > 0).count();
        self.windows.truncate(filled.max(1));
        for window in &mut self.windows {
            window.close();
        }
        let told = |window: &Window| {
            let [in_2, in_4, in_16] = window.in_runs.map(|pages| share(pages, window.distinct));
            RunShare {
                window_writes: window.writes as u64,
                rewritten: share(window.all - window.distinct, window.all),
                in_runs_of_2: in_2,
                in_runs_of_4: in_4,
                in_runs_of_16: in_16,
                longest_pages: window.longest,
            }
        };
        self.windows.iter().filter(|window| window.distinct > 0).map(told).collect()
    }
}

impl Window {
    fn close(&mut self) {
        self.all += self.pages.len() as u64;
        self.pages.sort_unstable();
        self.pages.dedup();
        for run in self.pages.chunk_by(|a, b| a + 1 == *b) {
            let pages = run.len() as u64;
            self.longest = self.longest.max(pages);
            for (in_runs, length) in self.in_runs.iter_mut().zip(LENGTHS) {
                *in_runs += if pages >= length { pages } else { 0 };
            }
        }
        self.distinct += self.pages.len() as u64;
        debug_assert!(self.distinct <= self.all, "{} pages in {} writes", self.distinct, self.all);
        debug_assert!(self.in_runs.is_sorted_by(|shorter, longer| shorter >= longer), "{:?}", self.in_runs);
        debug_assert!(self.longest <= self.writes as u64, "a run of {} in {}", self.longest, self.writes);
        self.pages.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_in_any_order_of_arrival() {
        let mut runs = Runs::default();
        for page in [10, 3, 12, 11, 13, 20, 21, 3] {
            runs.add(page);
        }
        let shares = runs.shares();
        assert_eq!(shares.len(), 1, "no window was filled");
        let first = shares[0];
        assert!((first.in_runs_of_2 - 6.0 / 7.0).abs() < 1e-12);
        assert!((first.in_runs_of_4 - 4.0 / 7.0).abs() < 1e-12);
        assert_eq!(first.longest_pages, 4);
        assert!((first.rewritten - 1.0 / 8.0).abs() < 1e-12);
    }

    #[test]
    fn window_ends_when_full() {
        let mut runs = Runs::default();
        for page in 0..1024 {
            runs.add(page);
        }
        assert_eq!(runs.shares()[0].longest_pages, 512);
    }
}
