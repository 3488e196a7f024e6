use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::{Value, json};

use crate::device::Device;
use crate::sections::{self, Level};
use crate::{ReportError, island, plots};

const STYLE: &str = include_str!("../assets/report.css");
const SCRIPT: &str = include_str!("../assets/report.js");
const UPLOT_LICENCE: &str = include_str!("../assets/uplot/LICENSE");
const UPLOT_STYLE: &str = include_str!("../assets/uplot/uPlot.min.css");
const UPLOT_SCRIPT: &str = include_str!("../assets/uplot/uPlot.iife.min.js");

/// Nothing may be loaded from anywhere: the browser itself then holds the page to its word.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

/// The whole document.
pub(crate) fn page(devices: &[Device]) -> Result<Markup, ReportError> {
    let plots = plots::all(devices);
    let drawn = plots.iter().filter(|plot| !plot.views.is_empty());
    let data = Value::from(drawn.map(plots::Plot::to_json).collect::<Vec<_>>());
    let profiles = devices.iter().map(island::profile).collect::<Result<Vec<_>, _>>()?;
    Ok(html! {
        (DOCTYPE)
        html lang="en" {
            (head(&title(devices)))
            body {
                a.skip href="#main" { "Skip to the findings" }
                (body(devices, &plots))
                (island::plots(&json!(data)))
                @for profile in &profiles { (profile) }
                script { (PreEscaped(UPLOT_SCRIPT)) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    })
}

fn title(devices: &[Device]) -> String {
    match devices {
        [device] => format!("{} – device profile", device.name()),
        _ => format!("{} devices compared – device profiles", devices.len()),
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

fn body(devices: &[Device], plots: &[plots::Plot]) -> Markup {
    html! {
        @if let [device] = devices { (one(device, plots)) } @else { (several(devices, plots)) }
        footer {
            p { "Made by nandle-report " (env!("CARGO_PKG_VERSION")) ". This file is complete in itself: it loads \
                 nothing and sends nothing." }
            // The licence asks to go wherever the library goes, and the library is in this page.
            details { summary { "Plots: uPlot, MIT licence" } p.licence { (UPLOT_LICENCE) } }
        }
    }
}

fn one(device: &Device, plots: &[plots::Plot]) -> Markup {
    html! {
        header.masthead { (sections::masthead(device)) }
        main #main {
            (sections::notices(device, Level::Two))
            (sections::key_figures(device))
            (sections::in_words(device, Level::Two))
            (sections::curves(plots))
            (sections::map(device, Level::Two))
            (sections::facts(device, Level::Two))
            (sections::cells(device, Level::Two))
            (sections::method(Level::Two))
        }
    }
}

fn several(devices: &[Device], plots: &[plots::Plot]) -> Markup {
    html! {
        header.masthead { (sections::masthead_of_several(devices)) }
        main #main {
            (sections::comparison(devices))
            (sections::curves(plots))
            @for device in devices {
                article.device {
                    (sections::device_heading(device))
                    (sections::notices(device, Level::Three))
                    (sections::in_words(device, Level::Three))
                    (sections::map(device, Level::Three))
                    (sections::facts(device, Level::Three))
                    (sections::cells(device, Level::Three))
                }
            }
            (sections::method(Level::Two))
        }
    }
}
