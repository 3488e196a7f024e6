use nandle_io::{Nanos, Shape};
use nandle_profile::experiments::FailedRequests;
use nandle_profile::{AtomicWrite, Conducted, Derived, Experiments};

use super::Lab;
use crate::load::LoadError;

/// A question about a device. The file that implements it begins with the question, what the experiment does to the
/// device, and what it costs.
pub trait Experiment: Sync {
    /// What it finds. Filled while it runs, so that an experiment that is ended early has found what it had by then.
    type Findings: Clone + Default;

    /// Its name on the command line, and its key in the profile.
    fn name(&self) -> &'static str;
    /// The question.
    fn question(&self) -> &'static str;
    /// Whether a first look needs the answer. Then it has its time before all others, in short budgets too, and may write to
    /// Nandle's own test file without being asked for: it writes some 100 MiB at most, and says how much before.
    fn is_essential(&self) -> bool {
        false
    }
    /// Whether it finds more the longer it goes on. Then it has all time and bytes of a real device when it alone is asked for.
    fn gains_by_more(&self) -> bool {
        false
    }
    /// What it costs.
    ///
    /// # Errors
    /// It can't be conducted under these circumstances: why, and what would change that.
    fn cost(&self, circumstances: &Circumstances) -> Result<Cost, String>;
    /// Its place in the profile.
    fn slot<'a>(&self, experiments: &'a mut Experiments) -> &'a mut Option<Conducted<Self::Findings>>;
    /// Conducts it. Where time or the write limit ends it before its question is answered it says so with
    /// [`Lab::cut_short`] and returns.
    ///
    /// # Errors
    /// The device fails or stops answering, or the user ends it.
    fn run(&self, lab: &mut Lab<'_>, findings: &mut Self::Findings) -> Result<(), LoadError>;
    /// What follows for a database.
    fn derive(&self, _findings: &Self::Findings, _derived: &mut Derived) {}
}

/// What an experiment costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// With less time it finds nothing of use.
    pub time_least: Nanos,
    /// With more time it finds no more.
    pub time_wanted: Nanos,
    /// The most that it would like to write; 0 when it only reads. An experiment that writes wears the device.
    pub write_bytes_max: u64,
}

/// Under which circumstances experiments are conducted, as far as they matter to what is possible.
#[derive(Debug, Clone)]
pub struct Circumstances {
    /// What the device can do.
    pub shape: Shape,
    /// How much of it is addressed, from its start on.
    pub area_bytes: u64,
    /// Requests that can be outstanding.
    pub slots: u32,
    /// Whether it lives in virtual time. Then every world that is opened has the device in its first state.
    pub is_modelled: bool,
    /// Whether the whole device is addressed, and not a file on it.
    pub is_whole_device: bool,
    /// What the whole device holds; `None` where that isn't known.
    pub device_bytes: Option<u64>,
    /// Atomic write units that the kernel gives.
    pub atomic_write: Option<AtomicWrite>,
}

/// An [`Experiment`] of any findings.
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
    /// Whether it was conducted to its end.
    fn is_complete(&self, experiments: &mut Experiments) -> bool;
    /// What ended it before its end; `None` when nothing did, or it was not begun.
    fn ended_by(&self, experiments: &mut Experiments) -> Option<String>;
    /// Which of its requests failed while others were answered; `None` when none did, or it was not begun.
    fn failed(&self, experiments: &mut Experiments) -> Option<FailedRequests>;
    /// Time that it took and bytes that it wrote; nothing where it was not begun.
    fn used_up(&self, experiments: &mut Experiments) -> (Nanos, u64);
    /// Runs it in a lab and records what it found, also when it fails.
    ///
    /// # Errors
    /// See [`Experiment::run`].
    fn conduct(&self, lab: Lab<'_>, experiments: &mut Experiments) -> Result<(), LoadError>;
    /// Adds what follows from its findings.
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
