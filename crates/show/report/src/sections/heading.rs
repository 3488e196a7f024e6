use maud::{Markup, html};

/// Heading level of a section: one level deeper if each of several devices has the section.
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

    /// Heading one level below.
    pub(crate) fn below(self, text: &str) -> Markup {
        match self {
            Self::Two => html! { h3 { (text) } },
            Self::Three => html! { h4 { (text) } },
        }
    }
}
