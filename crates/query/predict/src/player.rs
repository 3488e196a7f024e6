use std::path::PathBuf;
use std::time::SystemTime;

use nandle_io::{Device, Io, Nanos};
use nandle_profile::DeviceProfile;
use nandle_reads::recording::{RecordedQuery, Recording};
use nandle_reads::{HostCosts, PlanOptions, ReadCosts, ScanMemory};
use nandle_session::{Access, Cancel, ProbeOptions, Progress, Session};
use nandle_target::{Intent, TargetSpec};
use nandle_units::{format_bytes, format_duration};

use crate::{Layout, Play, PlayedQuery, PredictError, host_costs, play, read_costs};

/// Virtual time of a model's probe.
pub const MODEL_PROBE_BUDGET: Nanos = Nanos::from_secs(60);
/// Time of a real target's probe.
pub const REAL_PROBE_BUDGET: Nanos = Nanos::from_secs(10);
/// Limit on requests in flight: more than a plan needs.
const SLOTS: u32 = 1024;

/// Source of the read costs.
#[derive(Debug, Clone)]
pub enum CostsSource {
    /// A profile, and the file from which it was read.
    Profile(Box<DeviceProfile>, PathBuf),
    /// A probe of the target of this duration; `None` for [`MODEL_PROBE_BUDGET`] or
    /// [`REAL_PROBE_BUDGET`].
    Probe(Option<Nanos>),
}

/// Options to open a target for a recording.
#[derive(Debug, Clone)]
pub struct PlayerOptions {
    /// Access options; a directory's test file is made as long as the recording needs.
    pub access: Access,
    /// Source of the read costs.
    pub costs: CostsSource,
    /// Time of the probe, for its profile.
    pub made_at: SystemTime,
    /// Cancels probe, filling and replay.
    pub cancel: Cancel,
}

/// A target on which a recording's queries are played.
pub struct Player {
    session: Session,
    layout: Layout,
    costs: ReadCosts,
    host: HostCosts,
    remarks: Vec<String>,
    /// The world of a real target. A modelled one is new for each query, so that no query depends
    /// on earlier ones.
    real: Option<(Box<dyn Io>, Device)>,
    memory: ScanMemory,
    cancel: Cancel,
}

impl Player {
    /// Opens a target. Probes it if no profile is given, and writes a test file into a directory.
    /// Enlarges a modelled flash drive that is too small, with a note in
    /// [`remarks`](Self::remarks).
    ///
    /// # Errors
    /// The target can't be opened, measured or written, or is too small.
    pub fn open(
        target: &TargetSpec,
        recording: &Recording,
        options: &PlayerOptions,
        progress: &mut dyn Progress,
    ) -> Result<Self, PredictError> {
        let mut remarks = Vec::new();
        // Uses the largest block size of any device; with smaller blocks the files lie closer.
        let room_bytes = Layout::new(recording, LARGEST_BLOCK_BYTES).end_bytes();
        let access = Access {
            test_file_bytes: room_bytes.max(TEST_FILE_BYTES_MIN),
            area_bytes_max: room_bytes.max(PROBE_AREA_BYTES_MIN),
            ..options.access.clone()
        };
        let may_write = access.overwrite || access.destroy_data;
        let intent = if has_spills(recording) || may_write { Intent::Write } else { Intent::Read };
        let mut session = access.open(target, intent, &options.cancel)?;
        if let Some(enlarged) =
            session.target.enlarged(room_bytes).filter(|_| session.target.area_bytes() < room_bytes)
        {
            let (from, to) = (format_bytes(session.target.area_bytes()), format_bytes(room_bytes));
            remarks.push(format!("{target} is modelled with {to} instead of {from}, because the recording's files take so much."));
            session = access.open(&enlarged, intent, &options.cancel)?;
        }
        let (costs, host, of_costs) = costs(&session, &access, options, progress)?;
        remarks.extend(of_costs);
        let layout = Layout::new(recording, costs.logical_block_bytes);
        let is_modelled = session.target.is_modelled();
        let (io, device) = session.open_io(SLOTS)?;
        layout.check(&device, &target.to_string())?;
        let real = (!is_modelled).then_some((io, device));
        if real.is_some() {
            session.prepare_apart(None, progress)?;
        }
        remarks.extend(session.remarks().into_iter().map(|remark| format!("{target}: {remark}")));
        let memory = ScanMemory::keeping(KEPT_BYTES);
        Ok(Self { session, layout, costs, host, remarks, real, memory, cancel: options.cancel.clone() })
    }

    /// Costs that reads are planned with.
    pub fn costs(&self) -> &ReadCosts {
        &self.costs
    }

    /// Processor time of requests.
    pub fn host(&self) -> HostCosts {
        self.host
    }

    /// Layout of the files.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Returns true if its time is virtual.
    pub fn is_modelled(&self) -> bool {
        self.real.is_none()
    }

    /// Remarks for the reader of the figures, each a sentence.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Plays a query of the recording.
    ///
    /// # Errors
    /// Its reads can't be planned in the memory, an operation failed, or it was cancelled.
    pub fn play(
        &mut self,
        query: &RecordedQuery,
        options: PlanOptions,
        cpu_scale: f64,
    ) -> Result<PlayedQuery, PredictError> {
        let (host, is_modelled) = (self.host, self.is_modelled());
        let how = Play { options, cpu_scale, host, is_modelled, cancel: self.cancel.clone() };
        let mut modelled = match &self.real {
            None => Some(self.session.open_io(SLOTS)?),
            Some(_) => None,
        };
        let Some((io, device)) = modelled.as_mut().or(self.real.as_mut()) else {
            unreachable!("a target is real, or its model was just opened")
        };
        play(io.as_mut(), device, &self.layout, query, &self.costs, &how, &mut self.memory)
    }
}

/// Memory kept from one query for the next.
const KEPT_BYTES: usize = 64 << 20;
/// Largest block size of any device.
const LARGEST_BLOCK_BYTES: u64 = 64 << 10;
/// Least area that is probed, so that drive caches hold little of it.
const PROBE_AREA_BYTES_MIN: u64 = 4 << 30;
/// Least length of a test file.
const TEST_FILE_BYTES_MIN: u64 = 16 << 20;

fn has_spills(recording: &Recording) -> bool {
    recording.queries.iter().any(|query| query.totals.spilled_bytes > 0)
}

/// Read costs, with remarks on their source and on missing figures.
fn costs(
    session: &Session,
    access: &Access,
    options: &PlayerOptions,
    progress: &mut dyn Progress,
) -> Result<(ReadCosts, HostCosts, Vec<String>), PredictError> {
    let spec = session.target.spec();
    let shape = session.target.shapes().next();
    let (profile, mut remarks) = match &options.costs {
        CostsSource::Profile(profile, path) => {
            let sentence = format!(
                "Reads of {spec} are planned by the profile {} ({}).",
                path.display(),
                profile.target
            );
            (profile.clone(), vec![sentence])
        }
        CostsSource::Probe(budget) => {
            let is_modelled = session.target.is_modelled();
            let usual = if is_modelled { MODEL_PROBE_BUDGET } else { REAL_PROBE_BUDGET };
            let budget = budget.unwrap_or(usual);
            let sentence = format!(
                "Reads of {spec} are planned by a probe of it for {}{}, because no profile is named.",
                format_duration(budget),
                if is_modelled { " of virtual time" } else { "" }
            );
            (Box::new(probe(spec, access, budget, options, progress)?), vec![sentence])
        }
    };
    let (costs, missing) = read_costs(&profile, shape)?;
    remarks.extend(missing.into_iter().map(|missing| format!("Of {spec}: {missing}.")));
    Ok((costs, host_costs(&profile), remarks))
}

fn probe(
    target: &TargetSpec,
    access: &Access,
    budget: Nanos,
    options: &PlayerOptions,
    progress: &mut dyn Progress,
) -> Result<DeviceProfile, PredictError> {
    let options = ProbeOptions {
        access: access.clone(),
        budget,
        only: vec!["reads".to_owned()],
        cancel: options.cancel.clone(),
        ..ProbeOptions::new(options.made_at)
    };
    Ok(nandle_session::probe(target, &options, progress)?)
}
