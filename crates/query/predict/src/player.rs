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
/// Time of a real target's.
pub const REAL_PROBE_BUDGET: Nanos = Nanos::from_secs(10);
/// Requests that may be in flight: more than a plan keeps.
const SLOTS: u32 = 1024;

/// Where the costs come from that reads are planned by.
#[derive(Debug, Clone)]
pub enum CostsSource {
    /// A profile, and the file that it was read from.
    Profile(Box<DeviceProfile>, PathBuf),
    /// The target itself, probed for so long; `None`: [`MODEL_PROBE_BUDGET`] or [`REAL_PROBE_BUDGET`].
    Probe(Option<Nanos>),
}

/// How a target is opened for a recording.
#[derive(Debug, Clone)]
pub struct PlayerOptions {
    /// How it is opened; a directory's test file is made as long as the recording needs.
    pub access: Access,
    /// Where costs come from.
    pub costs: CostsSource,
    /// When it is done, for the profile of a probe.
    pub made_at: SystemTime,
    /// Ends probe, filling and the playing of queries from outside.
    pub cancel: Cancel,
}

/// A target on which the queries of a recording are played.
pub struct Player {
    session: Session,
    layout: Layout,
    costs: ReadCosts,
    host: HostCosts,
    remarks: Vec<String>,
    /// Of a real target the one world; a modelled one is new for each query, so that none depends on those before it.
    real: Option<(Box<dyn Io>, Device)>,
    memory: ScanMemory,
    cancel: Cancel,
}

impl Player {
    /// Opens a target, probes it if no profile is named, and of a directory writes a test file. A modelled flash drive that is too
    /// small is made larger, which [`remarks`](Self::remarks) say.
    ///
    /// # Errors
    /// It can't be opened, measured or written, or has no room for the files.
    pub fn open(
        target: &TargetSpec,
        recording: &Recording,
        options: &PlayerOptions,
        progress: &mut dyn Progress,
    ) -> Result<Self, PredictError> {
        let mut remarks = Vec::new();
        // In the largest blocks that any device has; the files lie closer where it has smaller ones.
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

    /// What reads are planned by.
    pub fn costs(&self) -> &ReadCosts {
        &self.costs
    }

    /// What requests take of the processor.
    pub fn host(&self) -> HostCosts {
        self.host
    }

    /// Where the files lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether its time is virtual.
    pub fn is_modelled(&self) -> bool {
        self.real.is_none()
    }

    /// What a reader of the figures should know, each a sentence.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Plays a query of the recording.
    ///
    /// # Errors
    /// Its reads can't be planned in the memory, something failed, or it was cancelled.
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

/// Memory of one query for the next.
const KEPT_BYTES: usize = 64 << 20;
/// Blocks of devices are no larger.
const LARGEST_BLOCK_BYTES: u64 = 64 << 10;
/// So much is probed at least, so that caches of drives hold little of it.
const PROBE_AREA_BYTES_MIN: u64 = 4 << 30;
/// Test files that are shorter aren't made.
const TEST_FILE_BYTES_MIN: u64 = 16 << 20;

fn has_spills(recording: &Recording) -> bool {
    recording.queries.iter().any(|query| query.totals.spilled_bytes > 0)
}

/// What reads cost, with sentences on where that comes from and what is missing.
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
