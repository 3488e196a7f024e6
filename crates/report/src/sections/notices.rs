use maud::{Markup, html};

use super::Level;
use crate::device::Device;
use crate::text;

/// What a reader must know before the figures: why the profile is partial, what was given up, where system
/// and measurement disagree. Nothing at all when there is nothing of the kind.
pub(crate) fn notices(device: &Device, level: Level) -> Markup {
    let profile = device.profile;
    let errors = errors(profile.conditions.errors);
    let lists = [
        ("This profile is partial", "grave", profile.partial.as_slice()),
        ("Reads went wrong", "grave", errors.as_slice()),
        ("Wanted and not to be had", "plain", profile.backend.stepped_down.as_slice()),
        ("Remarks", "plain", profile.conditions.remarks.as_slice()),
    ];
    let shown: Vec<_> = lists.into_iter().filter(|(_, _, sentences)| !sentences.is_empty()).collect();
    if shown.is_empty() && profile.contradictions.is_empty() {
        return html! {};
    }
    html! {
        section.notices {
            (level.heading("Before you rely on it"))
            div.notice-list {
                (contradictions(device))
                @for (title, kind, sentences) in shown { (notice(title, kind, sentences)) }
            }
        }
    }
}

fn errors(errors: u64) -> Vec<String> {
    let sentence =
        || format!("{} failed or returned contents other than those written.", text::plural(errors, "read"));
    if errors == 0 { Vec::new() } else { vec![sentence()] }
}

fn notice(title: &str, kind: &str, sentences: &[String]) -> Markup {
    html! {
        div.notice.(kind) {
            p.notice-title { (title) }
            ul { @for sentence in sentences { li { bdi { (text::clean(sentence)) } } } }
        }
    }
}

fn contradictions(device: &Device) -> Markup {
    let all = &device.profile.contradictions;
    html! {
        @if !all.is_empty() {
            div.notice.grave {
                p.notice-title { "The measurement contradicts the system" }
                ul {
                    @for one in all {
                        li {
                            "The system says: " bdi { (text::clean(&one.stated)) } " Measured: "
                            bdi { (text::clean(&one.measured)) } " " strong { bdi { (text::clean(&one.advice)) } }
                        }
                    }
                }
            }
        }
    }
}
