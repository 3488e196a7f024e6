//! The findings as JSON.

use nandle_pages::salvage::{Finding, PageSet, PageState};
use serde_json::{Value, json};

use super::Examined;

pub(super) fn json(examined: &Examined<'_>) -> Value {
    let Examined { store, new, policy, pages, page_bytes, findings, report, .. } = examined;
    json!({
        "schema_version": 1,
        "store": store.display().to_string(),
        "new_store": new.map(|new| new.display().to_string()),
        "verdict": if report.is_sound() { "sound" } else { "damaged" },
        "policy": policy.name(),
        "pages": pages,
        "page_bytes": page_bytes,
        "closed": report.is_closed,
        "sound_pages": report.sound,
        "empty_pages": report.empty,
        "unchecked_pages": report.unchecked.len(),
        "lost_pages": report.lost.len(),
        "older_pages": report.older.len(),
        "doubtful_pages": report.doubtful.len(),
        "doubtful_older_pages_max": report.doubtful_max,
        "lost": ranges(&report.lost),
        "older": ranges(&report.older),
        "doubtful": ranges(&report.doubtful),
        "header": report.header.map(state),
        "header_lost": report.header_lost,
        "page_numbers_assumed": report.is_numbering_assumed,
        "findings": findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

fn finding(finding: &Finding) -> Value {
    json!({
        "structure": finding.structure.name(),
        "problem": finding.problem.name(),
        "severity": finding.severity.name(),
        "offset_bytes": finding.offset_bytes,
        "length_bytes": finding.length_bytes,
        "pages": ranges(&finding.pages),
        "header": finding.header,
    })
}

fn state(state: PageState) -> &'static str {
    match state {
        PageState::Sound => "sound",
        PageState::Unchecked => "unchecked",
        PageState::Older => "older",
        _ => "doubtful",
    }
}

/// First and last page of each range.
fn ranges(pages: &PageSet) -> Vec<Value> {
    pages.ranges().map(|range| json!({ "first_page": range.start, "last_page": range.end - 1 })).collect()
}
