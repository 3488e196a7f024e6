//! Groups steps into windows: as many as fit into a window's memory.

use std::ops::Range;
use std::sync::Arc;

use nandle_io::buffer::GRAIN_BYTES;

use crate::costs::Prices;
use crate::{ReadsError, Want};

use super::extents::{Blocks, Maker, Scratch};
use super::order::Order;
use super::{Extent, Plan, PlanFile, PlanOptions, PlannedWindow, Strategy};

pub(crate) struct Planner {
    plan: Plan,
    order: Order,
    /// Ratio of bytes read to bytes wanted in recent windows. The next one is expected not to
    /// exceed their maximum.
    read_by_wanted: [f64; WINDOWS_LOOKED_AT],
    scratch: Scratch,
    /// End of the needed bytes of each extent, while the window is cut.
    reached_bytes: Vec<u64>,
}

/// Policy on reading bytes that no step wants.
#[derive(Clone, Copy)]
enum Unwanted {
    WhereCheaper,
    Never,
}

/// Limits on a window whose order doesn't matter: this many full queues of the longest requests,
/// but at least this many bytes.
const QUEUES: u64 = 2;
const WINDOW_BYTES_MIN: u64 = 2 << 20;
/// Number of windows that the size of the next is estimated from. Random wants exceed the estimate
/// once in `WINDOWS_LOOKED_AT` + 1 windows, which are then planned twice.
const WINDOWS_LOOKED_AT: usize = 4;
/// Number of wants from which the first window is estimated.
const WANTS_LOOKED_AT: usize = 512;
/// Limit on steps: each takes some memory of the plan, even without wants.
const STEPS_MAX: u32 = 1 << 26;

impl Planner {
    pub(crate) fn new(
        mut wants: Vec<Want>,
        files: &[PlanFile],
        prices: Arc<Prices>,
        options: PlanOptions,
    ) -> Result<Self, ReadsError> {
        wants.iter().try_for_each(|want| check(want, files))?;
        if !wants.is_sorted_by_key(|want| want.step) {
            wants.sort_by_key(|want| want.step);
        }
        if let Some(last) = wants.last().filter(|last| last.step >= STEPS_MAX) {
            return Err(ReadsError::Steps { step: last.step, most: STEPS_MAX });
        }
        let steps = wants.last().map_or(0, |last| last.step as usize + 1);
        let mut step_starts = Vec::with_capacity(steps + 1);
        for (index, want) in wants.iter().enumerate() {
            while step_starts.len() <= want.step as usize {
                step_starts.push(index);
            }
        }
        step_starts.push(wants.len());
        let plan = Plan {
            want_extents: Vec::with_capacity(wants.len()),
            wants,
            step_starts,
            extents: Vec::new(),
            reads: Vec::new(),
            windows: Vec::new(),
            files: files.to_vec(),
            prices,
            options,
        };
        let order = Order::of(options.strategy, &plan.prices);
        let (scratch, reached_bytes) = (Scratch::default(), Vec::new());
        Ok(Self { plan, order, read_by_wanted: [1.0; WINDOWS_LOOKED_AT], scratch, reached_bytes })
    }

    pub(crate) fn plan(mut self) -> Result<Plan, ReadsError> {
        let steps = self.plan.steps();
        let mut first = 0;
        self.look_ahead();
        while first < steps {
            first = self.window(first)?;
        }
        Ok(self.plan)
    }

    /// Estimates the size of the first window from the first wants.
    fn look_ahead(&mut self) {
        let looked_at = self.plan.wants.get(WANTS_LOOKED_AT).map_or(0, |want| want.step);
        if looked_at > 0 {
            let memory_bytes = self.make(0..looked_at, Unwanted::WhereCheaper);
            self.estimate(0..looked_at, memory_bytes);
        }
    }

    /// Records the ratio of bytes read to bytes wanted of some steps, in place of the oldest.
    fn estimate(&mut self, steps: Range<u32>, memory_bytes: u64) {
        let wants = self.plan.wants.get(self.wants_range(steps)).unwrap_or_default();
        let wanted_bytes: u64 = wants.iter().map(|want| want.length_bytes).sum();
        if wanted_bytes > 0 {
            self.read_by_wanted.rotate_right(1);
            if let Some(last) = self.read_by_wanted.first_mut() {
                *last = (memory_bytes as f64 / wanted_bytes as f64).max(1.0);
            }
        }
    }

    /// Memory that a window may take. If order matters this is all there is: a larger window has
    /// shorter jumps. Otherwise a few full queues suffice, and stay in the processor's cache.
    fn window_bytes(&self) -> u64 {
        let all_bytes = self.plan.options.window_bytes();
        let prices = &self.plan.prices;
        if self.order == Order::Place || matches!(self.plan.options.strategy, Strategy::WholeGroup) {
            return all_bytes;
        }
        let busy_bytes = prices.largest_bytes() * u64::from(prices.depth(prices.largest_bytes()));
        all_bytes.min((QUEUES * busy_bytes).max(WINDOW_BYTES_MIN))
    }

    /// Plans the window that begins with step `first`. Returns the first step of the next one.
    fn window(&mut self, first: u32) -> Result<u32, ReadsError> {
        let window_bytes = self.window_bytes();
        let mut end = self.likely_end(first, window_bytes);
        loop {
            let memory_bytes = self.make(first..end, Unwanted::WhereCheaper);
            let is_single = end - first == 1;
            if memory_bytes <= window_bytes || (is_single && memory_bytes <= self.plan.options.window_bytes())
            {
                self.estimate(first..end, memory_bytes);
                self.keep(first..end, memory_bytes);
                return Ok(end);
            }
            if is_single {
                return self.single_step(first);
            }
            end = self.fitting_end(first..end, window_bytes);
        }
    }

    /// Plans a step that doesn't fit with its unwanted bytes, without them.
    fn single_step(&mut self, step: u32) -> Result<u32, ReadsError> {
        let had_bytes = self.plan.options.window_bytes();
        let needed_bytes = self.make(step..step + 1, Unwanted::Never);
        if needed_bytes > had_bytes {
            let memory_bytes = PlanOptions::memory_for(needed_bytes);
            return Err(ReadsError::Memory { step, needed_bytes, had_bytes, memory_bytes });
        }
        self.keep(step..step + 1, needed_bytes);
        Ok(step + 1)
    }

    /// Makes the extents of some steps after those of the kept windows. Returns their memory.
    fn make(&mut self, steps: Range<u32>, unwanted: Unwanted) -> u64 {
        let wants = self.wants_range(steps);
        let first = self.kept_extents();
        let Plan { files, prices, options, wants: all_wants, extents, want_extents, .. } = &mut self.plan;
        extents.truncate(first);
        want_extents.truncate(wants.start);
        let mut maker = Maker {
            blocks: Blocks { files, prices },
            strategy: options.strategy,
            scratch: &mut self.scratch,
            extents,
            first,
            want_extents,
        };
        let wants = all_wants.get(wants).unwrap_or_default();
        match unwanted {
            Unwanted::WhereCheaper => maker.make(wants),
            Unwanted::Never => maker.make_scarce(wants),
        }
        memory_bytes(&self.plan, first)
    }

    /// Number of extents of the kept windows.
    fn kept_extents(&self) -> usize {
        self.plan.windows.last().map_or(0, |window| window.extents.end)
    }

    /// Returns the end of the steps that fit into a window, computed from the extents made for all
    /// `steps`. Each extent counts as far as it is needed. At least one step, and fewer than there
    /// are.
    fn fitting_end(&mut self, steps: Range<u32>, window_bytes: u64) -> u32 {
        let wants = self.wants_range(steps.clone());
        let made = self.plan.extents.get(self.kept_extents()..).unwrap_or_default();
        let first = self.plan.extents.len() - made.len();
        let reached = &mut self.reached_bytes;
        reached.clear();
        reached.resize(made.len(), 0);
        let mut bytes = 0;
        let is_too_much = |(want, extent): (&Want, &Option<u32>)| {
            let number = (*extent)? as usize - first;
            let (extent, reached) = (made.get(number)?, reached.get_mut(number)?);
            if *reached == 0 {
                *reached = extent.offset_bytes;
                bytes += GRAIN_BYTES as u64; // the most that rounding adds
            }
            let end_bytes = want.end_bytes().next_multiple_of(self.plan.prices.align_bytes());
            bytes += end_bytes.saturating_sub(*reached);
            *reached = end_bytes.max(*reached);
            (bytes > window_bytes).then_some(want.step)
        };
        let of_wants = self.plan.want_extents.get(wants.clone()).unwrap_or_default();
        let wants = self.plan.wants.get(wants).unwrap_or_default();
        let first_too_much = wants.iter().zip(of_wants).find_map(is_too_much);
        first_too_much.unwrap_or(steps.end).clamp(steps.start + 1, steps.end - 1)
    }

    fn wants_range(&self, steps: Range<u32>) -> Range<usize> {
        let at = |step: u32| self.plan.step_starts.get(step as usize).copied();
        at(steps.start).zip(at(steps.end)).map_or(0..0, |(first, end)| first..end)
    }

    /// Estimates the end of the steps that fit; at least one step.
    fn likely_end(&self, first: u32, window_bytes: u64) -> u32 {
        let read_by_wanted = self.read_by_wanted.iter().copied().fold(1.0, f64::max);
        let mut bytes = 0.0;
        let mut end = first;
        while end < self.plan.steps() {
            let wanted: u64 = self.plan.wants_of(end).iter().map(|want| want.length_bytes).sum();
            bytes += wanted as f64 * read_by_wanted;
            if bytes > window_bytes as f64 && end > first {
                break;
            }
            end += 1;
        }
        end
    }

    /// Keeps the last window made.
    fn keep(&mut self, steps: Range<u32>, memory_bytes: u64) {
        let extents = self.kept_extents()..self.plan.extents.len();
        let reads_before = self.plan.reads.len();
        let Plan { reads, windows, extents: all, .. } = &mut self.plan;
        self.order.send(all.get(extents.clone()).unwrap_or_default(), extents.start, reads);
        let reads = reads_before..reads.len();
        windows.push(PlannedWindow { steps, reads, memory_bytes, extents });
        self.make_room();
    }

    /// Reserves room for the remaining windows, to avoid repeated moves. They are expected to have
    /// as many extents and requests per want as those so far.
    fn make_room(&mut self) {
        let Plan { wants, want_extents, extents, reads, windows, .. } = &mut self.plan;
        let Some(last) = windows.last() else { return };
        let (planned, left) = (want_extents.len().max(1), wants.len() - want_extents.len());
        let likely = |so_far: usize| so_far.saturating_mul(left).div_ceil(planned) * 9 / 8;
        if extents.capacity() - extents.len() < last.extents.len() {
            extents.reserve_exact(likely(extents.len()));
        }
        if reads.capacity() - reads.len() < last.reads.len() {
            reads.reserve_exact(likely(reads.len()));
        }
    }
}

/// Memory of the extents from `first` on, each rounded up to whole grains.
fn memory_bytes(plan: &Plan, first: usize) -> u64 {
    let extents = plan.extents.get(first..).unwrap_or_default();
    let bytes = |extent: &Extent| extent.length_bytes + plan.tail_bytes(extent);
    extents.iter().map(|extent| bytes(extent).next_multiple_of(GRAIN_BYTES as u64)).sum()
}

fn check(want: &Want, files: &[PlanFile]) -> Result<(), ReadsError> {
    let Want { file, offset_bytes, step, .. } = *want;
    let Some(found) = files.get(file.0 as usize) else {
        return Err(ReadsError::UnknownFile { file, step, files: files.len() });
    };
    let end_bytes = want.end_bytes();
    if want.length_bytes == 0 || end_bytes > found.length_bytes {
        let length_bytes = found.length_bytes;
        return Err(ReadsError::BeyondEnd { file, step, offset_bytes, end_bytes, length_bytes });
    }
    Ok(())
}
