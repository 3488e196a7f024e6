use maud::{Markup, html};

use super::fold::fold;
use super::not_measured::lines;
use super::{Level, bars, heat, plot, scatter};
use crate::figures::{Figure, Question};
use crate::text;

/// Question with its figures; empty if nothing was measured.
pub(crate) fn question(question: &Question) -> Markup {
    html! {
        @if !question.is_empty() {
            section.question id=(question.id) {
                h2 { (question.title) }
                (answers(question))
            }
        }
    }
}

/// Question folded behind its title.
pub(crate) fn folded_question(question: &Question) -> Markup {
    html! {
        @if !question.is_empty() {
            (fold(question.id, question.title, Level::Two, &html! { div.question { (answers(question)) } }))
        }
    }
}

fn answers(question: &Question) -> Markup {
    html! {
        @for alike in question.figures.chunk_by(is_alike) {
            div.plots { @for shown in alike { (figure(shown)) } }
        }
        @if !question.remarks.is_empty() {
            ul.remarks { @for remark in &question.remarks { li { (text::bind(remark)) } } }
        }
        @if !question.missing.is_empty() {
            p.not-measured { "Not measured:" }
            (lines(&question.missing))
        }
    }
}

/// Returns true if two figures can share a grid row. Plots are equally high; tables vary.
fn is_alike(one: &Figure, other: &Figure) -> bool {
    matches!(one, Figure::Plot(_)) == matches!(other, Figure::Plot(_))
}

fn figure(figure: &Figure) -> Markup {
    match figure {
        Figure::Plot(shown) => plot::plot(shown),
        Figure::Bars(shown) => bars::bars(shown),
        Figure::LogBars(shown) => bars::log_bars(shown),
        Figure::Heat(shown) => heat::heat(shown),
        Figure::Scatter(shown) => scatter::scatter(shown),
    }
}

/// Links to the sections by anchor and name.
pub(crate) fn contents<'a>(sections: impl IntoIterator<Item = (&'a str, &'a str)>) -> Markup {
    html! {
        nav.contents aria-label="Contents" {
            ul { @for (anchor, name) in sections { li { a href=(format!("#{anchor}")) { (name) } } } }
            (script_notice())
        }
    }
}

/// Note for browsers without a script.
pub(crate) fn script_notice() -> Markup {
    html! { noscript { p { "The plots need a script; the tables contain the same figures." } } }
}
