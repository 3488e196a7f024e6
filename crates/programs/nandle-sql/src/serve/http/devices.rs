//! What a query would take on other devices, by their models.

use std::hash::{Hash, Hasher};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use nandle_dashboard::Device;
use nandle_engine::{Account, Needed};
use nandle_io::Nanos;
use nandle_predict::{CostsSource, MODEL_PROBE_BUDGET, Player, PlayerOptions, PredictError};
use nandle_profile::DeviceProfile;
use nandle_reads::PlanOptions;
use nandle_reads::recording::{QueryTotals, RecordedFile, RecordedQuery, Recording};
use nandle_session::{Access, Cancel, ProbeOptions, Unobserved, probe};
use nandle_target::TargetSpec;
use nandle_terminal::Failure;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{Instant, sleep_until};

use crate::serve::limits::Place;

/// Why there is no figure where the query's time was over.
const TIME_OVER: &str = "the query's time was over before it was played; --time-limit bounds both";

/// Modelled devices, each with what reads cost on it.
pub(in crate::serve) struct Devices {
    all: Vec<(TargetSpec, DeviceProfile)>,
    /// Memory for a query's reads, as here.
    memory_bytes: u64,
    /// Threads that compute, as here.
    threads: NonZeroUsize,
}

/// Cancels when nothing waits any more.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// All that figures on them follow from.
impl Hash for Devices {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for (device, profile) in &self.all {
            device.to_string().hash(state);
            // One that can't be written is as good as none.
            serde_json::to_string(profile).unwrap_or_default().hash(state);
        }
        (self.memory_bytes, self.threads).hash(state);
    }
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
        Ok(Self { all, memory_bytes, threads })
    }

    /// Plays what a query needed on each device, in what is left of the query's time and while it has its place. The playing ends when this is dropped.
    ///
    /// # Errors
    /// The playing panicked.
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

    /// Plays it; `computing` is shared out by what it wanted at a time.
    fn play(&self, needed: Needed, computing: Nanos, spilled_bytes: u64, cancel: &Cancel) -> Vec<Device> {
        let recording = recording(needed, computing, spilled_bytes);
        let played = |(device, profile): &(TargetSpec, DeviceProfile)| {
            let played = self.play_on(device, profile, &recording, cancel);
            let refusal = played
                .as_ref()
                .err()
                .map(|error| if cancel.is_cancelled() { TIME_OVER.to_owned() } else { error.to_string() });
            Device { device: device.to_string(), time_ns: played.ok(), refusal }
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

#[cfg(test)]
mod tests {
    use nandle_engine::{NeededFile, NeededStep};
    use nandle_reads::{FileId, Groups, Want};

    use super::*;

    fn devices() -> Devices {
        let models = ["model:wd2003fyys".parse().unwrap()];
        Devices::probe(&models, 64 << 20, NonZeroUsize::MIN, &Cancel::default()).unwrap()
    }

    /// A file of a megabyte, read once.
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
    fn other_devices_are_another_number() {
        let number = |devices: &Devices| {
            let mut hasher = std::hash::DefaultHasher::new();
            devices.hash(&mut hasher);
            hasher.finish()
        };
        let (one, same) = (devices(), devices());
        assert_eq!(number(&one), number(&same));
        assert_ne!(number(&one), number(&Devices { memory_bytes: 1, ..same }));
    }
}
