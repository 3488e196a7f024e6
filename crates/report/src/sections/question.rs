use maud::{Markup, html};

use super::{bars, heat, plot};
use crate::figures::{Figure, Question};
use crate::text;

/// A question with the figures that answer it. Nothing where nothing was measured.
pub(crate) fn question(question: &Question) -> Markup {
    html! {
        @if !question.is_empty() {
            section.question id=(question.id) {
                h2 { (question.title) }
                div.plots { @for shown in &question.figures { (figure(shown)) } }
                @if !question.remarks.is_empty() {
                    ul.remarks { @for remark in &question.remarks { li { (text::bind(remark)) } } }
                }
            }
        }
    }
}

fn figure(figure: &Figure) -> Markup {
    match figure {
        Figure::Plot(shown) => plot::plot(shown),
        Figure::Bars(shown) => bars::bars(shown),
        Figure::Heat(shown) => heat::heat(shown),
    }
}

/// Links to the sections: their anchors and their names.
pub(crate) fn contents<'a>(sections: impl IntoIterator<Item = (&'a str, &'a str)>) -> Markup {
    html! {
        nav.contents aria-label="Contents" {
            ul { @for (anchor, name) in sections { li { a href=(format!("#{anchor}")) { (name) } } } }
            noscript { p { "The plots need a script; without one, the figures of each are in its table." } }
        }
    }
}
