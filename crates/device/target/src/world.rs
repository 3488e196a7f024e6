//! Worlds of a target's devices.

mod model_world;

use std::sync::Arc;

use nandle_io::{Access, Arrays, Device, DeviceFile, Io, SetupError, Threads, Uring};
use nandle_model::library::Model;

use crate::{Problem, Target, TargetError, arrays};

/// Choice of the I/O interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IoChoice {
    /// `io_uring`, or threads if it is unavailable; the record of the backend shows which.
    #[default]
    Auto,
    /// `io_uring`, or an error.
    Uring,
    /// Blocking system calls in threads.
    Threads,
}

/// World with the target's device.
pub struct OpenedIo {
    /// The world, which stays with the thread that created it.
    pub io: Box<dyn Io>,
    /// The target's device. Its capacity is the target's area; requests beyond it are refused.
    pub device: Device,
}

impl OpenedIo {
    /// I/O interface, for the record of a measurement.
    pub fn backend(&self) -> nandle_profile::Backend {
        backend(self.io.as_ref(), &self.device)
    }
}

/// I/O interface of a device in a world, for the record of a measurement. Take it after registering
/// memory, which is part of the record.
pub fn backend(io: &dyn Io, device: &Device) -> nandle_profile::Backend {
    let nandle_io::Backend { name, features, mut stepped_down } = io.backend();
    let direct = match &device.shape.access {
        Access::Direct => true,
        Access::Buffered { reason } => {
            stepped_down.push(format!("no direct I/O: {reason}"));
            false
        }
    };
    nandle_profile::Backend { io: name.into(), features, stepped_down, direct }
}

impl std::fmt::Debug for OpenedIo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenedIo").field("backend", &self.io.backend()).field("device", &self.device).finish()
    }
}

impl Target {
    /// Creates a new world with `slots` request slots and the target. Each submitting thread calls
    /// this itself. Each world of a modelled target has its own devices in their initial state.
    ///
    /// # Errors
    /// `io_uring` was requested but is unavailable.
    pub fn io(&self, slots: u32) -> Result<OpenedIo, TargetError> {
        self.world(slots).map_err(|problem| problem.on(&self.spec))
    }

    /// Returns true if [`Target::io_without_cache`] is supported: for a modelled drive with a write
    /// cache.
    pub fn has_switchable_cache(&self) -> bool {
        self.without_cache().is_some()
    }

    /// Creates a world with the modelled drive and its write cache off, so that every write waits
    /// for the medium.
    ///
    /// # Errors
    /// It isn't a modelled drive with a write cache.
    pub fn io_without_cache(&self, slots: u32) -> Result<OpenedIo, TargetError> {
        let drive =
            self.without_cache().ok_or(Problem::NoCacheToSwitch).map_err(|problem| problem.on(&self.spec))?;
        let world = model_world::world_without_cache(slots, self.options.model_request_cpu(), &drive);
        let (io, mut devices) = world.map_err(|problem| problem.on(&self.spec))?;
        let device =
            devices.pop().ok_or(Problem::NotJoined { count: 0 }).map_err(|problem| problem.on(&self.spec))?;
        Ok(OpenedIo { io, device })
    }

    fn without_cache(&self) -> Option<Model> {
        match self.leaves.as_slice() {
            [leaf] if self.array().is_none() => leaf.model()?.model.without_write_cache(),
            _ => None,
        }
    }

    fn world(&self, slots: u32) -> Result<OpenedIo, Problem> {
        let (io, devices) = world_of(&[self], slots)?;
        let [device] = <[Device; 1]>::try_from(devices)
            .map_err(|several| Problem::NotJoined { count: several.len() })?;
        Ok(OpenedIo { io, device })
    }

    /// Creates a new world with `slots` request slots and one device per target, in order. The
    /// targets must be all modelled or all real, since a world has one clock. The first target
    /// determines the I/O interface.
    ///
    /// # Errors
    /// The targets are mixed, or `io_uring` was requested but is unavailable.
    pub fn io_of_several(targets: &[&Self], slots: u32) -> Result<(Box<dyn Io>, Vec<Device>), TargetError> {
        let Some(first) = targets.first() else { return Ok((Box::new(Threads::new(slots)), Vec::new())) };
        if let Some(other) = targets.iter().find(|target| target.is_modelled() != first.is_modelled()) {
            return Err(Problem::TwoClocks { other: first.spec.to_string() }.on(&other.spec));
        }
        world_of(targets, slots).map_err(|problem| problem.on(&first.spec))
    }
}

type World = (Box<dyn Io>, Vec<Device>);

/// Creates a world with one device per target, and joins the members of arrays.
fn world_of(targets: &[&Target], slots: u32) -> Result<World, Problem> {
    let arrays: Vec<_> = targets.iter().filter_map(|target| target.array()).collect();
    let leaf_slots = arrays.iter().map(|array| arrays::member_slots(array, slots)).max().unwrap_or(slots);
    let (io, leaves) = leaves_world(targets, leaf_slots)?;
    if arrays.is_empty() {
        return Ok((io, leaves));
    }
    let mut joined = Arrays::with_slots(io, usize::try_from(slots).unwrap_or(usize::MAX));
    let mut leaves = leaves.into_iter();
    let mut devices = Vec::new();
    for target in targets {
        let members: Vec<_> = leaves.by_ref().take(target.leaves.len()).collect();
        match target.array() {
            Some(array) => devices.push(arrays::join(array, &mut joined, &members)?),
            None => devices.extend(members),
        }
    }
    Ok((Box::new(joined), devices))
}

/// Creates a world with one device per leaf.
fn leaves_world(targets: &[&Target], slots: u32) -> Result<World, Problem> {
    let files = || targets.iter().flat_map(|target| target.files().cloned()).collect::<Vec<_>>();
    let options = targets.first().map(|target| target.options.clone()).unwrap_or_default();
    Ok(match options.io {
        _ if targets.iter().any(|target| target.is_modelled()) => {
            let leaves = targets.iter().flat_map(|target| &target.leaves);
            model_world::world(slots, options.model_request_cpu(), leaves)?
        }
        IoChoice::Threads => threads(Threads::new(slots), files()),
        IoChoice::Uring => uring(slots, files()).map_err(|(source, _)| Problem::NoRing { source })?,
        IoChoice::Auto => uring(slots, files())
            .unwrap_or_else(|(reason, files)| threads(Threads::in_place_of(&reason, slots), files)),
    })
}

/// Returns the files if there is no ring.
fn uring(slots: u32, files: Vec<Arc<DeviceFile>>) -> Result<World, (SetupError, Vec<Arc<DeviceFile>>)> {
    match Uring::new(slots) {
        Ok(mut io) => {
            let devices = files.into_iter().map(|file| io.add(file)).collect();
            Ok((Box::new(io), devices))
        }
        Err(error) => Err((error, files)),
    }
}

fn threads(mut io: Threads, files: Vec<Arc<DeviceFile>>) -> World {
    let devices = files.into_iter().map(|file| io.add(file)).collect();
    (Box::new(io), devices)
}
