use maud::{Markup, html};

/// How deep a section stands: one step deeper where several devices have a section each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Two,
    Three,
}

impl Level {
    pub(crate) fn heading(self, text: &str) -> Markup {
        match self {
            Self::Two => html! { h2 { (text) } },
            Self::Three => html! { h3 { (text) } },
        }
    }

    /// A heading one step below.
    pub(crate) fn below(self, text: &str) -> Markup {
        match self {
            Self::Two => html! { h3 { (text) } },
            Self::Three => html! { h4 { (text) } },
        }
    }
}
