//! Parameters of a model in the form of system facts.

use nandle_profile::{BlockQueue, Identity, MachineFacts, SystemFacts};

use crate::target::ModelledLeaf;

/// Queue of the model's host, without a file system. The machine is the modelled one, since the
/// real machine doesn't affect the figures.
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

/// Identity with the model's description and capacity.
pub(super) fn identity(leaf: &ModelledLeaf) -> Identity {
    Identity {
        model: Some(format!("modelled {}", leaf.model.name())),
        capacity_bytes: Some(leaf.facts.capacity_bytes),
        ..Identity::default()
    }
}
