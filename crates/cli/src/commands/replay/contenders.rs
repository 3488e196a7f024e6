//! The policies' stores, each on a device of its own.

use std::rc::Rc;

use nandle_io::Nanos;
use nandle_pages::{CreateOptions, OpenOptions as StoreOptions, PolicyKind, WriteCosts};
use nandle_probe::load::Cancel;
use nandle_replay::{Contender, ContenderOptions, Work, WorkOptions};
use nandle_target::{Intent, ModelContents, OpenOptions, Target, TargetKind};

use super::ReplayArgs;
use crate::error::CliError;
use crate::progress::Progress;
use crate::session::Session;

/// A device that is silent for this long while the test file is written is given up.
const PATIENCE: Nanos = Nanos::from_secs(30);
/// Slots beyond what the clients use: for what stores do in the background.
const BACKGROUND_SLOTS: u32 = 64;

/// Where contenders come from.
pub(super) struct Stable<'a> {
    args: &'a ReplayArgs,
    costs: WriteCosts,
    kind: TargetKind,
    area_bytes: u64,
}

/// A contender, and what keeps its device there.
pub(super) struct Stall {
    contender: Contender,
    target: Target,
}

impl Stall {
    pub(super) fn parts(self) -> (Contender, Target) {
        (self.contender, self.target)
    }
}

impl<'a> Stable<'a> {
    pub(super) fn new(args: &'a ReplayArgs, costs: WriteCosts) -> Result<Self, CliError> {
        let mut stable = Self { args, costs, kind: TargetKind::TestFile, area_bytes: 0 };
        // Looks at it; a directory's test file is made anew, as large as needed.
        let target = stable.open(1 << 20)?;
        (stable.kind, stable.area_bytes) = (target.kind(), target.area_bytes());
        Ok(stable)
    }

    /// Whether all contenders can be there at once, so that they can take turns. In virtual time nothing disturbs
    /// anybody, and one after the other takes less memory.
    pub(super) fn has_room_for_all(&self) -> bool {
        self.kind == TargetKind::TestFile
    }

    /// What a reader of the figures should know.
    pub(super) fn remark(&self) -> Option<String> {
        let shared = matches!(self.kind, TargetKind::File | TargetKind::BlockDevice);
        shared.then(|| {
            "The policies ran one after the other on the same target, so what changed on the machine or in the drive \
             meanwhile is in the comparison; on a directory they take turns."
                .into()
        })
    }

    /// How the trace becomes work on the target.
    pub(super) fn work_options(&self) -> Result<WorkOptions, CliError> {
        let pages_max = match self.kind {
            TargetKind::TestFile => None,
            _ => Some(self.pages_within()?),
        };
        let (limit, wrap) = (self.args.source.limit, self.args.wrap);
        Ok(WorkOptions { page_bytes: self.page_bytes(), limit, pages_max, wrap })
    }

    /// A store of a policy for the work, on a device that holds data everywhere.
    pub(super) fn stall(
        &self,
        policy: PolicyKind,
        work: &Rc<Work>,
        progress: &mut Progress,
        cancel: &Cancel,
    ) -> Result<Stall, CliError> {
        let create = self.create(policy, work.pages);
        let target = self.open(create.device_bytes()?)?;
        let session = Session { target, cancel: cancel.clone(), patience: PATIENCE };
        session.prepare_apart(None, progress)?;
        let (io, device) = session.open_io(self.args.queue_depth + BACKGROUND_SLOTS)?;
        let options = ContenderOptions {
            queue_depth: self.args.queue_depth,
            durability: self.args.durability.into(),
            open: StoreOptions { costs: self.costs, ..StoreOptions::default() },
        };
        let contender = Contender::new(io, &device, &create, work, options)?;
        Ok(Stall { contender, target: session.target })
    }

    fn page_bytes(&self) -> usize {
        usize::try_from(self.args.page).unwrap_or(usize::MAX)
    }

    fn create(&self, policy: PolicyKind, pages: u64) -> CreateOptions {
        let options = CreateOptions::new(policy, self.page_bytes(), pages);
        let alignment_bytes = self.costs.mapping_unit_bytes;
        let buffer_bytes = self.args.buffer.unwrap_or(self.costs.focused_area_bytes);
        CreateOptions { alignment_bytes, buffer_bytes, ..options }
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
            model_contents: ModelContents::Kept,
        };
        Ok(Target::open(self.args.on.clone(), options)?)
    }

    /// How many pages every policy has room for.
    fn pages_within(&self) -> Result<u64, CliError> {
        let mut fewest = u64::MAX;
        for policy in &self.args.policies {
            // Some policies take space beside each page, so this is searched for and not divided.
            let (mut fits, mut beyond) = (0, self.area_bytes / self.args.page + 1);
            while beyond - fits > 1 {
                let pages = fits.midpoint(beyond);
                if self.create(*policy, pages).device_bytes()? <= self.area_bytes {
                    fits = pages;
                } else {
                    beyond = pages;
                }
            }
            fewest = fewest.min(fits);
        }
        Ok(fewest)
    }
}
