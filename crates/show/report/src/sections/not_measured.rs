use maud::{Markup, html};

use super::Level;
use super::fold::fold;
use crate::text;

/// Missing figure and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    pub(crate) what: String,
    pub(crate) why: String,
}

/// Table of missing figures; empty if there are none.
pub(crate) fn not_measured(missing: &[Missing]) -> Markup {
    html! {
        @if !missing.is_empty() {
            (fold("not-measured", "Not measured", Level::Two, &lines(missing)))
        }
    }
}

/// Rows of missing figures. Figures with the same reason share a row.
pub(super) fn lines(missing: &[Missing]) -> Markup {
    let mut reasons: Vec<&str> = Vec::new();
    for missing in missing {
        if !reasons.contains(&missing.why.as_str()) {
            reasons.push(&missing.why);
        }
    }
    let with = |why: &str| {
        let named = missing.iter().filter(|missing| missing.why == why).map(|missing| missing.what.clone());
        text::join(&named.collect::<Vec<_>>())
    };
    html! {
        table.not-drawn {
            thead { tr { th scope="col" { "What" } th scope="col" { "Why not" } } }
            tbody { @for why in reasons { tr { th scope="row" { (with(why)) } td { (text::bind(why)) } } } }
        }
    }
}
