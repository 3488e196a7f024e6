//! Test bench that runs one experiment on a target.

use nandle_io::Nanos;
use nandle_probe::experiments::{
    Circumstances, ExperimentEnv, HostFiles, Opened, Selection, TestFile, conduct, derive, plan,
};
use nandle_probe::fill::{FillOptions, fill};
use nandle_probe::load::{Cancel, Contents, Lane, LaneOptions, LoadError};
use nandle_probe::{Observer, Unobserved};
use nandle_profile::{Derived, Experiments};
use nandle_target::{Intent, OpenOptions, SpareFile, Target, TargetSpec};

const SLOTS: u32 = 256;

/// Target and budget of an experiment.
pub(crate) struct Bench {
    pub(crate) target: Target,
    pub(crate) budget: Nanos,
    pub(crate) write_limit_bytes: u64,
    pub(crate) cancel: Cancel,
    pub(crate) seed: u64,
    /// Directory of the test files, if it isn't the target.
    pub(crate) files: Option<Target>,
}

/// Result of an experiment.
pub(crate) struct Outcome {
    pub(crate) experiments: Experiments,
    pub(crate) derived: Derived,
    pub(crate) error: Option<LoadError>,
}

impl Bench {
    pub(crate) fn new(spec: &str, budget: Nanos) -> Self {
        let options =
            OpenOptions { intent: Intent::Write, test_file_bytes: 64 << 20, ..OpenOptions::default() };
        let spec: TargetSpec = spec.parse().unwrap();
        let target = Target::open(spec, options).unwrap();
        let bench = Self {
            target,
            budget,
            write_limit_bytes: 64 << 30,
            cancel: Cancel::default(),
            seed: 1,
            files: None,
        };
        if bench.target.needs_fill() {
            bench.fill();
        }
        bench
    }

    /// A directory on the real disk.
    pub(crate) fn on_disk(budget: Nanos) -> Self {
        Self::new(env!("CARGO_TARGET_TMPDIR"), budget)
    }

    fn fill(&self) {
        let opened = self.target.io(16).unwrap();
        let options =
            LaneOptions { buffer_bytes: 16 << 20, read_pool_bytes: 0, patience: Nanos::from_secs(60) };
        let mut lane = Lane::new(opened.io, opened.device, options).unwrap();
        let options =
            FillOptions { bytes: self.target.area_bytes(), time_limit: None, contents: Contents::new(3) };
        fill(&mut lane, options, &mut Unobserved, &self.cancel).unwrap();
    }

    fn circumstances(&self) -> Circumstances {
        Circumstances {
            shape: self.target.io(1).unwrap().device.shape,
            area_bytes: self.target.area_bytes(),
            slots: SLOTS,
            is_modelled: self.target.is_modelled(),
            is_whole_device: self.target.is_modelled(),
            device_bytes: None,
            atomic_write: None,
        }
    }

    /// Reason why an experiment can't run, if any.
    pub(crate) fn why_not(&self, name: &str) -> Option<String> {
        let experiment =
            nandle_probe::experiments::ALL.into_iter().find(|experiment| experiment.name() == name);
        experiment.unwrap().cost(&self.circumstances()).err()
    }

    /// Runs the named experiment.
    pub(crate) fn conduct(&self, name: &str) -> Outcome {
        self.conduct_observed(name, &mut Unobserved)
    }

    pub(crate) fn conduct_observed(&self, name: &str, observer: &mut dyn Observer) -> Outcome {
        let open = |slots| {
            let opened = self.target.io(slots).map_err(|error| error.to_string())?;
            Ok((opened.io, opened.device))
        };
        let env = ExperimentEnv {
            open: &open,
            open_without_cache: None,
            host_files: (self.files.is_some() || !self.target.is_modelled()).then_some(self),
            drive_log: &|| None,
            circumstances: self.circumstances(),
            read_pool_bytes: 0,
            patience: Nanos::from_secs(30),
            seed: self.seed,
            cancel: &self.cancel,
        };
        let selection = Selection {
            budget: self.budget,
            write_limit_bytes: self.write_limit_bytes,
            only: vec![name.into()],
            ..Selection::default()
        };
        let mut experiments = Experiments::default();
        let plan = plan(&env.circumstances, &selection, &mut experiments).unwrap();
        let skipped = plan.skipped.iter().find(|skipped| skipped.name == name);
        assert!(skipped.is_none(), "{skipped:?}");
        let error = conduct(&plan, &env, &mut experiments, observer, &mut |_| {}).err();
        let mut derived = Derived::default();
        derive(&mut experiments, &mut derived);
        Outcome { experiments, derived, error }
    }
}

impl HostFiles for Bench {
    fn blocking(&self) -> Opened {
        let opened = self.target.blocking().map_err(|error| error.to_string())?;
        Ok((opened.io, opened.device))
    }

    fn test_file(&self, file: TestFile) -> Opened {
        if let Some(files) = &self.files {
            let opened = files.io(SLOTS).map_err(|error| error.to_string())?;
            return Ok((opened.io, opened.device));
        }
        let TestFile { bytes, reserved, direct, sync } = file;
        let opened = self.target.spare_file(SpareFile { bytes, reserved, direct, sync });
        let opened = opened.map_err(|error| error.to_string())?;
        Ok((opened.io, opened.device))
    }
}

/// Library drive with changed parameters, in a temporary file.
pub(crate) struct ChangedModel(tempfile::NamedTempFile);

impl ChangedModel {
    pub(crate) fn of(name: &str, changes: &[(&str, &str)]) -> Self {
        let mut toml = nandle_model::library::Model::named(name).unwrap().toml().to_owned();
        for (before, after) in changes {
            assert!(toml.contains(before), "{name} has no {before:?}");
            toml = toml.replace(before, after);
        }
        let file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
        std::fs::write(file.path(), toml).unwrap();
        Self(file)
    }

    pub(crate) fn spec(&self) -> String {
        format!("model:{}", self.0.path().display())
    }
}
