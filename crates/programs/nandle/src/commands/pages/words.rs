//! Findings as text: the verdict, then findings grouped by kind.

use std::collections::BTreeMap;

use nandle_pages::salvage::{Finding, PageSet, PageState, Problem, Severity, Structure};
use nandle_terminal::words::columns;
use nandle_units::{counted, format_bytes, thousands, wrapped};

use super::Examined;

/// Ranges and offsets shown per kind unless all are requested.
const RANGES_SHOWN: usize = 8;

/// Note on a store without a label.
const NUMBERS_ASSUMED: &str = "Page numbers rest on --pages: no mark of the store says how many pages it was made with. \
     If it was made with fewer and has grown, say so with --pages, or pages from there on have wrong numbers.";

pub(super) fn text(examined: &Examined<'_>) -> String {
    let mut lines = vec![verdict(examined), facts(examined)];
    lines.extend(copied(examined));
    lines.extend(examined.report.is_numbering_assumed.then(|| NUMBERS_ASSUMED.to_owned()));
    let findings = if examined.shows_all { each(&examined.findings) } else { grouped(&examined.findings) };
    if !findings.is_empty() {
        lines.push(String::new());
        lines.extend(findings);
    }
    let pages = pages(examined);
    if !pages.is_empty() {
        lines.push(String::new());
        lines.extend(pages);
    }
    if examined.new.is_none() && !examined.report.is_sound() {
        let store = nandle_units::quoted(&examined.store.display().to_string());
        lines.push(String::new());
        lines.push(format!("Save what is left: nandle pages salvage {store} -o NEW"));
    }
    let mut text = String::new();
    for line in lines {
        let is_kept = examined.shows_all || line.is_empty();
        let lines = if is_kept { vec![line] } else { wrapped(&line, "", columns(), str::to_owned) };
        text.extend(lines.into_iter().map(|line| line + "\n"));
    }
    text
}

fn verdict(examined: &Examined<'_>) -> String {
    let (store, report) = (examined.store.display(), &examined.report);
    match report.worst {
        None => format!("{store} is sound."),
        Some(Severity::Harmless) => {
            format!("{store} is sound. What was found is as a power cut leaves it, or in free space.")
        }
        Some(Severity::Redundant) => {
            format!("{store} is damaged, and no page is lost: other copies hold the same.")
        }
        Some(_) => format!("{store} is damaged: {}.", losses(examined).join(", ")),
    }
}

fn losses(examined: &Examined<'_>) -> Vec<String> {
    let report = &examined.report;
    let checks = examined.policy.promises().checks_pages;
    let unchecked = if checks { report.unchecked.len() } else { 0 };
    let doubtful = if report.doubtful.is_empty() { 0 } else { report.doubtful_max };
    let losses = [
        (report.lost.len(), "lost"),
        (report.older.len(), "older than the last commit"),
        (doubtful, "perhaps older than the last commit"),
        (unchecked, "that can't be checked"),
    ];
    let losses = losses.into_iter().filter(|(pages, _)| *pages > 0);
    let losses: Vec<String> =
        losses.map(|(pages, what)| format!("{} {what}", counted(pages, "page"))).collect();
    let header = match report.header {
        _ if report.header_lost => Some("the header lost"),
        Some(PageState::Older) => Some("the header older than the last commit"),
        Some(PageState::Doubtful) => Some("the header perhaps older than the last commit"),
        _ => None,
    };
    let losses: Vec<String> = losses.into_iter().chain(header.map(str::to_owned)).collect();
    if losses.is_empty() { vec!["what it lost concerns no page that was written".to_owned()] } else { losses }
}

fn facts(examined: &Examined<'_>) -> String {
    let Examined { policy, pages, page_bytes, report, .. } = examined;
    let closed = match report.is_closed {
        Some(true) => ", closed",
        Some(false) => ", not closed",
        None => "",
    };
    let mut held = vec![format!("{} sound", number(report.sound))];
    held.push(format!("{} empty", number(report.empty)));
    if !report.unchecked.is_empty() {
        held.push(format!("{} without a checksum", number(report.unchecked.len())));
    }
    let length = format_bytes(*page_bytes as u64);
    format!("{policy}, {} of {length}{closed}; {}.", counted(*pages, "page"), held.join(", "))
}

/// Contents of the new store.
fn copied(examined: &Examined<'_>) -> Option<String> {
    let (new, report) = (examined.new?.display(), &examined.report);
    let older = if examined.newest_only { 0 } else { report.older.len() };
    // Some unchecked pages may be empty.
    let copied = report.sound + report.unchecked.len() + older;
    let doubtful = match report.doubtful.len() {
        0 => String::new(),
        pages => format!(", and what is left of {} in doubt", counted(pages, "page")),
    };
    Some(format!("{new} holds {}{doubtful}.", counted(copied, "page")))
}

fn pages(examined: &Examined<'_>) -> Vec<String> {
    let report = &examined.report;
    let sets = [
        ("Lost", &report.lost),
        ("Older than the last commit", &report.older),
        ("Perhaps older than the last commit", &report.doubtful),
    ];
    let shown = sets.into_iter().filter(|(_, pages)| !pages.is_empty());
    shown.map(|(what, pages)| format!("{what}: {}", page_list(pages, examined.shows_all))).collect()
}

fn page_list(pages: &PageSet, shows_all: bool) -> String {
    let most = if shows_all { usize::MAX } else { RANGES_SHOWN };
    let named = pages.ranges().take(most).map(|range| match range.end - range.start {
        1 => range.start.to_string(),
        _ => format!("{}-{}", range.start, range.end - 1),
    });
    let named: Vec<String> = named.collect();
    let shown: u64 = pages.ranges().take(most).map(|range| range.end - range.start).sum();
    let word = if pages.len() == 1 { "page" } else { "pages" };
    match pages.len() - shown {
        0 => format!("{word} {}", named.join(", ")),
        more => format!("{word} {}, and {} more (--all lists them)", named.join(", "), number(more)),
    }
}

/// Pages of a finding, if any.
fn named_pages(before: &str, pages: &PageSet, shows_all: bool) -> String {
    if pages.is_empty() { String::new() } else { format!("{before}{}", page_list(pages, shows_all)) }
}

fn named_header(before: &str, has_header: bool) -> String {
    if has_header { format!("{before}the header") } else { String::new() }
}

fn each(findings: &[Finding]) -> Vec<String> {
    let line = |finding: &Finding| {
        let pages = named_pages(", ", &finding.pages, true) + &named_header(", ", finding.header);
        let (structure, problem) = (finding.structure.name(), finding.problem.name());
        let (at, length) = (finding.offset_bytes, format_bytes(finding.length_bytes));
        format!("{}: {structure} {problem} at byte {at} ({length}){pages}", finding.severity.name())
    };
    findings.iter().map(line).collect()
}

/// Findings of one kind.
#[derive(Default)]
struct Group {
    count: u64,
    pages: PageSet,
    has_header: bool,
    /// Offsets of the findings.
    offsets_bytes: Vec<u64>,
}

fn grouped(findings: &[Finding]) -> Vec<String> {
    let mut groups: BTreeMap<(std::cmp::Reverse<Severity>, Structure, Problem), Group> = BTreeMap::new();
    for finding in findings {
        let key = (std::cmp::Reverse(finding.severity), finding.structure, finding.problem);
        let group = groups.entry(key).or_default();
        group.count += 1;
        group.pages.extend(&finding.pages);
        group.has_header |= finding.header;
        group.offsets_bytes.push(finding.offset_bytes);
    }
    for group in groups.values_mut() {
        group.offsets_bytes.sort_unstable();
    }
    groups
        .into_iter()
        .map(|((severity, structure, problem), group)| line(severity.0, structure, problem, &group))
        .collect()
}

fn line(severity: Severity, structure: Structure, problem: Problem, group: &Group) -> String {
    let places = match group.offsets_bytes.as_slice() {
        [one] => format!("at byte {one}"),
        [first, .., last] => format!("{} times, bytes {first} to {last}", number(group.count)),
        [] => String::new(),
    };
    let pages = named_pages("; ", &group.pages, false) + &named_header("; ", group.has_header);
    format!("{}: {} {} {places}{pages}", severity.name(), structure.name(), problem.name())
}

fn number(number: u64) -> String {
    thousands(number as f64)
}
