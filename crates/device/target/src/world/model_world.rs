use nandle_io::Nanos;
use nandle_model::library::Model;
use nandle_model::media::{Media, MediaWorld};
use nandle_model::world::{Host, ModelWorld};

use super::World;
use crate::Problem;
use crate::target::{Leaf, MediaSettings, ModelledLeaf};

/// Creates a world of modelled drives in their initial state. Drives that store contents have
/// media. Without any, the world has no storage for contents and is faster.
pub(super) fn world<'a>(
    slots: u32,
    request_cpu: Nanos,
    leaves: impl Iterator<Item = &'a Leaf>,
) -> Result<World, Problem> {
    let host = Host { slots: usize::try_from(slots).unwrap_or(usize::MAX), request_cpu };
    let drives: Vec<&ModelledLeaf> = leaves.filter_map(Leaf::model).collect();
    let mut timings = ModelWorld::new(host);
    let mut media = Vec::new();
    let mut devices = Vec::new();
    for (number, drive) in (0..).zip(drives) {
        let device = drive.model.device().map_err(Problem::model)?;
        let settings = drive.media.as_ref();
        let contents = settings.map(|settings| with_faults(device.media(), settings, number));
        let device = timings.add(device);
        media.extend(contents.map(|contents| (device.id, contents)));
        devices.push(device);
    }
    if media.is_empty() {
        return Ok((Box::new(timings), devices));
    }
    let mut world = MediaWorld::new(timings);
    for (device, contents) in media {
        let Ok(_) = world.attach(device, contents) else { unreachable!("the device was just added") };
    }
    Ok((Box::new(world), devices))
}

fn with_faults(media: Media, settings: &MediaSettings, number: u64) -> Media {
    match &settings.faults {
        Some(faults) => faults.on(media, number),
        None => media,
    }
}

/// Creates a world with one modelled drive, its write cache off, without contents.
pub(super) fn world_without_cache(slots: u32, request_cpu: Nanos, drive: &Model) -> Result<World, Problem> {
    let slots = usize::try_from(slots).unwrap_or(usize::MAX);
    let mut world = ModelWorld::new(Host { slots, request_cpu });
    let device = world.add(drive.device().map_err(Problem::model)?);
    Ok((Box::new(world), vec![device]))
}
