//! Remarks on traces whose writes don't fit the page length.

use std::ops::RangeInclusive;

use nandle_terminal::words::{counted, thousands};
use nandle_units::format_bytes;

/// Alignment of a trace's writes to pages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fit {
    /// Bytes of a page.
    pub(crate) page_bytes: u64,
    pub(crate) writes: u64,
    /// Writes that don't begin and end at a page boundary.
    pub(crate) unaligned: u64,
    /// Most common length of writes.
    pub(crate) usual_bytes: Option<u64>,
}

/// Suggests another `--page` from `pages_bytes` if the user likely meant it.
pub(crate) fn remark(fit: Fit, pages_bytes: &RangeInclusive<u64>) -> Option<String> {
    let page = format_bytes(fit.page_bytes);
    let other = fit.usual_bytes.filter(|usual| *usual != fit.page_bytes && pages_bytes.contains(usual));
    let usual = other.map(format_bytes);
    if fit.unaligned > 0 {
        let which = match (fit.unaligned, fit.writes) {
            (1, 1) => "The only write begins or ends".to_owned(),
            (all, writes) if all == writes => format!("All {} begin or end", counted(writes, "write")),
            (1, writes) => format!("Of {}, 1 begins or ends", counted(writes, "write")),
            (some, writes) => {
                format!("Of {}, {} begin or end", counted(writes, "write"), thousands(some as f64))
            }
        };
        let how =
            format!("{which} between two borders of pages of {page}, and whole pages are written for that.");
        let mend = usual.map(|usual| format!(" Most are of {usual}: --page {usual} takes them as they are."));
        return Some(how + &mend.unwrap_or_default());
    }
    let (usual, pages) = (usual?, other? / fit.page_bytes);
    (pages > 1).then(|| {
        format!(
            "Most writes are of {usual}, and each is {pages} pages of {page}: --page {usual} takes them as they are."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_said_with_what_would() {
        let said = |page_bytes, unaligned, usual_bytes| {
            remark(Fit { page_bytes, writes: 5000, unaligned, usual_bytes }, &(4096..=65_536))
                .unwrap_or_default()
        };
        let text = said(16_384, 5000, Some(4096));
        assert!(text.contains("All 5 000 writes begin or end") && text.contains("--page 4KiB"), "{text}");
        let text = said(4096, 0, Some(8192));
        assert!(text.contains("2 pages of 4KiB") && text.contains("--page 8KiB"), "{text}");
        for nothing in [said(4096, 0, Some(4096)), said(4096, 0, None), said(4096, 0, Some(1 << 20))] {
            assert_eq!(nothing, "");
        }
        let text = said(4096, 7, Some(512));
        assert!(
            text.starts_with("Of 5 000 writes, 7 begin") && !text.contains("--page"),
            "a store has no such pages: {text}"
        );
    }
}
