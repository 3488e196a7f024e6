//! The policies' stores, each on a device of its own.

use std::path::Path;
use std::rc::Rc;

use nandle_io::Nanos;
use nandle_pages::{CreateOptions, OpenOptions as StoreOptions, PageError, PolicyKind, WriteCosts};
use nandle_probe::fill::BUFFER_BYTES;
use nandle_profile::{DeviceProfile, Identity};
use nandle_replay::{Addresses, Candidate, CandidateOptions, OmittedPolicy, ReplayError, Work, WorkOptions};
use nandle_session::{Allowance, Cancel, Session, budget_bytes};
use nandle_target::{
    Intent, ModelContents, OpenOptions, Problem, Target, TargetError, TargetKind, TargetSpec, facts,
};
use nandle_terminal::progress::Bar;
use nandle_units::format_bytes;

use super::ReplayArgs;
use super::args::AddressesArg;
use super::memory;
use crate::commands::advise::{Warning, warning_of_another};
use crate::error::CliError;
use crate::target;

/// A device that is silent for this long while the test file is written is given up.
const PATIENCE: Nanos = Nanos::from_secs(30);
/// What a store needs of memory for what it does in the background.
const STORE_MEMORY_BYTES_MIN: u64 = 8 << 20;
/// Slots beyond what the clients use: for what stores do in the background.
const BACKGROUND_SLOTS: u32 = 64;

/// Where candidates come from.
pub(super) struct StoreFactory<'a> {
    args: &'a ReplayArgs,
    /// The target, perhaps larger than it was named.
    on: TargetSpec,
    /// Those that take the work.
    policies: Vec<PolicyKind>,
    /// Of each store, since [`Self::fit`].
    memory: Allowance,
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

/// What keeps a candidate's device there, and the candidate if a store could be made.
pub(super) type OpenStore = (Rc<Session>, Result<Candidate, ReplayError>);

impl<'a> StoreFactory<'a> {
    pub(super) fn new(args: &'a ReplayArgs, costs: WriteCosts, cancel: &Cancel) -> Result<Self, CliError> {
        let mut factory = Self {
            args,
            on: args.on.clone(),
            policies: args.policies.clone(),
            memory: Allowance { bytes: 0, remark: None },
            costs,
            cancel: cancel.clone(),
            kind: TargetKind::File,
            identity: Identity::default(),
            shared: None,
            area_bytes: None,
        };
        if let Some(path) = to_be_made(args) {
            let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
            // That the directory can't be looked at shows when the file is made in it.
            factory.identity = facts::identity_of_path(directory).unwrap_or_default();
        } else {
            // Looks at it; a directory's test files are made anew, and models are.
            let session = factory.session(1 << 20)?;
            factory.kind = session.target.kind();
            factory.identity = facts::identity(&session.target);
            factory.area_bytes = (factory.kind != TargetKind::TestFile).then(|| session.target.area_bytes());
            factory.shared = factory.is_shared().then(|| Rc::new(session));
        }
        Ok(factory)
    }

    /// Whether all policies use the same bytes.
    fn is_shared(&self) -> bool {
        matches!(self.kind, TargetKind::File | TargetKind::BlockDevice)
    }

    /// Sees to it that there is room for all that will be there at once, before the first byte is written; and what all
    /// policies use is made as large as the largest store, and filled.
    pub(super) fn prepare(&mut self, work: &Work, progress: &mut Bar) -> Result<(), CliError> {
        let stores_bytes = self.stores_bytes(work.pages)?;
        if self.has_room_for_all() {
            Target::check_room(&self.on, stores_bytes.iter().sum()).map_err(in_own_words)?;
        }
        if self.is_shared() && self.shared.is_none() {
            self.shared = Some(Rc::new(self.session(stores_bytes.into_iter().max().unwrap_or(0))?));
        }
        if let Some(session) = &self.shared {
            session.prepare_apart(None, progress)?;
        }
        Ok(())
    }

    /// Whether time is virtual, so that everything takes the same again.
    pub(super) fn is_modelled(&self) -> bool {
        self.kind == TargetKind::Model
    }

    /// Whether all candidates can be there at once, so that they can take turns. In virtual time nothing disturbs
    /// a run, and one after the other takes less memory.
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

    /// How the trace becomes work.
    pub(super) fn work_options(&self) -> WorkOptions {
        let addresses = match self.args.addresses {
            AddressesArg::Compact => Addresses::Compact { area_bytes: self.costs.mapping_unit_bytes },
            AddressesArg::Keep => Addresses::Keep,
        };
        WorkOptions { page_bytes: self.page_bytes(), limit: self.args.writes.limit, addresses }
    }

    /// Those that take the work, after [`Self::fit`].
    pub(super) fn policies(&self) -> &[PolicyKind] {
        &self.policies
    }

    /// Makes work, target and policies fit each other: a modelled drive grows to what the work needs, addresses are folded
    /// where the user wants that, and a policy that can't take the work is left out.
    pub(super) fn fit(&mut self, work: &mut Work) -> Result<Vec<OmittedPolicy>, CliError> {
        let mut left_out = self.leave_out(|factory, policy| {
            factory.create(policy, work.pages).device_bytes().err().map(CliError::from)
        })?;
        self.memory = self.allowance();
        self.enlarge(work)?;
        let Some(area_bytes) = self.area_bytes else { return Ok(left_out) };
        let rooms = self.policies.iter().map(|policy| self.pages_within(*policy, area_bytes));
        let rooms = rooms.collect::<Result<Vec<u64>, _>>()?;
        if self.args.wrap {
            work.wrap(rooms.iter().copied().min().unwrap_or(0))?;
        } else if rooms.iter().all(|pages| *pages < work.pages) {
            return Err(ReplayError::no_room(work, rooms.into_iter().max().unwrap_or(0)).into());
        }
        left_out.extend(self.leave_out(|factory, policy| {
            let needed_bytes = factory.create(policy, work.pages).device_bytes().ok()?;
            (needed_bytes > area_bytes).then(|| too_small(needed_bytes, area_bytes))
        })?);
        self.check_memory(work)?;
        left_out.extend(self.leave_out(|factory, policy| factory.lacks_memory(policy, work))?);
        Ok(left_out)
    }

    /// Leaves those out for which `why_not` has a reason.
    fn leave_out(
        &mut self,
        why_not: impl Fn(&Self, PolicyKind) -> Option<CliError>,
    ) -> Result<Vec<OmittedPolicy>, CliError> {
        let mut refused = Vec::new();
        let mut policies = Vec::new();
        for policy in &self.policies {
            match why_not(self, *policy) {
                None => policies.push(*policy),
                Some(reason) => refused.push((*policy, reason)),
            }
        }
        self.policies = policies;
        if self.policies.is_empty() && !refused.is_empty() {
            return Err(refused.swap_remove(0).1);
        }
        Ok(refused.into_iter().map(|(policy, reason)| OmittedPolicy::refused(policy, &reason)).collect())
    }

    /// Makes a modelled target as large as the largest store.
    fn enlarge(&mut self, work: &Work) -> Result<(), CliError> {
        let needed_bytes = self.stores_bytes(work.pages)?.into_iter().max().unwrap_or(0);
        if self.kind != TargetKind::Model || self.area_bytes.is_none_or(|bytes| bytes >= needed_bytes) {
            return Ok(());
        }
        let Some(larger) = self.session(0)?.target.enlarged(needed_bytes) else { return Ok(()) };
        let named = std::mem::replace(&mut self.on, larger);
        match self.session(0) {
            Ok(session) => self.area_bytes = Some(session.target.area_bytes()),
            // Beyond what its map can name. So it stays as it is, and the work is what doesn't fit.
            Err(_) => self.on = named,
        }
        Ok(())
    }

    /// Why there isn't the memory that a policy takes for the work, if there isn't.
    fn lacks_memory(&self, policy: PolicyKind, work: &Work) -> Option<CliError> {
        let at_once = if self.has_room_for_all() { self.policies.len() as u64 } else { 1 };
        memory::lacks(&self.create(policy, work.pages), work, self.kind, budget_bytes() / at_once.max(1))
    }

    /// A modelled drive keeps what is written to it.
    fn check_memory(&self, work: &Work) -> Result<(), CliError> {
        let pages_bytes = work.pages_held_max().saturating_mul(self.args.page);
        let (needed_bytes, most_bytes) = (pages_bytes.saturating_add(pages_bytes / 4), budget_bytes());
        if self.kind != TargetKind::Model || needed_bytes <= most_bytes {
            return Ok(());
        }
        Err(CliError::usage(format!(
            "{}: a modelled drive keeps what is written to it in memory, which may take {} here, and there are {} for it; give \
             a --limit, or replay on a directory or a device",
            self.args.on,
            format_bytes(needed_bytes),
            format_bytes(most_bytes)
        )))
    }

    /// What is to be said of the stores' memory.
    pub(super) fn memory_remark(&self) -> Option<String> {
        self.memory.remark.clone()
    }

    /// How large a modelled target was made.
    pub(super) fn enlarged_to_bytes(&self) -> Option<u64> {
        self.area_bytes.filter(|_| self.on != self.args.on)
    }

    /// The same as a sentence.
    pub(super) fn enlarged(&self) -> Option<String> {
        self.enlarged_to_bytes().map(|bytes| {
            format!(
                "{} is modelled with {} here, because the work needs so much: the same chips and channels with more erase \
                 blocks.",
                self.args.on,
                format_bytes(bytes)
            )
        })
    }

    /// A store of a policy for the work, on a device that holds data everywhere. After [`Self::prepare`].
    pub(super) fn open(
        &self,
        policy: PolicyKind,
        work: &Rc<Work>,
        progress: &mut Bar,
    ) -> Result<OpenStore, CliError> {
        let create = self.create(policy, work.pages);
        let session = if let Some(session) = &self.shared {
            Rc::clone(session)
        } else {
            let session = self.session(create.device_bytes()?)?;
            session.prepare_apart(None, progress)?;
            Rc::new(session)
        };
        let (io, device) = session.open_io(self.args.queue_depth + BACKGROUND_SLOTS)?;
        let options = CandidateOptions {
            queue_depth: self.args.queue_depth,
            durability: self.args.durability.into(),
            open: self.open_options(),
            compressible_percent: self.args.compressible,
        };
        let made = Candidate::new(io, &device, &create, work, options).inspect(|candidate| {
            let cancel = self.cancel.clone();
            candidate.stop_when(move || cancel.is_cancelled());
        });
        Ok((session, made))
    }

    /// How each store is used.
    pub(super) fn open_options(&self) -> StoreOptions {
        StoreOptions {
            costs: self.costs,
            compress: !self.args.no_compression,
            memory_bytes: usize::try_from(self.memory.bytes).unwrap_or(usize::MAX),
            ..StoreOptions::default()
        }
    }

    fn page_bytes(&self) -> usize {
        usize::try_from(self.args.page).unwrap_or(usize::MAX)
    }

    /// Memory of each store. Every client has room for two pages at least.
    fn allowance(&self) -> Allowance {
        let clients = u64::from(self.args.queue_depth);
        let needed_bytes = clients.saturating_mul(2 * self.args.page);
        let usual_bytes = (StoreOptions::default().memory_bytes as u64).max(needed_bytes);
        // Each store has it twice: for its clients, and for what it brings home.
        let stores = if self.has_room_for_all() { 2 * self.policies.len() as u64 } else { 2 };
        let most_bytes = budget_bytes() / stores.max(1);
        Allowance::within(most_bytes.max(needed_bytes + STORE_MEMORY_BYTES_MIN), "each store", usual_bytes)
    }

    /// A buffer that the user didn't ask for is large enough.
    pub(super) fn create(&self, policy: PolicyKind, pages: u64) -> CreateOptions {
        let options = CreateOptions {
            alignment_bytes: self.costs.mapping_unit_bytes,
            buffer_bytes: self.args.buffer.unwrap_or(self.costs.focused_area_bytes),
            ..CreateOptions::new(policy, self.page_bytes(), pages)
        };
        match options.device_bytes() {
            Err(PageError::BufferSize { least, .. }) if self.args.buffer.is_none() => {
                options.with_buffer_bytes(least)
            }
            _ => options,
        }
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
        let target = target::open(&self.on, &options).map_err(in_own_words)?;
        let outstanding = Allowance { bytes: BUFFER_BYTES, remark: None };
        let cancel = self.cancel.clone();
        // Stores have memory of their own.
        let read_pool = Allowance { bytes: 0, remark: None };
        Ok(Session { target, cancel, patience: PATIENCE, outstanding, read_pool, area_bytes_max: u64::MAX })
    }

    /// How large each policy's store is.
    fn stores_bytes(&self, pages: u64) -> Result<Vec<u64>, CliError> {
        let policies = self.policies.iter();
        policies.map(|policy| Ok(self.create(*policy, pages).device_bytes()?)).collect()
    }

    /// How many pages a policy has room for.
    fn pages_within(&self, policy: PolicyKind, area_bytes: u64) -> Result<u64, CliError> {
        // Some policies take space beside each page, so this is searched for and not divided.
        let (mut fits, mut beyond) = (0, area_bytes / self.args.page + 1);
        while beyond - fits > 1 {
            let pages = fits.midpoint(beyond);
            if self.create(policy, pages).device_bytes()? <= area_bytes {
                fits = pages;
            } else {
                beyond = pages;
            }
        }
        Ok(fits)
    }
}

/// Why a policy doesn't take what others do.
fn too_small(needed_bytes: u64, area_bytes: u64) -> CliError {
    CliError::usage(format!(
        "its store needs {}, and the target has {}; name a larger one, or a smaller --buffer",
        format_bytes(needed_bytes),
        format_bytes(area_bytes)
    ))
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
