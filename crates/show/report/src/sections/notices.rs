use std::collections::BTreeSet;

use maud::{Markup, html};
use nandle_profile::DeviceProfile;

use super::Level;
use crate::device::Device;
use crate::text;

/// Notices before the figures: reasons for a partial profile, errors, and contradictions between
/// system and measurement. Empty if there are none.
pub(crate) fn notices(device: &Device, level: Level) -> Markup {
    let profile = device.profile;
    let errors = errors(profile);
    let others: Vec<_> = profile.conditions.disturbed_by_others().into_iter().collect();
    let lists = [
        ("The disk was in use", others.as_slice()),
        ("This profile is partial", profile.partial.as_slice()),
        ("Reads failed", errors.as_slice()),
    ];
    let shown: Vec<_> = lists.into_iter().filter(|(_, sentences)| !sentences.is_empty()).collect();
    if shown.is_empty() && profile.contradictions.is_empty() {
        return html! {};
    }
    html! {
        section.notices {
            (level.heading("Before you rely on it"))
            div.notice-list {
                (contradictions(device))
                @for (title, sentences) in shown { (notice(title, "grave", sentences)) }
            }
        }
    }
}

/// Further notices: skipped measurements and remarks. Empty if there are none.
pub(super) fn remarks(device: &Device) -> Markup {
    let profile = device.profile;
    let lists = [
        ("Requested but unavailable", profile.backend.stepped_down.as_slice()),
        ("Remarks", profile.conditions.remarks.as_slice()),
    ];
    html! {
        div.notice-list {
            @for (title, sentences) in lists.into_iter().filter(|(_, sentences)| !sentences.is_empty()) {
                (notice(title, "plain", sentences))
            }
        }
    }
}

/// Number of failed reads, and the first error of each cell.
fn errors(profile: &DeviceProfile) -> Vec<String> {
    let errors = profile.conditions.errors;
    let total = format!("{} failed or returned wrong data.", text::plural(errors, "read"));
    let firsts: BTreeSet<_> = profile.cells.iter().filter_map(|cell| cell.cell.first_error.clone()).collect();
    (errors > 0).then_some(total).into_iter().chain(firsts).collect()
}

fn notice(title: &str, kind: &str, sentences: &[String]) -> Markup {
    html! {
        div.notice.(kind) {
            p.notice-title { (title) }
            ul { @for sentence in sentences { li { bdi { (text::bind(&text::clean(sentence))) } } } }
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
                            "The system reports: " bdi { (text::clean(&one.stated)) } ". Measured: "
                            bdi { (text::clean(&one.measured)) } ": " strong { bdi { (text::clean(&one.advice)) } }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up;

    #[test]
    fn errors_are_counted_and_each_kind_is_shown_once() {
        let mut profile = made_up::fast();
        assert_eq!(errors(&profile), [""; 0]);
        profile.conditions.errors = 3;
        for cell in &mut profile.cells[..2] {
            cell.cell.first_error = Some("reading 4KiB at 0: EIO".into());
        }
        assert_eq!(
            errors(&profile),
            ["3\u{a0}reads failed or returned wrong data.", "reading 4KiB at 0: EIO"]
        );
    }

    #[test]
    fn profile_without_problems_has_no_notices() {
        let mut profile = made_up::partial();
        (profile.partial, profile.conditions.errors) = (Vec::new(), 0);
        let of = |profile: &DeviceProfile| {
            notices(&Device { profile, index: 0, file: None }, Level::Two).into_string()
        };
        assert_eq!(of(&profile), "");
        profile.partial.push("The <device> vanished.".into());
        assert!(of(&profile).contains("The &lt;device&gt; vanished."));
    }
}
