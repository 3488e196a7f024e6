use nandle_io::{Nanos, Shape};
use nandle_profile::experiments::FailedRequests;
use nandle_profile::{AtomicWrite, Conducted, Derived, Experiments};

use super::Lab;
use crate::load::LoadError;

/// A question about a device. The file of an experiment opens with the question, the load that it
/// puts on the device, and its cost.
pub trait Experiment: Sync {
    /// Findings. They are filled during the run, so an experiment that ends early keeps partial
    /// findings.
    type Findings: Clone + Default;

    /// Name on the command line and key in the profile.
    fn name(&self) -> &'static str;
    /// The question that it answers.
    fn question(&self) -> &'static str;
    /// Returns true if a first look needs the answer. An essential experiment has priority in time,
    /// even in short budgets. It may write to Nandle's own test file without being requested: at
    /// most some 100 MiB, announced in advance.
    fn is_essential(&self) -> bool {
        false
    }
    /// Returns true if the findings improve with more time. If selected alone on a real device,
    /// such an experiment gets the whole budget of time and bytes.
    fn gains_by_more(&self) -> bool {
        false
    }
    /// Estimates its cost.
    ///
    /// # Errors
    /// Reason why it can't run on this device, and the remedy.
    fn cost(&self, circumstances: &Circumstances) -> Result<Cost, String>;
    /// Its entry in the profile.
    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<Self::Findings>>;
    /// Runs the experiment. If time or the write limit ends it early, it reports this with
    /// [`Lab::cut_short`] and returns.
    ///
    /// # Errors
    /// The device failed or stopped answering, or the user interrupted it.
    fn run(&self, lab: &mut Lab<'_>, findings: &mut Self::Findings) -> Result<(), LoadError>;
    /// Adds derived figures.
    fn derive(&self, _findings: &Self::Findings, _derived: &mut Derived) {}
}

/// Cost of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Time below which it has no useful findings.
    pub time_least: Nanos,
    /// Time above which its findings don't improve.
    pub time_wanted: Nanos,
    /// Most bytes written; 0 if it only reads. Writes wear the device.
    pub write_bytes_max: u64,
}

/// Facts that determine which experiments are possible.
#[derive(Debug, Clone)]
pub struct Circumstances {
    /// Shape of the device.
    pub shape: Shape,
    /// Bytes addressed, from the start of the device.
    pub area_bytes: u64,
    /// Request slots of a world.
    pub slots: u32,
    /// True if the device is modelled and runs in virtual time. Every new world then starts with
    /// the device in its initial state.
    pub is_modelled: bool,
    /// True if the whole device is addressed, instead of a file on it.
    pub is_whole_device: bool,
    /// Capacity of the whole device, if known.
    pub device_bytes: Option<u64>,
    /// Atomic write units stated by the kernel.
    pub atomic_write: Option<AtomicWrite>,
}

/// Object-safe form of [`Experiment`].
pub trait DynExperiment: Sync {
    /// See [`Experiment::name`].
    fn name(&self) -> &'static str;
    /// See [`Experiment::question`].
    fn question(&self) -> &'static str;
    /// See [`Experiment::is_essential`].
    fn is_essential(&self) -> bool;
    /// See [`Experiment::gains_by_more`].
    fn gains_by_more(&self) -> bool;
    /// # Errors
    /// See [`Experiment::cost`].
    fn cost(&self, circumstances: &Circumstances) -> Result<Cost, String>;
    /// Returns true if it ran to its end.
    fn is_complete(&self, experiments: &mut Experiments) -> bool;
    /// Reason for an early end, if any. `None` if it wasn't started.
    fn ended_by(&self, experiments: &mut Experiments) -> Option<String>;
    /// Failed requests while others succeeded, if any. `None` if it wasn't started.
    fn failed(&self, experiments: &mut Experiments) -> Option<FailedRequests>;
    /// Time taken and bytes written; zero if it wasn't started.
    fn used_up(&self, experiments: &mut Experiments) -> (Nanos, u64);
    /// Runs it in a lab and records its findings, even after a failure.
    ///
    /// # Errors
    /// See [`Experiment::run`].
    fn conduct(&self, lab: Lab<'_>, experiments: &mut Experiments) -> Result<(), LoadError>;
    /// Adds figures derived from its findings.
    fn derive(&self, experiments: &mut Experiments, derived: &mut Derived);
}

impl<E: Experiment> DynExperiment for E {
    fn name(&self) -> &'static str {
        Experiment::name(self)
    }

    fn question(&self) -> &'static str {
        Experiment::question(self)
    }

    fn is_essential(&self) -> bool {
        Experiment::is_essential(self)
    }

    fn gains_by_more(&self) -> bool {
        Experiment::gains_by_more(self)
    }

    fn cost(&self, circumstances: &Circumstances) -> Result<Cost, String> {
        Experiment::cost(self, circumstances)
    }

    fn is_complete(&self, experiments: &mut Experiments) -> bool {
        self.slot(experiments).as_ref().is_some_and(|conducted| conducted.complete)
    }

    fn ended_by(&self, experiments: &mut Experiments) -> Option<String> {
        self.slot(experiments).as_ref()?.ended_by.clone()
    }

    fn failed(&self, experiments: &mut Experiments) -> Option<FailedRequests> {
        self.slot(experiments).as_ref()?.failed.clone()
    }

    fn used_up(&self, experiments: &mut Experiments) -> (Nanos, u64) {
        let conducted = self.slot(experiments).as_ref();
        conducted.map_or((Nanos::ZERO, 0), |done| (Nanos(done.elapsed_ns), done.bytes_written))
    }

    fn conduct(&self, mut lab: Lab<'_>, experiments: &mut Experiments) -> Result<(), LoadError> {
        let mut findings = E::Findings::default();
        let result = self.run(&mut lab, &mut findings);
        let ended_by = result.as_ref().err().map(ToString::to_string);
        *self.slot(experiments) = Some(lab.conclude(findings, ended_by));
        result
    }

    fn derive(&self, experiments: &mut Experiments, derived: &mut Derived) {
        if let Some(conducted) = self.slot(experiments) {
            Experiment::derive(self, &conducted.findings, derived);
        }
    }
}
