use nandle_io::{Device, Nanos};
use nandle_model::library::Model;
use nandle_model::media::MediaWorld;
use nandle_model::world::{Host, ModelWorld};

use super::World;
use crate::Problem;
use crate::target::{Leaf, ModelledLeaf};

/// All modelled drives of a target in one world, each in its first state. Where none keeps contents the world has no
/// place for them, and is faster.
pub(super) fn world(slots: u32, request_cpu: Nanos, leaves: &[Leaf]) -> Result<World, Problem> {
    let host = Host { slots: usize::try_from(slots).unwrap_or(usize::MAX), request_cpu };
    let drives: Vec<&ModelledLeaf> = leaves.iter().filter_map(Leaf::model).collect();
    if drives.iter().any(|drive| drive.media.is_some()) {
        let mut world = MediaWorld::modelled(host);
        let devices = (0..).zip(drives).map(|(number, drive)| with_media(&mut world, drive, number));
        let devices = devices.collect::<Result<_, _>>()?;
        return Ok((Box::new(world), devices));
    }
    let mut world = ModelWorld::new(host);
    let add = |drive: &ModelledLeaf| Ok(world.add(drive.model.device().map_err(Problem::model)?));
    let devices = drives.into_iter().map(add).collect::<Result<_, _>>()?;
    Ok((Box::new(world), devices))
}

/// One modelled drive with its write cache off, without contents.
pub(super) fn world_without_cache(slots: u32, request_cpu: Nanos, drive: &Model) -> Result<World, Problem> {
    let slots = usize::try_from(slots).unwrap_or(usize::MAX);
    let mut world = ModelWorld::new(Host { slots, request_cpu });
    let device = world.add(drive.device().map_err(Problem::model)?);
    Ok((Box::new(world), vec![device]))
}

fn with_media(
    world: &mut MediaWorld<ModelWorld>,
    drive: &ModelledLeaf,
    number: u64,
) -> Result<Device, Problem> {
    let device = drive.model.device().map_err(Problem::model)?;
    let media = device.media();
    let faults = drive.media.as_ref().and_then(|settings| settings.faults.as_ref());
    let media = match faults {
        Some(faults) => faults.on(media, number),
        None => media,
    };
    Ok(world.add(device, media).0)
}
