use nandle_io::Nanos;
use nandle_model::world::{Host, ModelWorld};

use super::World;
use crate::Problem;
use crate::target::Leaf;

/// All modelled drives of a target in one world, each in its first state.
pub(super) fn world(slots: u32, request_cpu: Nanos, leaves: &[Leaf]) -> Result<World, Problem> {
    let slots = usize::try_from(slots).unwrap_or(usize::MAX);
    let mut world = ModelWorld::new(Host { slots, request_cpu });
    let mut devices = Vec::new();
    for leaf in leaves.iter().filter_map(Leaf::model) {
        devices.push(world.add(leaf.model.device().map_err(Problem::model)?));
    }
    Ok((Box::new(world), devices))
}
