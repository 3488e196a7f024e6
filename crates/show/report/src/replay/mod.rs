//! Page of a replay: comparison of the policies.

mod amounts;
mod auto;
mod instances;
mod over_time;
mod speed;

use maud::{Markup, html};
use nandle_replay::{PolicyOutcome, ReplayFile, promises_in_words};

use crate::figures::Question;
use crate::page::{Page, document};
use crate::sections::{self, Missing};
use crate::text::{self, Quantity};

/// Renders the report on a replay as a self-contained HTML document.
pub fn replay_html(report: &ReplayFile) -> String {
    let questions = questions(report);
    let missing = missing(&report.policies);
    let anchors = questions.iter().map(|question| (question.id, question.title));
    let anchors = anchors.chain((!missing.is_empty()).then_some(("not-measured", "Not measured")));
    let body = html! {
        header.masthead { (masthead(report)) }
        main #main {
            @if let Some(decision) = decision(report) { (decision) }
            @if !report.remarks.is_empty() {
                ul.remarks { @for remark in &report.remarks { li { (text::clean(remark)) } } }
            }
            (sections::contents(anchors))
            @for question in &questions { (sections::question(question)) }
            (sections::not_measured(&missing))
        }
    };
    let plots = questions.iter().flat_map(Question::plots).collect();
    let title = format!("{} – replay", text::clean(&report.target));
    document(&Page { title, body, plots, islands: Vec::new() }).into_string()
}

fn questions(report: &ReplayFile) -> Vec<Question> {
    let policies = report.policies.as_slice();
    let question = |id, title, figures: Vec<Option<_>>| Question {
        id,
        title,
        figures: figures.into_iter().flatten().collect(),
        remarks: Vec::new(),
        missing: Vec::new(),
    };
    let mut all = vec![
        question(
            "speed",
            "Which policy is fastest?",
            vec![
                speed::times(policies),
                over_time::progress(policies),
                speed::latencies(policies),
                speed::syncs(policies),
            ],
        ),
        question(
            "amounts",
            "What does each write?",
            vec![
                amounts::device(policies),
                amounts::flash(policies),
                amounts::erased(policies),
                amounts::absorbed(policies),
            ],
        ),
        question("auto", "What did auto choose?", vec![auto::path_shares(policies)]),
        question(
            "decompositors",
            "What patterns did the staging area contain?",
            vec![instances::mix(policies), instances::lengths(policies), over_time::occupancy(policies)],
        ),
    ];
    if let Some(speed) = all.first_mut() {
        let promised = promises_in_words(policies);
        speed.remarks.extend((!promised.is_empty()).then_some(promised));
        speed.remarks.extend(report.caveats());
    }
    all.into_iter().filter(|question| !question.is_empty()).collect()
}

fn masthead(report: &ReplayFile) -> Markup {
    let verified = report.policies.iter().map(|policy| policy.verified_pages).min().unwrap_or(0);
    let checked = if verified > 0 {
        format!("{}: verified to contain the last write of each page", text::plural(verified, "page"))
    } else {
        "no page".to_owned()
    };
    let staging = report.policies.iter().map(|policy| policy.buffer_bytes).max().filter(|bytes| *bytes > 0);
    let mut rows = vec![
        ("Trace", text::clean(&report.trace)),
        ("Writes", report.amount()),
        ("Store", Quantity::size(report.pages.saturating_mul(report.page_bytes)).to_string()),
        ("Contents", report.contents()),
        ("Runs", report.repeats.map_or_else(|| "one per policy".to_owned(), runs)),
        ("Depth", report.queue_depth.to_string()),
        ("Durable", report.durable().to_owned()),
        ("Read back", checked),
    ];
    rows.extend(staging.map(|bytes| ("Staging area", Quantity::size(bytes).to_string())));
    html! {
        p.kicker { "Replay" }
        h1 { bdi { (text::clean(&report.target)) } }
        dl.particulars { @for (term, value) in rows { div { dt { (term) } dd { bdi { (value) } } } } }
    }
}

fn runs(repeats: u32) -> String {
    match repeats {
        ..=1 => "one per policy".to_owned(),
        _ => format!("{repeats} per policy, interleaved; the figures are those of the median run"),
    }
}

/// Recommended policy, shown before all figures.
fn decision(report: &ReplayFile) -> Option<Markup> {
    let words = report.decision_in_words()?;
    Some(html! {
        section.verdict {
            div.kind {
                h2 { "Which policy to use" }
                p { (words) }
            }
        }
    })
}

/// Figures that the replay lacks, with the reasons.
fn missing(policies: &[PolicyOutcome]) -> Vec<Missing> {
    let line = |what: &str, why: &str| Missing { what: what.to_owned(), why: why.to_owned() };
    let mut all = Vec::new();
    if policies.iter().all(|policy| policy.drive.is_none()) {
        all.push(line("Bytes at the flash", "the target doesn't report its counters."));
    }
    if policies.iter().all(|policy| policy.speedup_over_direct.is_none()) {
        all.push(line("Speed-up", "the policy direct did not run."));
    }
    if policies.iter().all(|policy| !instances::has_any(policy)) {
        all.push(line("Decompositors", "no policy destaged its pages by patterns."));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up;

    #[test]
    fn page_names_the_trace_and_its_settings() {
        let page = replay_html(&made_up::replay_file());
        for text in [
            "60 000 writes of 4KiB",
            "50 % of each page compress to nothing",
            "where the trace syncs",
            "A remark.",
            "direct waits for the drive after each page",
            "<h2>Which policy to use</h2>",
            "Use stable-buffer: ",
            "a page of 4KiB takes",
        ] {
            assert!(page.contains(text), "{text}");
        }
        assert!(!page.contains("<b>trace</b>"), "a trace's name is no markup");
    }
}
