//! The policies' stores, each on a device of its own.

use std::rc::Rc;

use nandle_io::{Device, Io};
use nandle_pages::{CreateOptions, OpenOptions as StoreOptions, PolicyKind, WriteCosts};
use nandle_probe::Observer;
use nandle_probe::fill::BUFFER_BYTES;
use nandle_probe::load::{Cancel, Contents, Lane, LaneOptions};
use nandle_replay::{Contender, ContenderOptions, ReplayError, Work, WorkOptions};
use nandle_target::{Intent, OpenOptions, Target};

use super::ReplayArgs;
use crate::error::CliError;
use crate::session::fill_all;

/// Slots beyond what the clients use: for what stores do in the background.
const BACKGROUND_SLOTS: u32 = 64;

/// Where contenders come from.
pub(super) struct Stable<'a> {
    args: &'a ReplayArgs,
    costs: WriteCosts,
}

/// A contender, and what keeps its device there.
pub(super) struct Stall {
    pub(super) contender: Contender,
    pub(super) target: Target,
}

impl<'a> Stable<'a> {
    pub(super) fn new(args: &'a ReplayArgs, costs: WriteCosts) -> Self {
        Self { args, costs }
    }

    /// How the trace becomes work on the target: a directory's files are made as large as needed.
    pub(super) fn work_options(&self) -> Result<WorkOptions, CliError> {
        let args = self.args;
        let page_bytes = usize::try_from(args.page).unwrap_or(usize::MAX);
        let mut options =
            WorkOptions { page_bytes, limit: args.source.limit, pages_max: None, wrap: args.wrap };
        if !args.on.is_directory() {
            let area_bytes = self.open(1 << 20)?.area_bytes();
            options.pages_max = Some(self.pages_within(area_bytes)?);
        }
        Ok(options)
    }

    /// A store of a policy for the work, on a device that holds data everywhere.
    pub(super) fn stall(
        &self,
        policy: PolicyKind,
        work: &Rc<Work>,
        observer: &mut dyn Observer,
        cancel: &Cancel,
    ) -> Result<Stall, CliError> {
        let create = self.create(policy, work.pages);
        let target = self.open(create.device_bytes().map_err(CliError::store)?)?;
        if target.needs_fill() {
            fill_all(&target, observer, cancel)?;
        }
        let opened = target.io(self.args.queue_depth + BACKGROUND_SLOTS)?;
        let options = ContenderOptions {
            queue_depth: self.args.queue_depth,
            durability: self.args.durability.into(),
            open: StoreOptions { costs: self.costs, ..StoreOptions::default() },
        };
        let contender = Contender::new(opened.io, &opened.device, &create, work, options)?;
        Ok(Stall { contender, target })
    }

    fn create(&self, policy: PolicyKind, pages: u64) -> CreateOptions {
        let page_bytes = usize::try_from(self.args.page).unwrap_or(usize::MAX);
        CreateOptions {
            alignment_bytes: self.costs.mapping_unit_bytes,
            ..CreateOptions::new(policy, page_bytes, pages).with_buffer_bytes(self.args.buffer)
        }
    }

    fn open(&self, test_file_bytes: u64) -> Result<Target, CliError> {
        let options = OpenOptions {
            io: self.args.io.into(),
            direct: !self.args.buffered,
            intent: Intent::Write,
            test_file_bytes,
            overwrite: self.args.overwrite,
            destroy_data: self.args.destroy_data,
            request_cpu: None,
            keep_contents: true,
        };
        Ok(Target::open(self.args.on.clone(), options)?)
    }

    /// How many pages every policy has room for.
    fn pages_within(&self, area_bytes: u64) -> Result<u64, CliError> {
        let mut fewest = u64::MAX;
        for policy in &self.args.policies {
            let beside = self.create(*policy, 1).device_bytes().map_err(CliError::store)?;
            fewest = fewest.min(area_bytes.saturating_sub(beside) / self.args.page);
        }
        Ok(fewest)
    }
}
