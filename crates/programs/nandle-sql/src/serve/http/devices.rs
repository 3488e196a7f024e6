//! Predicted times of queries on modelled devices. Models are probed in the background; until then
//! a device's figures are missing, with the reason.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use nandle_dashboard::{Device, DeviceStatus, DevicesStatus, MeasurementState};
use nandle_engine::{Account, Needed};
use nandle_io::Nanos;
use nandle_predict::{CostsSource, MODEL_PROBE_BUDGET, Player, PlayerOptions, PredictError};
use nandle_profile::DeviceProfile;
use nandle_reads::PlanOptions;
use nandle_reads::recording::{QueryTotals, RecordedFile, RecordedQuery, Recording};
use nandle_session::{Access, Cancel, ProbeOptions, Unobserved, probe};
use nandle_target::TargetSpec;
use nandle_terminal::output;
use tokio::sync::watch;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{Instant, sleep_until};

use crate::serve::limits::Place;

/// Reason if the query's time limit expired.
const TIME_OVER: &str = "the query's time was over before it was played; --time-limit bounds both";

/// Reason if the model isn't probed yet.
const MEASURING: &str = "its model is still being measured";
/// Niceness of the probe, for which nothing waits.
const NICENESS: i32 = 10;

/// Modelled devices, with read costs once they are probed.
pub(in crate::serve) struct Devices {
    all: Vec<Modelled>,
    /// Read memory of a query on this server.
    memory_bytes: u64,
    /// Compute threads of this server.
    threads: NonZeroUsize,
    /// Number of devices whose probe has ended, successfully or not.
    known: watch::Sender<usize>,
}

struct Modelled {
    model: TargetSpec,
    measured: OnceLock<Result<Measured, String>>,
}

/// Read costs of a device, and a hash that identifies them.
struct Measured {
    profile: DeviceProfile,
    number: u64,
}

/// Cancels on drop.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Devices {
    /// Creates devices that are still to be probed.
    pub(in crate::serve) fn new(
        models: &[TargetSpec],
        memory_bytes: u64,
        threads: NonZeroUsize,
    ) -> Arc<Self> {
        let of = |model: &TargetSpec| Modelled { model: model.clone(), measured: OnceLock::new() };
        let (all, known) = (models.iter().map(of).collect(), watch::Sender::new(0));
        Arc::new(Self { all, memory_bytes, threads, known })
    }

    /// Starts a thread that probes the models one after the other, in virtual time.
    pub(in crate::serve) fn begin_measuring(self: &Arc<Self>, cancel: &Cancel) {
        let (devices, cancel) = (Arc::clone(self), cancel.clone());
        let body = move || {
            // On failure queries are only slightly slower for a while.
            let _ = rustix::process::nice(NICENESS);
            devices.measure(&cancel);
        };
        if let Err(error) = std::thread::Builder::new().name("nandle-models".to_owned()).spawn(body) {
            output::note(&format!(
                "starting a thread that measures models: {error}; queries have no figures of other devices"
            ));
        }
    }

    fn measure(&self, cancel: &Cancel) {
        for Modelled { model, measured } in &self.all {
            let probed = catch_unwind(AssertUnwindSafe(|| measured_by_probe(model, cancel)));
            if cancel.is_cancelled() {
                return;
            }
            let probed = probed.unwrap_or_else(|_| Err("the program failed while it measured it".to_owned()));
            if let Err(error) = &probed {
                output::note(&format!(
                    "measuring what reads cost on {model}: {error}; queries have no figures of it"
                ));
            }
            // Set once only.
            let _ = measured.set(probed);
            self.known.send_modify(|known| *known += 1);
        }
    }

    /// Receiver of the number of devices whose probe has ended.
    pub(super) fn known(&self) -> watch::Receiver<usize> {
        self.known.subscribe()
    }

    /// Hash of everything that the current figures depend on.
    pub(super) fn number(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for Modelled { model, measured } in &self.all {
            let number =
                measured.get().map(|measured| measured.as_ref().ok().map(|measured| measured.number));
            (model.to_string(), number).hash(&mut hasher);
        }
        (self.memory_bytes, self.threads).hash(&mut hasher);
        hasher.finish()
    }

    /// Progress of the probes.
    pub(super) fn status(&self) -> DevicesStatus {
        let of = |Modelled { model, measured }: &Modelled| {
            let (state, refusal) = match measured.get() {
                None => (MeasurementState::Running, None),
                Some(Ok(_)) => (MeasurementState::Done, None),
                Some(Err(refusal)) => (MeasurementState::Failed, Some(refusal.clone())),
            };
            DeviceStatus { device: model.to_string(), state, refusal }
        };
        DevicesStatus { devices: self.all.iter().map(of).collect() }
    }

    /// Replays a query's needs on each device, within the rest of its time and holding its
    /// admission slot. Dropping the future cancels the replay.
    ///
    /// # Errors
    ///
    /// The replay panicked.
    pub(super) async fn play_within(
        self: Arc<Self>,
        needed: Needed,
        account: &Account,
        place: Arc<Place>,
        until: Instant,
    ) -> Result<Vec<Device>, JoinError> {
        let (computing, spilled_bytes) = (account.computing, account.spilled_bytes);
        let cancel = CancelOnDrop(Cancel::default());
        let flag = cancel.0.clone();
        let mut playing = spawn_blocking(move || {
            let played = self.play(needed, computing, spilled_bytes, &flag);
            drop(place);
            played
        });
        tokio::select! {
            played = &mut playing => return played,
            () = sleep_until(until) => cancel.0.cancel(),
        }
        playing.await
    }

    /// Replays the needs; `computing` is divided among steps in proportion to their computing.
    fn play(&self, needed: Needed, computing: Nanos, spilled_bytes: u64, cancel: &Cancel) -> Vec<Device> {
        let recording = recording(needed, computing, spilled_bytes);
        let played = |Modelled { model, measured }: &Modelled| {
            let device = model.to_string();
            match measured.get() {
                None => {
                    Device { device, time_ns: None, is_measured: false, refusal: Some(MEASURING.to_owned()) }
                }
                Some(Err(why)) => {
                    Device { device, time_ns: None, is_measured: true, refusal: Some(why.clone()) }
                }
                Some(Ok(Measured { profile, .. })) => {
                    let played = self.play_on(model, profile, &recording, cancel);
                    let refused = |error: &PredictError| {
                        if cancel.is_cancelled() { TIME_OVER.to_owned() } else { error.to_string() }
                    };
                    let refusal = played.as_ref().err().map(refused);
                    Device { device, time_ns: played.ok(), is_measured: true, refusal }
                }
            }
        };
        self.all.iter().map(played).collect()
    }

    fn play_on(
        &self,
        device: &TargetSpec,
        profile: &DeviceProfile,
        recording: &Recording,
        cancel: &Cancel,
    ) -> Result<u64, PredictError> {
        let options = PlayerOptions {
            access: Access::default(),
            costs: CostsSource::Profile(Box::new(profile.clone()), PathBuf::from(device.to_string())),
            made_at: SystemTime::UNIX_EPOCH,
            cancel: cancel.clone(),
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

fn measured_by_probe(model: &TargetSpec, cancel: &Cancel) -> Result<Measured, String> {
    let options = ProbeOptions {
        budget: MODEL_PROBE_BUDGET,
        only: vec!["reads".to_owned()],
        cancel: cancel.clone(),
        ..ProbeOptions::new(SystemTime::UNIX_EPOCH)
    };
    let profile = probe(model, &options, &mut Unobserved).map_err(|error| error.to_string())?;
    let mut hasher = DefaultHasher::new();
    // A profile that can't be serialised hashes as empty.
    serde_json::to_string(&profile).unwrap_or_default().hash(&mut hasher);
    Ok(Measured { profile, number: hasher.finish() })
}

/// Recording of a single query.
fn recording(needed: Needed, computing: Nanos, spilled_bytes: u64) -> Recording {
    let Needed { files, steps } = needed;
    let wanted =
        |step: &nandle_engine::NeededStep| -> u64 { step.wants.iter().map(|want| want.length_bytes).sum() };
    let all_bytes: u64 = steps.iter().map(wanted).sum();
    let share = |bytes: u64| u128::from(computing.0) * u128::from(bytes) / u128::from(all_bytes.max(1));
    let cpu_after_ns =
        steps.iter().map(|step| u64::try_from(share(wanted(step))).unwrap_or(u64::MAX)).collect();
    let wants = steps.into_iter().flat_map(|step| step.wants).collect();
    // Operators read each temporary file once.
    let totals =
        QueryTotals { spilled_bytes, spill_read_bytes: spilled_bytes, result_rows: 0, took_ns: None };
    let query = RecordedQuery { name: None, text: None, wants, cpu_after_ns, totals };
    let files = files.into_iter().map(|file| RecordedFile {
        name: None,
        length_bytes: file.length_bytes,
        groups: file.groups,
    });
    let files: Vec<RecordedFile> = files.collect();
    // Without reads a query takes no device time.
    let queries = if files.is_empty() { Vec::new() } else { vec![query] };
    Recording { files, queries }
}

#[cfg(test)]
mod tests {
    use nandle_engine::{NeededFile, NeededStep};
    use nandle_reads::{FileId, Groups, Want};

    use super::*;

    fn unmeasured(memory_bytes: u64) -> Arc<Devices> {
        Devices::new(&["model:wd2003fyys".parse().unwrap()], memory_bytes, NonZeroUsize::MIN)
    }

    fn devices() -> Arc<Devices> {
        let devices = unmeasured(64 << 20);
        devices.measure(&Cancel::default());
        devices
    }

    /// Needs of a file of 1 MB, read once.
    fn needed() -> Needed {
        let length_bytes = 1 << 20;
        let file = NeededFile { name: "file".to_owned(), length_bytes, groups: Groups::Unknown };
        let want = Want { file: FileId(0), offset_bytes: 0, length_bytes, step: 0 };
        Needed { files: vec![file], steps: vec![NeededStep { wants: vec![want], cpu_after: Nanos::ZERO }] }
    }

    #[test]
    fn what_is_played_ends_with_the_query() {
        let devices = devices();
        let computing = Nanos::from_secs(1);
        let cancel = Cancel::default();
        let [played] = &devices.play(needed(), computing, 0, &cancel)[..] else { panic!("one device") };
        assert!(played.time_ns > Some(computing.0) && played.refusal.is_none(), "{played:?}");
        drop(CancelOnDrop(cancel.clone()));
        let [ended] = &devices.play(needed(), computing, 0, &cancel)[..] else { panic!("one device") };
        assert_eq!((ended.time_ns, ended.refusal.as_deref()), (None, Some(TIME_OVER)));
    }

    #[test]
    fn what_is_not_measured_has_no_figures_and_says_so() {
        let devices = unmeasured(64 << 20);
        let (known, before) = (devices.known(), devices.number());
        assert_eq!(devices.status().devices[0].state, MeasurementState::Running);
        let play = || devices.play(needed(), Nanos::from_secs(1), 0, &Cancel::default());
        let [unknown] = &play()[..] else { panic!("one device") };
        assert!(
            !unknown.is_measured && unknown.time_ns.is_none() && unknown.refusal.is_some(),
            "{unknown:?}"
        );
        devices.measure(&Cancel::default());
        assert!(*known.borrow() == 1 && devices.number() != before);
        assert_eq!(devices.status().devices[0].state, MeasurementState::Done);
        let [known] = &play()[..] else { panic!("one device") };
        assert!(known.is_measured && known.time_ns.is_some() && known.refusal.is_none(), "{known:?}");
    }

    #[test]
    fn what_is_cancelled_is_not_measured() {
        let (devices, cancel) = (unmeasured(1 << 20), Cancel::default());
        cancel.cancel();
        devices.measure(&cancel);
        assert_eq!(devices.status().devices[0].state, MeasurementState::Running);
    }

    #[test]
    fn other_devices_are_another_number() {
        assert_eq!(devices().number(), devices().number());
        assert_ne!(unmeasured(1).number(), unmeasured(2).number());
    }
}
