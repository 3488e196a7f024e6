//! Verdict on a device, and its key figures.

mod figures;

use maud::{Markup, html};
use nandle_advise::verdict::{Change, Finding, Kind, Verdict};
use nandle_units::quoted;

use super::Level;
use crate::device::Device;
use crate::{island, text};

pub(crate) use figures::figures;

/// Kind of the device as measured, its strengths and risks, and settings to change.
pub(crate) fn verdict(verdict: &Verdict, device: &Device, level: Level) -> Markup {
    html! {
        section.verdict {
            (kind(&verdict.kind, level))
            div.findings {
                (findings("Strengths", "strengths", level, &verdict.strengths))
                (findings("Risks", "risks", level, &verdict.risks))
            }
            (changes(&verdict.changes, device, level))
        }
    }
}

fn kind(kind: &Kind, level: Level) -> Markup {
    html! {
        div.kind {
            (level.heading(&format!("As measured: {}", kind.name)))
            @for reason in &kind.reasons { p { (bound_units(reason)) } }
        }
    }
}

fn findings(title: &str, class: &str, level: Level, findings: &[Finding]) -> Markup {
    html! {
        div class=(class) {
            (level.below(title))
            @if findings.is_empty() { p.aside { "No measured figure is past its threshold." } }
            @else {
                ul {
                    @for finding in findings {
                        li {
                            strong { (finding.headline()) } " " (bound_units(&finding.says()))
                            @if let Some(threshold) = finding.threshold_note() {
                                " " span.threshold { "Threshold: " (bound_units(&threshold)) "." }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn changes(changes: &[Change], device: &Device, level: Level) -> Markup {
    html! {
        div.changes {
            (level.below("What to change"))
            @if changes.is_empty() {
                p.aside { "Nothing: all confident advice is already set, or is the default." }
            } @else {
                div.scroll tabindex="0" role="region" aria-label="What to change" {
                    table.change-table {
                        thead { tr { @for head in HEADS { th scope="col" { (head) } } } }
                        tbody { @for change in changes { (row(change)) } }
                    }
                }
            }
            (all_settings(device))
        }
    }
}

/// Command that prints all settings. If the profile's file is unknown, it names the file that the
/// page offers for download.
fn all_settings(device: &Device) -> Markup {
    let offered = island::file_name(device);
    let file = quoted(device.file.unwrap_or(&offered));
    html! {
        p.aside {
            @if device.file.is_some() { "All settings for one product: " }
            @else { "All settings for one product: Download this page's profile, then " }
            code { (text::clean(&format!("nandle advise {file} --for postgresql"))) }
            " (or mariadb, mysql, rocksdb, sqlite, seastar, linux)."
        }
    }
}

const HEADS: [&str; 5] = ["Setting", "Value", "Instead of", "Why", "Confidence"];

fn row(change: &Change) -> Markup {
    let setting = &change.setting;
    html! {
        tr {
            th scope="row" { (change.product) " " code { (text::clean(change.name())) } }
            td data-head="=" { code { (text::clean(&setting.value)) } }
            " " td data-head="–" { (text::clean(&change.instead_of().unwrap_or_default())) }
            td.why { (bound_units(&change.why())) }
            td data-head="Confidence:" { (setting.confidence.to_string()) }
        }
    }
}

/// Sentence of the verdict with each figure bound to its unit.
fn bound_units(sentence: &str) -> String {
    text::units(&text::bind(&text::clean(sentence)))
}
