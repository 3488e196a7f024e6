//! Plans: wants become requests.

mod cover;
mod extents;
mod halves;
mod order;
mod strategy;
mod stretches;
mod windows;

use std::ops::Range;
use std::sync::Arc;

pub(crate) use strategy::WINDOWS;
pub use strategy::{Groups, PlanFile, PlanOptions, Strategy};

use crate::costs::Prices;
use crate::{FileId, Pricing, ReadCosts, ReadsError, Want};

/// A request of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlannedRead {
    /// The file.
    pub file: FileId,
    /// Offset in the file: a multiple of its alignment.
    pub offset_bytes: u64,
    /// Length: a multiple of the file's alignment.
    pub length_bytes: u64,
    /// True if it begins where the request before it ends.
    pub is_continued: bool,
    /// Index of its extent in the plan.
    pub(crate) extent: u32,
}

/// Contiguous bytes in memory, read by one request or several contiguous ones. Kept small, because
/// plans have many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) offset_bytes: u64,
    pub(crate) length_bytes: u64,
    pub(crate) file: FileId,
    /// First step that needs bytes of it.
    pub(crate) first_step: u32,
    /// Length of its requests; the last may be shorter.
    pub(crate) request_bytes: u32,
    /// True if its requests are sent in reverse order.
    pub(crate) is_backward: bool,
}

impl Extent {
    /// Number of requests.
    pub(crate) fn requests(&self) -> usize {
        if self.length_bytes == 0 { 0 } else { self.request_number(self.end_bytes() - 1) + 1 }
    }

    /// Returns the offset and length of a request.
    pub(crate) fn request(&self, number: usize) -> (u64, u64) {
        let offset_bytes = self.offset_bytes + number as u64 * u64::from(self.request_bytes);
        (offset_bytes, u64::from(self.request_bytes).min(self.end_bytes() - offset_bytes))
    }

    pub(crate) fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.length_bytes
    }

    /// Returns true if `read` is the first request sent of this extent.
    pub(crate) fn is_sent_first(&self, read: &PlannedRead) -> bool {
        if self.is_backward {
            read.offset_bytes + read.length_bytes == self.end_bytes()
        } else {
            read.offset_bytes == self.offset_bytes
        }
    }

    /// Returns the number of the request that contains an offset of the file.
    pub(crate) fn request_number(&self, offset_bytes: u64) -> usize {
        let at_bytes = offset_bytes - self.offset_bytes;
        let request_bytes = u64::from(self.request_bytes);
        // Most extents are a single request, and comparing is faster than dividing.
        let number = if at_bytes < request_bytes { 0 } else { at_bytes / request_bytes };
        usize::try_from(number).unwrap_or(usize::MAX)
    }
}

/// Converts the length of a request to its compact form.
pub(crate) fn request_bytes(bytes: u64) -> u32 {
    let Ok(bytes) = u32::try_from(bytes) else {
        unreachable!("costs with requests of {bytes} bytes are refused")
    };
    bytes
}

/// Steps that are read together: their requests are ordered by offset or by step, and their bytes
/// are in memory at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedWindow {
    /// The steps.
    pub steps: Range<u32>,
    /// Their requests, as indices into [`Plan::reads`].
    pub reads: Range<usize>,
    /// Memory for their bytes.
    pub memory_bytes: u64,
    pub(crate) extents: Range<usize>,
}

/// Requests for all wants of a consumer's steps, in the order in which they are sent.
#[derive(Debug, Clone)]
pub struct Plan {
    /// By step, and within a step in the order given.
    pub(crate) wants: Vec<Want>,
    /// Index of the first want of each step, and one past the last.
    pub(crate) step_starts: Vec<usize>,
    /// Extent of each want; `None` if all of it lies behind the readable part of the file.
    pub(crate) want_extents: Vec<Option<u32>>,
    pub(crate) extents: Vec<Extent>,
    reads: Vec<PlannedRead>,
    windows: Vec<PlannedWindow>,
    pub(crate) files: Vec<PlanFile>,
    pub(crate) prices: Arc<Prices>,
    options: PlanOptions,
}

impl Plan {
    /// Plans the reads of a consumer's steps. `wants` may come in any order; a step without wants
    /// is allowed.
    ///
    /// # Errors
    /// A want names no file of `files` or lies beyond its end, the costs are invalid, or a step
    /// needs more memory than there is.
    pub fn new(
        wants: Vec<Want>,
        files: &[PlanFile],
        costs: &ReadCosts,
        options: PlanOptions,
    ) -> Result<Self, ReadsError> {
        Pricing::new(costs.clone())?.plan(wants, files, options)
    }

    pub(crate) fn priced(
        wants: Vec<Want>,
        files: &[PlanFile],
        prices: Arc<Prices>,
        options: PlanOptions,
    ) -> Result<Self, ReadsError> {
        Ok(windows::Planner::new(wants, files, prices, options)?.plan()?.or_halved())
    }

    /// Its requests, in the order in which they are sent.
    pub fn reads(&self) -> &[PlannedRead] {
        &self.reads
    }

    /// Its windows, in order.
    pub fn windows(&self) -> &[PlannedWindow] {
        &self.windows
    }

    /// Number of steps: one more than the greatest step of a want.
    pub fn steps(&self) -> u32 {
        u32::try_from(self.step_starts.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// The wants of a step, in the order given.
    pub fn wants_of(&self, step: u32) -> &[Want] {
        self.wants.get(self.want_indices(step)).unwrap_or_default()
    }

    /// Options that it was made with.
    pub fn options(&self) -> PlanOptions {
        self.options
    }

    /// Bytes wanted; bytes that several wants share count for each.
    pub fn wanted_bytes(&self) -> u64 {
        self.wants.iter().map(|want| want.length_bytes).sum()
    }

    /// Bytes read.
    pub fn read_bytes(&self) -> u64 {
        self.reads.iter().map(|read| read.length_bytes).sum()
    }

    /// Bytes in memory after an extent that reaches the end of the readable part: the file's
    /// [tail](crate::ReadFile::tail).
    pub(crate) fn tail_bytes(&self, extent: &Extent) -> u64 {
        let file = self.files.get(extent.file.0 as usize);
        file.map_or(0, |file| file.tail_bytes_behind(extent.end_bytes()))
    }

    /// Queue depth for requests of this length.
    pub fn depth(&self, request_bytes: u64) -> u32 {
        self.prices.depth(request_bytes)
    }

    /// Greatest queue depth of all its requests.
    pub fn depth_max(&self) -> u32 {
        self.reads.iter().map(|read| self.depth(read.length_bytes)).max().unwrap_or(1)
    }

    pub(crate) fn want_indices(&self, step: u32) -> Range<usize> {
        let at = |step: usize| self.step_starts.get(step).copied().unwrap_or(self.wants.len());
        at(step as usize)..at(step as usize + 1)
    }
}
