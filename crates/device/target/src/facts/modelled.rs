//! What the parameters of a model say, as a system would say it of a drive.

use nandle_profile::{BlockQueue, Identity, MachineFacts, SystemFacts};

use crate::target::ModelledLeaf;

/// The queue that the model's host has, and no file system. The machine is the modelled one: what the program runs on
/// has no part in the figures.
pub(super) fn system_facts(leaf: &ModelledLeaf) -> SystemFacts {
    let queue = BlockQueue {
        rotational: Some(leaf.facts.rotational),
        logical_block_bytes: Some(leaf.facts.logical_block_bytes),
        split_bytes: leaf.facts.split_bytes,
        forced_unit_access: Some(true),
        ..BlockQueue::default()
    };
    let machine = MachineFacts {
        processor: Some("modelled".into()),
        processors: 1,
        kernel: "none: modelled".into(),
        ..MachineFacts::default()
    };
    SystemFacts {
        queue: Some(queue),
        direct_memory_alignment_bytes: Some(leaf.shape.memory_alignment_bytes),
        direct_offset_alignment_bytes: Some(leaf.shape.logical_block_bytes),
        machine,
        ..SystemFacts::default()
    }
}

/// The model's description and its capacity.
pub(super) fn identity(leaf: &ModelledLeaf) -> Identity {
    Identity {
        model: Some(format!("modelled {}", leaf.model.name())),
        capacity_bytes: Some(leaf.facts.capacity_bytes),
        ..Identity::default()
    }
}
