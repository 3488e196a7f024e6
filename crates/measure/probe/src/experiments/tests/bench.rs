//! Experiments on modelled drives.

use nandle_io::{Device, Io, Nanos};
use nandle_model::library::Model;
use nandle_model::world::{Host, ModelWorld, ModelledDevice};
use nandle_profile::{Derived, Experiments};

use crate::Unobserved;
use crate::experiments::{Circumstances, ExperimentEnv, Selection, conduct, derive, plan};
use crate::load::{Cancel, LoadError};

pub(super) const SLOTS: u32 = 256;

/// Findings of experiments on a drive, with derived figures.
pub(super) struct Outcome {
    pub(super) experiments: Experiments,
    pub(super) derived: Derived,
    pub(super) result: Result<(), LoadError>,
}

#[expect(clippy::unnecessary_wraps, reason = "the shape of an opener")]
pub(super) fn open(name: &str, slots: u32) -> Result<(Box<dyn Io>, Device), String> {
    Ok(in_a_world(Model::named(name).unwrap().device().unwrap(), slots))
}

fn in_a_world(device: ModelledDevice, slots: u32) -> (Box<dyn Io>, Device) {
    let mut world = ModelWorld::new(Host { slots: slots as usize, request_cpu: Host::REQUEST_CPU });
    let device = world.add(device);
    (Box::new(world), device)
}

pub(super) fn circumstances(name: &str) -> Circumstances {
    let (_, device) = open(name, 1).unwrap();
    Circumstances {
        area_bytes: device.shape.capacity_bytes,
        shape: device.shape,
        slots: SLOTS,
        is_modelled: true,
        is_whole_device: true,
        device_bytes: None,
        atomic_write: None,
    }
}

/// Runs one experiment on a modelled drive of the library.
pub(super) fn run(drive: &str, experiment: &str, budget: Nanos) -> Outcome {
    let selection = Selection {
        budget,
        write_limit_bytes: u64::MAX,
        only: vec![experiment.into()],
        reads_done: true,
        ..Selection::default()
    };
    run_with(drive, &selection, Experiments::default())
}

pub(super) fn run_with(drive: &str, selection: &Selection, experiments: Experiments) -> Outcome {
    run_in(&circumstances(drive), drive, selection, experiments)
}

pub(super) fn run_in(
    circumstances: &Circumstances,
    drive: &str,
    selection: &Selection,
    mut experiments: Experiments,
) -> Outcome {
    let plan = plan(circumstances, selection, &mut experiments).unwrap();
    let without_cache = Model::named(drive).unwrap().without_write_cache();
    let open_without_cache = |slots| {
        let model = without_cache.as_ref().ok_or("it has no cache")?;
        Ok(in_a_world(model.device().unwrap(), slots))
    };
    let env = ExperimentEnv {
        open: &|slots| {
            let mut device = Model::named(drive).unwrap().device().unwrap();
            device.shape = circumstances.shape.clone();
            Ok(in_a_world(device, slots))
        },
        open_without_cache: if without_cache.is_some() { Some(&open_without_cache) } else { None },
        drive_log: &|| None,
        host_files: None,
        circumstances: circumstances.clone(),
        read_pool_bytes: 0,
        patience: Nanos::from_secs(30),
        seed: 1,
        cancel: &Cancel::default(),
    };
    let result = conduct(&plan, &env, &mut experiments, &mut Unobserved, &mut |_| {});
    let mut derived = Derived::default();
    derive(&mut experiments, &mut derived);
    Outcome { experiments, derived, result }
}
