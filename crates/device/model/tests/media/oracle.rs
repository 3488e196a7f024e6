//! Possible outcomes of a power cut, computed directly and slowly from the definition.

use nandle_io::Durability;

/// An event, and the number of recorded events after it.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) position: u64,
    pub(crate) what: What,
}

#[derive(Debug, Clone)]
pub(crate) enum What {
    /// Blocks from `first` on receive these numbers.
    Begun {
        write: usize,
        first: u64,
        numbers: Vec<u64>,
        durability: Durability,
    },
    Completed {
        write: usize,
    },
    FlushBegun {
        flush: usize,
    },
    FlushCompleted {
        flush: usize,
        succeeded: bool,
    },
}

/// Write of one block before a cut.
#[derive(Debug, Clone, Copy)]
struct Known {
    number: u64,
    /// Step of its completion.
    completed: Option<usize>,
    covered: bool,
}

/// Durable number of a block at a cut, and the numbers of its volatile writes.
pub(crate) fn allowed(steps: &[Step], cut: u64, block: u64) -> (u64, Vec<u64>) {
    let steps = &steps[..steps.partition_point(|step| step.position <= cut)];
    let known: Vec<Known> = steps.iter().filter_map(|step| known(steps, &step.what, block)).collect();
    let durable = known.iter().filter(|write| write.covered).max_by_key(|write| write.completed);
    let since = durable.and_then(|write| write.completed);
    let volatile = known.iter().filter(|write| write.completed.is_none() || write.completed > since);
    (durable.map_or(0, |write| write.number), volatile.map(|write| write.number).collect())
}

fn known(steps: &[Step], what: &What, block: u64) -> Option<Known> {
    let What::Begun { write, first, numbers, durability } = what else { return None };
    let number = *numbers.get(usize::try_from(block.checked_sub(*first)?).unwrap())?;
    let completed = steps
        .iter()
        .position(|step| matches!(&step.what, What::Completed { write: completed } if completed == write));
    let flushed = completed.is_some_and(|completed| is_flushed(steps, completed));
    let covered = flushed || (completed.is_some() && *durability == Durability::Durable);
    Some(Known { number, completed, covered })
}

/// Returns true if the first flush to complete, among those begun after the write's completion,
/// succeeded.
fn is_flushed(steps: &[Step], completed: usize) -> bool {
    let began_after = |flush: usize| {
        let begun = |step: &Step| matches!(step.what, What::FlushBegun { flush: begun } if begun == flush);
        steps.iter().position(begun).unwrap() > completed
    };
    steps
        .iter()
        .find_map(|step| match step.what {
            What::FlushCompleted { flush, succeeded } if began_after(flush) => Some(succeeded),
            _ => None,
        })
        .unwrap_or(false)
}
