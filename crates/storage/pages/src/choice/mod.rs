//! Which policy a new store should have: what each takes for a page, predicted from what requests take on the device, how full
//! the store is going to be, and how many pages come at a time. [`model`] says what a policy's requests are. No I/O.

mod cleaning;
mod model;
mod times;

pub use self::times::PageTimes;

use crate::{CreateOptions, OpenOptions, PolicyKind, Promises};

/// How a store is going to be used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedUse {
    /// Share of its pages that hold something, in percent. They are written at random, some more often than others, as databases
    /// do.
    pub fill_percent: u8,
    /// Pages of a batch, which are sent at the same time; at least 1.
    pub batch_pages: f64,
    /// Pages between two syncs of a writer; `None` where nothing has to be durable before the end.
    pub sync_pages: Option<f64>,
    /// Writers at the same time.
    pub writers: u32,
    /// How much of a page compresses to nothing, in percent; the rest doesn't at all.
    pub compressible_percent: u8,
}

impl ExpectedUse {
    /// One writer that makes each of its batches durable, in a store that is 90 % full of pages that don't compress.
    pub fn commits_of(batch_pages: f64) -> Self {
        let sync_pages = Some(batch_pages);
        Self { fill_percent: 90, batch_pages, sync_pages, writers: 1, compressible_percent: 0 }
    }
}

/// What a policy is going to take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictedPolicy {
    /// Which one.
    pub policy: PolicyKind,
    /// What a store with such options and this policy promises.
    pub promises: Promises,
    /// Time of a page, with what it costs to bring it to its place and to make room.
    pub page_ns: f64,
    /// Pages that cleaning moves for each that is written; 0 where nothing is cleaned.
    pub moved_by_page: f64,
}

impl PredictedPolicy {
    /// Predictions of two policies are off by up to this factor, one by the other, on most modelled drives.
    const ERROR: f64 = 1.25;

    /// Whether the prediction leaves open which of the two is quicker.
    pub fn is_within_error_of(&self, other: &Self) -> bool {
        let (less, more) = (self.page_ns.min(other.page_ns), self.page_ns.max(other.page_ns));
        more <= Self::ERROR * less
    }
}

/// What each policy is going to take for a page of a store like `create`, whose own policy doesn't matter, the quickest first.
/// A policy that such a store can't have isn't there, nor one whose time isn't a number, as where a figure isn't one.
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

/// The first that promises at least so much.
pub fn quickest(predicted: &[PredictedPolicy], needed: Promises) -> Option<PredictedPolicy> {
    predicted.iter().find(|predicted| predicted.promises.include(needed)).copied()
}
