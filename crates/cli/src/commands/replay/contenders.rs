//! The policies' stores, each on a device of its own.

use std::path::Path;
use std::rc::Rc;

use nandle_io::Nanos;
use nandle_io::units::format_bytes;
use nandle_pages::{CreateOptions, OpenOptions as StoreOptions, PolicyKind, WriteCosts};
use nandle_probe::load::Cancel;
use nandle_profile::{DeviceProfile, Identity};
use nandle_replay::{Contender, ContenderOptions, Work, WorkOptions};
use nandle_target::{
    Intent, ModelContents, OpenOptions, Problem, Target, TargetError, TargetKind, TargetSpec, facts,
};

use super::ReplayArgs;
use crate::commands::advise::{Warning, warning_of_another};
use crate::error::CliError;
use crate::progress::Progress;
use crate::session::{self, Session};

/// A device that is silent for this long while the test file is written is given up.
const PATIENCE: Nanos = Nanos::from_secs(30);
/// Slots beyond what the clients use: for what stores do in the background.
const BACKGROUND_SLOTS: u32 = 64;

/// Where contenders come from.
pub(super) struct Stable<'a> {
    args: &'a ReplayArgs,
    costs: WriteCosts,
    cancel: Cancel,
    kind: TargetKind,
    identity: Identity,
    /// What all policies use, one after the other. It stays open in between: a ring's files are closed some time after the
    /// ring, and until then a device that is opened for one process alone can't be opened again.
    shared: Option<Rc<Session>>,
    /// What there is to write to; `None` where as much is made as the work needs.
    area_bytes: Option<u64>,
}

/// A contender, and what keeps its device there.
pub(super) struct Stall {
    contender: Contender,
    session: Rc<Session>,
}

impl Stall {
    pub(super) fn parts(self) -> (Contender, Rc<Session>) {
        (self.contender, self.session)
    }
}

impl<'a> Stable<'a> {
    pub(super) fn new(args: &'a ReplayArgs, costs: WriteCosts, cancel: &Cancel) -> Result<Self, CliError> {
        let (cancel, identity) = (cancel.clone(), Identity::default());
        let kind = TargetKind::File;
        let mut stable = Self { args, costs, cancel, kind, identity, shared: None, area_bytes: None };
        if let Some(path) = to_be_made(args) {
            let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
            // Whoever can't look at the directory hears so when the file is made in it.
            stable.identity = facts::identity_of_path(directory).unwrap_or_default();
        } else {
            // Looks at it; a directory's test files are made anew, and models are.
            let session = stable.session(1 << 20)?;
            stable.kind = session.target.kind();
            stable.identity = facts::identity(&session.target);
            stable.area_bytes = (stable.kind != TargetKind::TestFile).then(|| session.target.area_bytes());
            stable.shared = stable.is_shared().then(|| Rc::new(session));
        }
        Ok(stable)
    }

    /// Whether all policies use the same bytes.
    fn is_shared(&self) -> bool {
        matches!(self.kind, TargetKind::File | TargetKind::BlockDevice)
    }

    /// Sees to it that there is room for all that will be there at once, before the first byte is written; and what all
    /// policies use is made as large as the largest store, and filled.
    pub(super) fn prepare(&mut self, work: &Work, progress: &mut Progress) -> Result<(), CliError> {
        let stores_bytes = self.stores_bytes(work.pages)?;
        if self.has_room_for_all() {
            Target::check_room(&self.args.on, stores_bytes.iter().sum()).map_err(in_own_words)?;
        }
        if self.is_shared() && self.shared.is_none() {
            self.shared = Some(Rc::new(self.session(stores_bytes.into_iter().max().unwrap_or(0))?));
        }
        if let Some(session) = &self.shared {
            session.prepare_apart(None, progress)?;
        }
        Ok(())
    }

    /// Whether all contenders can be there at once, so that they can take turns. In virtual time nothing disturbs
    /// anybody, and one after the other takes less memory.
    pub(super) fn has_room_for_all(&self) -> bool {
        self.kind == TargetKind::TestFile
    }

    /// What there is to say of a profile that isn't known to be of the target. A modelled drive is the same with another
    /// capacity.
    pub(super) fn warning_of_another(&self, profile: &DeviceProfile) -> Option<Warning> {
        let place = self.args.on.to_string();
        if self.kind != TargetKind::Model {
            return warning_of_another(&profile.identity, &self.identity, &place);
        }
        let [profile, target] = [&profile.identity, &self.identity]
            .map(|identity| Identity { capacity_bytes: None, ..identity.clone() });
        warning_of_another(&profile, &target, &place)
    }

    /// What a reader of the figures should know.
    pub(super) fn remark(&self) -> Option<String> {
        self.is_shared().then(|| {
            "The policies ran one after the other on the same target, so what changed on the machine or in the drive \
             meanwhile is in the comparison; on a directory they take turns."
                .into()
        })
    }

    /// How the trace becomes work on the target.
    pub(super) fn work_options(&self) -> Result<WorkOptions, CliError> {
        let pages_max = self.area_bytes.map(|area_bytes| self.pages_within(area_bytes)).transpose()?;
        let (limit, wrap) = (self.args.source.limit, self.args.wrap);
        Ok(WorkOptions { page_bytes: self.page_bytes(), limit, pages_max, wrap })
    }

    /// A store of a policy for the work, on a device that holds data everywhere. After [`Self::prepare`].
    pub(super) fn stall(
        &self,
        policy: PolicyKind,
        work: &Rc<Work>,
        progress: &mut Progress,
    ) -> Result<Stall, CliError> {
        let create = self.create(policy, work.pages);
        let session = if let Some(session) = &self.shared {
            Rc::clone(session)
        } else {
            let session = self.session(create.device_bytes()?)?;
            session.prepare_apart(None, progress)?;
            Rc::new(session)
        };
        let (io, device) = session.open_io(self.args.queue_depth + BACKGROUND_SLOTS)?;
        let options = ContenderOptions {
            queue_depth: self.args.queue_depth,
            durability: self.args.durability.into(),
            open: StoreOptions {
                costs: self.costs,
                compress: !self.args.no_compression,
                ..StoreOptions::default()
            },
            compressible_percent: self.args.compressible,
        };
        let contender = Contender::new(io, &device, &create, work, options)?;
        let cancel = self.cancel.clone();
        contender.stop_when(move || cancel.is_cancelled());
        Ok(Stall { contender, session })
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

    /// Opens the target.
    fn session(&self, test_file_bytes: u64) -> Result<Session, CliError> {
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
        let target = session::open(&self.args.on, &options).map_err(in_own_words)?;
        Ok(Session { target, cancel: self.cancel.clone(), patience: PATIENCE })
    }

    /// How large each policy's store is.
    fn stores_bytes(&self, pages: u64) -> Result<Vec<u64>, CliError> {
        let policies = self.args.policies.iter();
        policies.map(|policy| Ok(self.create(*policy, pages).device_bytes()?)).collect()
    }

    /// How many pages every policy has room for.
    fn pages_within(&self, area_bytes: u64) -> Result<u64, CliError> {
        let mut fewest = u64::MAX;
        for policy in &self.args.policies {
            // Some policies take space beside each page, so this is searched for and not divided.
            let (mut fits, mut beyond) = (0, area_bytes / self.args.page + 1);
            while beyond - fits > 1 {
                let pages = fits.midpoint(beyond);
                if self.create(*policy, pages).device_bytes()? <= area_bytes {
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

/// The file that doesn't exist yet.
fn to_be_made(args: &ReplayArgs) -> Option<&Path> {
    let TargetSpec::Path(path) = &args.on else { return None };
    (args.overwrite && !path.exists()).then_some(path)
}

/// The size of test files isn't the user's to choose here.
fn in_own_words(error: TargetError) -> CliError {
    match error.problem {
        Problem::NoRoom { needed_bytes, available_bytes, .. } => CliError::failed(format!(
            "{}: the stores of all policies together need {} with the reserve that stays free, and the file system has {} \
             available; give fewer --policies, a --limit, or a directory on another file system",
            error.target,
            format_bytes(needed_bytes),
            format_bytes(available_bytes)
        )),
        _ => error.into(),
    }
}
