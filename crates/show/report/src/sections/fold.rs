use maud::{Markup, html};

use super::Level;
use crate::device::Device;

/// Folded section. It opens by mouse, by keyboard, by a link to its anchor, or for printing; only
/// the last two need the page's script.
pub(crate) fn fold(anchor: &str, title: &str, level: Level, body: &Markup) -> Markup {
    html! {
        section.fold id=(anchor) {
            details {
                summary { (level.heading(title)) }
                div.folded { (body) }
            }
        }
    }
}

/// Anchor of a section that each device on the page has.
pub(super) fn anchor_of(section: &str, device: &Device, level: Level) -> String {
    match level {
        Level::Two => section.to_owned(),
        Level::Three => format!("{section}-{}", device.letter().to_lowercase()),
    }
}
