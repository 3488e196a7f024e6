//! Which steps are read together: as many as fit into the memory of a window.

use nandle_io::buffer::GRAIN_BYTES;

use crate::costs::Prices;
use crate::{ReadsError, Want};

use super::extents::{Maker, WindowExtents};
use super::order::Order;
use super::{Extent, Plan, PlanFile, PlanOptions, PlannedWindow, Strategy};

pub(crate) struct Planner {
    plan: Plan,
    order: Order,
    /// Bytes read by bytes wanted in the window before: what the next one is likely to take.
    read_by_wanted: f64,
}

/// Windows needn't be longer than so many full queues of the longest requests where order doesn't matter, nor shorter than this.
const QUEUES: u64 = 2;
const WINDOW_BYTES_MIN: u64 = 2 << 20;
/// Each step takes some bytes of the plan, whether it wants something or not.
const STEPS_MAX: u32 = 1 << 26;

impl Planner {
    pub(crate) fn new(
        mut wants: Vec<Want>,
        files: &[PlanFile],
        prices: Prices,
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
        Ok(Self { plan, order, read_by_wanted: 1.0 })
    }

    pub(crate) fn plan(mut self) -> Result<Plan, ReadsError> {
        let steps = self.plan.steps();
        let mut first = 0;
        while first < steps {
            first = self.window(first)?;
        }
        Ok(self.plan)
    }

    /// How much a window may take: all that there is where order matters, because the more is read at once the shorter the jumps are.
    /// Where it doesn't, a few times what keeps the device busy is enough, and stays in the processor's cache.
    fn window_bytes(&self) -> u64 {
        let all_bytes = self.plan.options.window_bytes();
        let prices = &self.plan.prices;
        if self.order == Order::Place || matches!(self.plan.options.strategy, Strategy::WholeGroup) {
            return all_bytes;
        }
        let busy_bytes = prices.largest_bytes() * u64::from(prices.depth(prices.largest_bytes()));
        all_bytes.min((QUEUES * busy_bytes).max(WINDOW_BYTES_MIN))
    }

    /// Plans the window that begins with a step, and says with which one the next begins.
    fn window(&mut self, first: u32) -> Result<u32, ReadsError> {
        let window_bytes = self.window_bytes();
        let mut end = self.likely_end(first, window_bytes);
        loop {
            let wants = self.wants(first, end);
            let made = self.maker().make(wants);
            let memory_bytes = memory_bytes(&made.extents);
            let is_single = end - first == 1;
            if memory_bytes <= window_bytes || (is_single && memory_bytes <= self.plan.options.window_bytes())
            {
                let wanted_bytes: u64 = wants.iter().map(|want| want.length_bytes).sum();
                if wanted_bytes > 0 {
                    self.read_by_wanted = (memory_bytes as f64 / wanted_bytes as f64).max(1.0);
                }
                self.keep(first..end, made, memory_bytes);
                return Ok(end);
            }
            if is_single {
                return self.single_step(first);
            }
            let steps = end - first;
            // In proportion, and a little less.
            let share = window_bytes as f64 / memory_bytes as f64 * 0.98;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
            let fewer = (f64::from(steps) * share) as u32;
            end = first + fewer.clamp(1, steps - 1);
        }
    }

    /// A step that doesn't fit with what would be read along with it is read without.
    fn single_step(&mut self, step: u32) -> Result<u32, ReadsError> {
        let had_bytes = self.plan.options.window_bytes();
        let made = self.maker().make_scarce(self.wants(step, step + 1));
        let needed_bytes = memory_bytes(&made.extents);
        if needed_bytes > had_bytes {
            let memory_bytes = PlanOptions::memory_for(needed_bytes);
            return Err(ReadsError::Memory { step, needed_bytes, had_bytes, memory_bytes });
        }
        self.keep(step..step + 1, made, needed_bytes);
        Ok(step + 1)
    }

    fn maker(&self) -> Maker<'_> {
        Maker { files: &self.plan.files, prices: &self.plan.prices, strategy: self.plan.options.strategy }
    }

    fn wants(&self, first: u32, end: u32) -> &[Want] {
        let at = |step: u32| self.plan.step_starts.get(step as usize).copied();
        let range = at(first).zip(at(end)).map(|(first, end)| first..end);
        range.and_then(|range| self.plan.wants.get(range)).unwrap_or_default()
    }

    /// One past the last step that is likely to fit; at least one step.
    fn likely_end(&self, first: u32, window_bytes: u64) -> u32 {
        let mut bytes = 0.0;
        let mut end = first;
        while end < self.plan.steps() {
            let wanted: u64 = self.plan.wants_of(end).iter().map(|want| want.length_bytes).sum();
            bytes += wanted as f64 * self.read_by_wanted;
            if bytes > window_bytes as f64 && end > first {
                break;
            }
            end += 1;
        }
        end
    }

    fn keep(&mut self, steps: std::ops::Range<u32>, made: WindowExtents, memory_bytes: u64) {
        let plan = &mut self.plan;
        let first = plan.extents.len();
        let number = u32::try_from(first).unwrap_or(u32::MAX);
        plan.want_extents
            .extend(made.of_wants.into_iter().map(|extent| extent.map(|extent| extent + number)));
        let reads_before = plan.reads.len();
        self.order.send(&made.extents, first, &mut plan.reads);
        plan.extents.extend(made.extents);
        let extents = first..plan.extents.len();
        let reads = reads_before..plan.reads.len();
        plan.windows.push(PlannedWindow { steps, reads, memory_bytes, extents });
    }
}

/// What extents take of an arena, each rounded up to whole grains.
fn memory_bytes(extents: &[Extent]) -> u64 {
    let bytes = |extent: &Extent| extent.length_bytes + extent.tail_bytes;
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
