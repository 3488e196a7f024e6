//! Stores of the policies, each on a device of its own.

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

/// Timeout of a device that doesn't respond while the test file is written.
const PATIENCE: Nanos = Nanos::from_secs(30);
/// Memory that a store needs for background work.
const STORE_MEMORY_BYTES_MIN: u64 = 8 << 20;
/// Slots for background work, beyond the clients'.
const BACKGROUND_SLOTS: u32 = 64;

/// Creates the candidate stores.
pub(super) struct StoreFactory<'a> {
    args: &'a ReplayArgs,
    /// The target, possibly enlarged.
    on: TargetSpec,
    /// Policies that can take the work.
    policies: Vec<PolicyKind>,
    /// Memory per store, set by [`Self::fit`].
    memory: Allowance,
    costs: WriteCosts,
    cancel: Cancel,
    kind: TargetKind,
    identity: Identity,
    /// Session shared by all policies in turn. It stays open: a closed ring releases its files
    /// late, and until then a device opened exclusively can't be opened again.
    shared: Option<Rc<Session>>,
    /// Size of the target; `None` if it is created as large as needed.
    area_bytes: Option<u64>,
}

/// Session that holds a candidate's device open, and the candidate if its store could be created.
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
            // An unreadable directory is reported when the file is created in it.
            factory.identity = facts::identity_of_path(directory).unwrap_or_default();
        } else {
            // For inspection only; test files and models are created anew.
            let session = factory.session(1 << 20)?;
            factory.kind = session.target.kind();
            factory.identity = facts::identity(&session.target);
            factory.area_bytes = (factory.kind != TargetKind::TestFile).then(|| session.target.area_bytes());
            factory.shared = factory.is_shared().then(|| Rc::new(session));
        }
        Ok(factory)
    }

    /// Returns true if all policies use the same bytes.
    fn is_shared(&self) -> bool {
        matches!(self.kind, TargetKind::File | TargetKind::BlockDevice)
    }

    /// Checks the room for all simultaneous stores before the first write. A shared target is
    /// enlarged to the largest store and filled.
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

    /// Returns true if time is virtual, and runs are thus repeatable.
    pub(super) fn is_modelled(&self) -> bool {
        self.kind == TargetKind::Model
    }

    /// Returns true if all candidates can exist at once and take turns. In virtual time nothing
    /// disturbs a run, and one after the other takes less memory.
    pub(super) fn has_room_for_all(&self) -> bool {
        self.kind == TargetKind::TestFile
    }

    /// Warning if the profile may not be the target's. A modelled drive stays the same at another
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

    /// Remark on the figures.
    pub(super) fn remark(&self) -> Option<String> {
        self.is_shared().then(|| {
            "The policies ran one after the other on the same target, so what changed on the machine or in the drive \
             meanwhile is in the comparison; on a directory they take turns."
                .into()
        })
    }

    /// Options for turning the trace into work.
    pub(super) fn work_options(&self) -> WorkOptions {
        let addresses = match self.args.addresses {
            AddressesArg::Compact => Addresses::Compact { area_bytes: self.costs.mapping_unit_bytes },
            AddressesArg::Keep => Addresses::Keep,
        };
        WorkOptions { page_bytes: self.page_bytes(), limit: self.args.writes.limit, addresses }
    }

    /// Policies that can take the work, after [`Self::fit`].
    pub(super) fn policies(&self) -> &[PolicyKind] {
        &self.policies
    }

    /// Fits work, target and policies to each other: enlarges a modelled drive, folds addresses if
    /// requested, and drops policies that can't take the work.
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

    /// Drops the policies for which `why_not` returns a reason.
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

    /// Enlarges a modelled target to the largest store.
    fn enlarge(&mut self, work: &Work) -> Result<(), CliError> {
        let needed_bytes = self.stores_bytes(work.pages)?.into_iter().max().unwrap_or(0);
        if self.kind != TargetKind::Model || self.area_bytes.is_none_or(|bytes| bytes >= needed_bytes) {
            return Ok(());
        }
        let Some(larger) = self.session(0)?.target.enlarged(needed_bytes) else { return Ok(()) };
        let named = std::mem::replace(&mut self.on, larger);
        match self.session(0) {
            Ok(session) => self.area_bytes = Some(session.target.area_bytes()),
            // Beyond the limit of its map. It keeps its size, and the work doesn't fit.
            Err(_) => self.on = named,
        }
        Ok(())
    }

    /// Reason why a policy lacks memory for the work, if it does.
    fn lacks_memory(&self, policy: PolicyKind, work: &Work) -> Option<CliError> {
        let at_once = if self.has_room_for_all() { self.policies.len() as u64 } else { 1 };
        memory::lacks(&self.create(policy, work.pages), work, self.kind, budget_bytes() / at_once.max(1))
    }

    /// Checks the memory for everything that a modelled drive will hold.
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

    /// Remark on the stores' memory.
    pub(super) fn memory_remark(&self) -> Option<String> {
        self.memory.remark.clone()
    }

    /// New size of an enlarged model.
    pub(super) fn enlarged_to_bytes(&self) -> Option<u64> {
        self.area_bytes.filter(|_| self.on != self.args.on)
    }

    /// Sentence on the enlarged model.
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

    /// Creates a policy's store on a device that is filled everywhere. Requires [`Self::prepare`].
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

    /// Options for opening each store.
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

    /// Memory per store: at least two pages per client.
    fn allowance(&self) -> Allowance {
        let clients = u64::from(self.args.queue_depth);
        let needed_bytes = clients.saturating_mul(2 * self.args.page);
        let usual_bytes = (StoreOptions::default().memory_bytes as u64).max(needed_bytes);
        // Each store needs it twice: for clients and for destaging.
        let stores = if self.has_room_for_all() { 2 * self.policies.len() as u64 } else { 2 };
        let most_bytes = budget_bytes() / stores.max(1);
        Allowance::within(most_bytes.max(needed_bytes + STORE_MEMORY_BYTES_MIN), "each store", usual_bytes)
    }

    /// Options for creating a store. The default buffer grows to fit the pages.
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
        // Stores have their own memory.
        let read_pool = Allowance { bytes: 0, remark: None };
        Ok(Session { target, cancel, patience: PATIENCE, outstanding, read_pool, area_bytes_max: u64::MAX })
    }

    /// Size of each policy's store.
    fn stores_bytes(&self, pages: u64) -> Result<Vec<u64>, CliError> {
        let policies = self.policies.iter();
        policies.map(|policy| Ok(self.create(*policy, pages).device_bytes()?)).collect()
    }

    /// Most pages that a policy can hold in `area_bytes`.
    fn pages_within(&self, policy: PolicyKind, area_bytes: u64) -> Result<u64, CliError> {
        // Some policies need space per page, so a search replaces a division.
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

/// Reason for leaving out a policy that needs more space than others.
fn too_small(needed_bytes: u64, area_bytes: u64) -> CliError {
    CliError::usage(format!(
        "its store needs {}, and the target has {}; name a larger one, or a smaller --buffer",
        format_bytes(needed_bytes),
        format_bytes(area_bytes)
    ))
}

/// File that doesn't exist yet.
fn to_be_made(args: &ReplayArgs) -> Option<&Path> {
    let TargetSpec::Path(path) = &args.on else { return None };
    (args.overwrite && !path.exists()).then_some(path)
}

/// Rewords an error: the size of test files isn't the user's choice here.
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
