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
                ul.not-drawn {
                    @for missing in missing { li { strong { (missing.what) ":" } " " (text::bind(&missing.why)) } }
                }
            }
        }
    }
}
