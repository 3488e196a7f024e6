//! Choice of a policy for a new store. Predicts each policy's time per page from request times of
//! the device, the expected fill and the batch size. [`model`] lists the requests of each policy.
//! No I/O.

mod cleaning;
mod model;
mod times;

pub use self::times::PageTimes;

use crate::{CreateOptions, OpenOptions, PolicyKind, Promises};

/// Expected use of a store.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedUse {
    /// Percentage of pages with contents. Writes to them are random and skewed, as in databases.
    pub fill_percent: u8,
    /// Pages per batch, written concurrently; at least 1.
    pub batch_pages: f64,
    /// Pages between two syncs of a writer; `None` for a single sync at the end.
    pub sync_pages: Option<f64>,
    /// Concurrent writers.
    pub writers: u32,
    /// Percentage of a page that compresses to nothing; the rest is incompressible.
    pub compressible_percent: u8,
}

impl ExpectedUse {
    /// A single writer that commits each batch, in a store 90 % full of incompressible pages.
    pub fn commits_of(batch_pages: f64) -> Self {
        let sync_pages = Some(batch_pages);
        Self { fill_percent: 90, batch_pages, sync_pages, writers: 1, compressible_percent: 0 }
    }
}

/// Prediction for a policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictedPolicy {
    /// Predicted policy.
    pub policy: PolicyKind,
    /// Guarantees of a store with these options and this policy.
    pub promises: Promises,
    /// Time per page in ns, including destaging and cleaning.
    pub page_ns: f64,
    /// Pages moved by cleaning per page written; 0 without cleaning.
    pub moved_by_page: f64,
}

impl PredictedPolicy {
    /// Factor of error between two predictions on most modelled drives.
    const ERROR: f64 = 1.25;

    /// Returns true if the difference is within the prediction's error.
    pub fn is_within_error_of(&self, other: &Self) -> bool {
        let (less, more) = (self.page_ns.min(other.page_ns), self.page_ns.max(other.page_ns));
        more <= Self::ERROR * less
    }
}

/// Predicts all policies for a store with the options of `create`, except its own policy, fastest
/// first. Omits policies that such a store can't have, and invalid predictions, which follow from
/// invalid figures.
pub fn predict_policies(
    create: &CreateOptions,
    open: &OpenOptions,
    times: &PageTimes,
    expected: &ExpectedUse,
) -> Vec<PredictedPolicy> {
    let possible = PolicyKind::ALL.into_iter().filter_map(|policy| {
        let create = CreateOptions { policy, ..create.clone() };
        create.device_bytes().is_ok().then(|| model::predict(&create, open, times, expected))
    });
    let is_time = |predicted: &PredictedPolicy| predicted.page_ns.is_finite() && predicted.page_ns >= 0.0;
    let mut predicted: Vec<_> = possible.filter(is_time).collect();
    predicted.sort_by(|one, other| one.page_ns.total_cmp(&other.page_ns));
    predicted
}

/// First prediction that promises at least `needed`.
pub fn quickest(predicted: &[PredictedPolicy], needed: Promises) -> Option<PredictedPolicy> {
    predicted.iter().find(|predicted| predicted.promises.include(needed)).copied()
}
