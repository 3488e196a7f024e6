//! Remarks on a replay's figures, each a sentence.

use nandle_replay::{PolicyOutcome, Work};
use nandle_session::Progress as _;
use nandle_terminal::progress::Bar;
use nandle_terminal::words::{counted, thousands};
use nandle_units::format_bytes;

use super::args::PAGES_BYTES;
use super::costs::Known;
use super::stores::StoreFactory;
use crate::commands::advise::Warning;
use crate::commands::trace::{Fit, remark};

/// Remarks on target and profile. Warnings are printed at once, so that the user can stop here.
pub(super) fn before_reading(factory: &StoreFactory, known: &Known, progress: &Bar) -> Vec<String> {
    let mut remarks: Vec<_> = factory.remark().into_iter().collect();
    remarks.extend(known.remarks.iter().cloned());
    let warning = known.profile.as_ref().and_then(|profile| factory.warning_of_another(profile));
    if let Some(Warning::Other(text) | Warning::Unknown(text)) = warning {
        progress.remark(&text);
        remarks.push(text);
    }
    remarks
}

/// Remarks on the trace.
pub(super) fn before_starting(work: &Work, bad_lines: u64, progress: &Bar) -> Vec<String> {
    let (fit, passed_over) = (&work.fit, work.passed_over);
    let fit = Fit {
        page_bytes: fit.page_bytes(),
        writes: fit.writes(),
        unaligned: fit.unaligned(),
        usual_bytes: fit.usual_bytes(),
    };
    let mut remarks: Vec<_> = remark(fit, &PAGES_BYTES).into_iter().collect();
    for remark in &remarks {
        progress.remark(&format!("note: {remark}"));
    }
    remarks.extend(compaction(work));
    remarks.extend((work.filled_pages() > 0).then(|| {
        format!(
            "Before the trace began {} of {} were written in each store, which is part of no figure.",
            counted(work.filled_pages(), "page"),
            thousands(work.pages as f64)
        )
    }));
    remarks.extend(
        work.wrapped.then(|| "Addresses beyond the target's end were folded back into it.".to_owned()),
    );
    remarks.extend((passed_over > 0).then(|| {
        format!(
            "Only writes are replayed, not the trace's {}: nandle trace play has both.",
            counted(passed_over, "read")
        )
    }));
    remarks.extend(
        (bad_lines > 0).then(|| format!("{} of the trace passed over.", counted(bad_lines, "damaged line"))),
    );
    remarks
}

/// Remark on how addresses were compacted.
fn compaction(work: &Work) -> Option<String> {
    let compacted = work.compacted.filter(|compacted| compacted.left_out_bytes > 0)?;
    let areas = counted(compacted.areas, "area");
    Some(format!(
        "Addresses are compacted: the {areas} of {} that are written to lie side by side, and {} before and between them \
         are left out (--addresses keep leaves them where they are).",
        format_bytes(compacted.area_bytes),
        format_bytes(compacted.left_out_bytes)
    ))
}

/// Policies with batches shorter than some writes.
pub(super) fn of_splits(policies: &[PolicyOutcome]) -> Option<String> {
    let split = policies.iter().filter(|policy| policy.split_writes > 0);
    let split = split.map(|policy| {
        let writes = counted(policy.split_writes, "write");
        format!("{} {writes} of more than {} pages", policy.policy, policy.batch_pages_max)
    });
    let split: Vec<_> = split.collect();
    (!split.is_empty()).then(|| {
        format!(
            "Split into several batches, of which a power cut may leave some: with {}. A larger --buffer takes longer ones.",
            split.join(", with ")
        )
    })
}
