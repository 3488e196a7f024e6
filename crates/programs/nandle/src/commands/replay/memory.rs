//! What a policy takes of memory beside what its store is given, which a few lines of a trace can make any amount: it grows with
//! the pages that the trace's addresses span.

use nandle_pages::{CreateOptions, PageError};
use nandle_replay::{Candidate, Work};
use nandle_target::TargetKind;
use nandle_units::{counted, format_bytes};

use crate::error::CliError;

/// What goes into a modelled drive's tables beside what it keeps, as a part of that.
const TABLES_PART: u64 = 4;

/// Why there isn't enough memory for a store, if there isn't.
pub(super) fn lacks(
    create: &CreateOptions,
    work: &Work,
    kind: TargetKind,
    most_bytes: u64,
) -> Option<CliError> {
    let kept_bytes = if kind == TargetKind::Model { kept_by_model(create, work) } else { Ok(0) };
    let kept_bytes = match kept_bytes {
        Ok(bytes) => bytes,
        Err(error) => return Some(error.into()),
    };
    let needed_bytes = Candidate::index_bytes(create, work).saturating_add(kept_bytes);
    (needed_bytes > most_bytes).then(|| {
        CliError::usage(format!(
            "a store of {} takes {} of memory to know where they are{}, and there are {} for it; give a --limit, a larger --page, \
             or fewer --policies",
            counted(work.pages, "page"),
            format_bytes(needed_bytes),
            if kept_bytes > 0 { " and what the modelled drive keeps" } else { "" },
            format_bytes(most_bytes)
        ))
    })
}

/// What is written to a modelled drive stays in memory: the work's pages, and what the store keeps beside pages.
fn kept_by_model(create: &CreateOptions, work: &Work) -> Result<u64, PageError> {
    let device_bytes = create.device_bytes()?;
    let (pages, beside_bytes) = if create.policy.has_zones() {
        (work.all_page_writes().saturating_add(work.filled_pages()), 0)
    } else {
        debug_assert!(device_bytes >= work.needed_bytes(), "a store has room for its pages");
        (work.pages_held_max(), device_bytes - work.needed_bytes())
    };
    let written_bytes = pages.saturating_mul(create.page_bytes as u64).saturating_add(beside_bytes);
    let kept_bytes = written_bytes.min(device_bytes);
    Ok(kept_bytes.saturating_add(kept_bytes / TABLES_PART))
}
