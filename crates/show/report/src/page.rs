use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;

use crate::island;
use crate::plots::Plot;

const STYLE: &str = include_str!("../assets/report.css");
const SCRIPT: &str = include_str!("../assets/report.js");
const UPLOT_LICENCE: &str = include_str!("../assets/uplot/LICENSE");
const UPLOT_STYLE: &str = include_str!("../assets/uplot/uPlot.min.css");
const UPLOT_SCRIPT: &str = include_str!("../assets/uplot/uPlot.iife.min.js");

/// Content security policy: the browser blocks every external request.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// Content of a page.
pub(crate) struct Page<'a> {
    pub(crate) title: String,
    /// Heading and main part.
    pub(crate) body: Markup,
    /// Plots that the script draws.
    pub(crate) plots: Vec<&'a Plot>,
    /// Data for download from the page.
    pub(crate) islands: Vec<Markup>,
}

/// Renders the whole document.
pub(crate) fn document(page: &Page) -> Markup {
    let data = Value::from(page.plots.iter().map(|plot| plot.to_json()).collect::<Vec<_>>());
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(&page.title))
            body {
                a.skip href="#main" { "Skip to the findings" }
                (page.body)
                (footer())
                (island::plots(&data))
                @for island in &page.islands { (island) }
                script { (PreEscaped(UPLOT_SCRIPT)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(POLICY);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="generator" content=(concat!("nandle-report ", env!("CARGO_PKG_VERSION")));
            link rel="icon" href="data:,";
            title { (title) }
            style { (PreEscaped(UPLOT_STYLE)) }
            style { (PreEscaped(STYLE)) }
        }
    }
}

fn footer() -> Markup {
    html! {
        footer {
            p { "Made by nandle-report " (env!("CARGO_PKG_VERSION")) ". This file is \
                self-contained: it loads and sends nothing." }
            // The licence must accompany the library, which is part of the page.
            details { summary { "Plots: uPlot, MIT licence" } p.licence { (UPLOT_LICENCE) } }
        }
    }
}
