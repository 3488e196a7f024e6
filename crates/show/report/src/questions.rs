//! Pages with a few questions, each with its figures.

use maud::{Markup, html};

use crate::figures::{Figure, Question};
use crate::page::{Page, document};
use crate::sections;
use crate::text;

/// Heading of a page.
pub(crate) struct PageHeading {
    /// Kind of the page.
    pub(crate) kicker: &'static str,
    pub(crate) title: String,
    pub(crate) particulars: Vec<(&'static str, String)>,
    pub(crate) remarks: Vec<String>,
}

/// Question that figures alone answer.
pub(crate) fn question(id: &'static str, title: &'static str, figures: Vec<Figure>) -> Question {
    Question { id, title, figures, remarks: Vec::new(), missing: Vec::new() }
}

/// Renders the page as one document, without questions that have no figures.
pub(crate) fn page(head: &PageHeading, questions: Vec<Question>) -> String {
    let questions: Vec<_> = questions.into_iter().filter(|question| !question.is_empty()).collect();
    let anchors = questions.iter().map(|question| (question.id, question.title));
    let body = html! {
        header.masthead { (masthead(head)) }
        main #main {
            (sections::contents(anchors))
            @for question in &questions { (sections::question(question)) }
        }
    };
    let plots = questions.iter().flat_map(Question::plots).collect();
    let title = format!("{} – {}", text::clean(&head.title), head.kicker.to_lowercase());
    document(&Page { title, body, plots, islands: Vec::new() }).into_string()
}

fn masthead(head: &PageHeading) -> Markup {
    html! {
        p.kicker { (head.kicker) }
        h1 { bdi { (text::clean(&head.title)) } }
        dl.particulars {
            @for (term, value) in &head.particulars { div { dt { (term) } dd { bdi { (text::clean(value)) } } } }
        }
        @if !head.remarks.is_empty() {
            ul.remarks { @for remark in &head.remarks { li { (text::bind(&text::clean(remark))) } } }
        }
    }
}
