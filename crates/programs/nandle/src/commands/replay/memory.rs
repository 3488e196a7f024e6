//! Memory that a policy takes beyond its store's allowance. It grows with the pages spanned by the
//! trace's addresses, so that a few lines can require any amount.

use nandle_pages::{CreateOptions, PageError};
use nandle_replay::{Candidate, Work};
use nandle_target::TargetKind;
use nandle_units::{counted, format_bytes};

use crate::error::CliError;

/// A modelled drive's tables take one part in `TABLES_PART` of its contents.
const TABLES_PART: u64 = 4;

/// Reason why a store lacks memory, if it does.
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

/// Bytes that a modelled drive holds in memory: the pages written, and the store's own data.
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
