use nandle_io::BufferMut;
use nandle_io::runtime::Handle;

use super::estimate::Estimate;
use super::plan::{self, MemoryDivision};
use super::{JoinOptions, JoinPlan, JoinReport};
use crate::budget::Grant;
use crate::space::{Appender, Division, Space, WriteBuffers};
use crate::{Place, SpillError};

/// State shared by all levels of a join.
pub(super) struct JoinEnv {
    pub(super) options: JoinOptions,
    pub(super) memory: MemoryDivision,
    pub(super) plan: JoinPlan,
    /// Costs of the plan's clusters; callers fill in the area.
    pub(super) estimate: Estimate,
    pub(super) space: Space,
    pub(super) appender: Appender,
    pub(super) report: JoinReport,
}

impl JoinEnv {
    pub(super) fn new(handle: &Handle, place: Place, options: JoinOptions) -> Result<Self, SpillError> {
        let memory = MemoryDivision::of(&options)?;
        let shape = Space::shape(handle, place)?;
        let plan = plan::choose(&options, memory, &shape)?;
        let cluster_bytes = plan.cluster_bytes as u64;
        let zone_bytes = options.costs.zone_bytes.min(place.length_bytes).max(cluster_bytes);
        let zone_bytes = zone_bytes - zone_bytes % cluster_bytes;
        let space = Space::new(handle, place, Division { cluster_bytes: plan.cluster_bytes, zone_bytes })?;
        let buffers = WriteBuffers::new(&options.budget, memory.writes)?;
        let appender = Appender::new(&space, buffers);
        let estimate = Estimate::of(&options.costs, plan.read_cost(), memory.writes);
        Ok(Self { options, memory, plan, estimate, space, appender, report: JoinReport::new(plan) })
    }

    /// Number of clusters that can be in flight or waiting to be consumed.
    pub(super) fn read_buffers(&self) -> usize {
        self.memory.read_buffers(self.plan.cluster_bytes, self.plan.depth)
    }

    /// Allocates the read buffers.
    pub(super) fn take_read_buffers(&self) -> Result<(Grant, Vec<BufferMut>), SpillError> {
        let purpose = "reading partitions";
        self.options.budget.buffers(purpose, self.read_buffers(), self.plan.cluster_bytes)
    }

    /// Adds `requests` reads to the report.
    pub(super) fn count_reads(&mut self, requests: u64) {
        self.report.read_requests += requests;
        self.report.read_bytes += requests * self.plan.cluster_bytes as u64;
    }

    /// Returns the report so far.
    pub(super) fn report(&self) -> JoinReport {
        JoinReport {
            written_bytes: self.appender.written.bytes,
            write_requests: self.appender.written.requests,
            most_used_bytes: self.options.budget.most_used_bytes(),
            ..self.report
        }
    }
}
