use maud::{Markup, html};

use crate::text;

/// Something that a reader may look for in vain, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    pub(crate) what: String,
    pub(crate) why: String,
}

/// All that is missing, a line each; nothing when nothing is.
pub(crate) fn not_measured(missing: &[Missing]) -> Markup {
    html! {
        @if !missing.is_empty() {
            section #not-measured {
                h2 { "Not measured" }
                (lines(missing))
            }
        }
    }
}

/// A line for each, of which those with the same reason share one.
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
        ul.not-drawn {
            @for why in reasons { li { strong { (with(why)) ":" } " " (text::bind(why)) } }
        }
    }
}
