//! What a query would take on other devices, by their models.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::SystemTime;

use nandle_dashboard::Device;
use nandle_engine::Needed;
use nandle_io::Nanos;
use nandle_predict::{CostsSource, MODEL_PROBE_BUDGET, Player, PlayerOptions, PredictError};
use nandle_profile::DeviceProfile;
use nandle_reads::PlanOptions;
use nandle_reads::recording::{QueryTotals, RecordedFile, RecordedQuery, Recording};
use nandle_session::{Access, Cancel, ProbeOptions, Unobserved, probe};
use nandle_target::TargetSpec;
use nandle_terminal::Failure;

/// Modelled devices, each with what reads cost on it.
pub(in crate::serve) struct Devices {
    all: Vec<(TargetSpec, DeviceProfile)>,
    /// Memory for a query's reads, as here.
    memory_bytes: u64,
    /// Threads that compute, as here.
    threads: NonZeroUsize,
    cancel: Cancel,
}

impl Devices {
    /// Probes models, side by side, in virtual time.
    pub(in crate::serve) fn probe(
        models: &[TargetSpec],
        memory_bytes: u64,
        threads: NonZeroUsize,
        cancel: &Cancel,
    ) -> Result<Self, Failure> {
        let probed: Vec<Result<_, Failure>> = std::thread::scope(|scope| {
            let threads: Vec<_> = models
                .iter()
                .map(|model| scope.spawn(|| Ok((model.clone(), probed(model, cancel)?))))
                .collect();
            let broken = || Failure::failed("a model's probe panicked".to_owned());
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(broken()))).collect()
        });
        let all = probed.into_iter().collect::<Result<_, _>>()?;
        Ok(Self { all, memory_bytes, threads, cancel: cancel.clone() })
    }

    /// Plays what a query needed on each device; `computing` is shared out by what it wanted at a time.
    pub(super) fn play(&self, needed: Needed, computing: Nanos, spilled_bytes: u64) -> Vec<Device> {
        let recording = recording(needed, computing, spilled_bytes);
        let played = |(device, profile): &(TargetSpec, DeviceProfile)| {
            let played = self.play_on(device, profile, &recording);
            Device {
                device: device.to_string(),
                time_ns: played.as_ref().ok().copied(),
                refusal: played.err().map(|error| error.to_string()),
            }
        };
        self.all.iter().map(played).collect()
    }

    fn play_on(
        &self,
        device: &TargetSpec,
        profile: &DeviceProfile,
        recording: &Recording,
    ) -> Result<u64, PredictError> {
        let options = PlayerOptions {
            access: Access::default(),
            costs: CostsSource::Profile(Box::new(profile.clone()), PathBuf::from(device.to_string())),
            made_at: SystemTime::UNIX_EPOCH,
            cancel: self.cancel.clone(),
        };
        let mut player = Player::open(device, recording, &options, &mut Unobserved)?;
        let mut all_ns = 0;
        for query in &recording.queries {
            let options = PlanOptions::new(self.memory_bytes);
            all_ns += player.play(query, options, 1.0 / self.threads.get() as f64)?.time_ns;
        }
        Ok(all_ns)
    }
}

fn probed(model: &TargetSpec, cancel: &Cancel) -> Result<DeviceProfile, Failure> {
    let options = ProbeOptions {
        budget: MODEL_PROBE_BUDGET,
        only: vec!["reads".to_owned()],
        cancel: cancel.clone(),
        ..ProbeOptions::new(SystemTime::UNIX_EPOCH)
    };
    let failed = |error| Failure::failed(format!("measuring what reads cost on {model}: {error}"));
    probe(model, &options, &mut Unobserved).map_err(failed)
}

/// One query, in the form of recordings.
fn recording(needed: Needed, computing: Nanos, spilled_bytes: u64) -> Recording {
    let Needed { files, steps } = needed;
    let wanted =
        |step: &nandle_engine::NeededStep| -> u64 { step.wants.iter().map(|want| want.length_bytes).sum() };
    let all_bytes: u64 = steps.iter().map(wanted).sum();
    let share = |bytes: u64| u128::from(computing.0) * u128::from(bytes) / u128::from(all_bytes.max(1));
    let cpu_after_ns =
        steps.iter().map(|step| u64::try_from(share(wanted(step))).unwrap_or(u64::MAX)).collect();
    let wants = steps.into_iter().flat_map(|step| step.wants).collect();
    // What operators have written to temporary files they read once.
    let totals = QueryTotals { spilled_bytes, spill_read_bytes: spilled_bytes, result_rows: 0 };
    let query = RecordedQuery { name: None, text: None, wants, cpu_after_ns, totals };
    let files = files.into_iter().map(|file| RecordedFile {
        name: None,
        length_bytes: file.length_bytes,
        groups: file.groups,
    });
    let files: Vec<RecordedFile> = files.collect();
    // What reads nothing takes no device's time.
    let queries = if files.is_empty() { Vec::new() } else { vec![query] };
    Recording { files, queries }
}
