use std::collections::BTreeSet;

use maud::{Markup, html};
use nandle_profile::Interval;

use crate::plots::{Curve, Line, Plot, Point, View};
use crate::text::{self, Quantity};

/// Plot with its finding above and its table below.
pub(super) fn plot(plot: &Plot) -> Markup {
    let heading = format!("{}-title", plot.id);
    html! {
        figure.plot id=(plot.id) aria-labelledby=(heading) {
            div {
                h3 id=(heading) { (plot.title) }
                p.finding { (text::bind(&plot.finding)) }
            }
            div { (chooser(plot)) div.legend role="group" aria-label="Curves shown" {} }
            (drawing(plot))
            div {
                figcaption { (key(plot)) " " (text::bind(&plot.note)) }
                @for (index, view) in plot.views.iter().enumerate() { (table(plot, view, index)) }
            }
        }
    }
}

/// Canvas of the script. Without a script, and for screen readers, the finding and the table
/// replace it.
fn drawing(plot: &Plot) -> Markup {
    let label = format!("Plot: {}. {} The figures are in the table below.", plot.title, plot.finding);
    let scale = if plot.is_logarithmic() { " (logarithmic)" } else { "" };
    html! {
        div {
            p.y-label { (plot.y.name()) ", " (plot.scale().1) (scale) }
            div.canvas tabindex="0" role="img" aria-label=(label) {}
        }
    }
}

fn chooser(plot: &Plot) -> Markup {
    let id = format!("{}-view", plot.id);
    html! {
        @if plot.views.len() > 1 {
            p.chooser {
                label for=(id) { (plot.choice) } " "
                select id=(id) {
                    @for (index, view) in plot.views.iter().enumerate() {
                        option value=(index) selected[index == plot.chosen] { (view.name) }
                    }
                }
            }
        }
    }
}

/// Legend of points, whiskers and lines, if the plot has them.
fn key(plot: &Plot) -> String {
    let mut curves = plot.views.iter().flat_map(|view| &view.curves);
    let whiskers = curves.clone().flat_map(|curve| &curve.measured).any(|point| point.bounds.is_some());
    let points = if whiskers { "Points: measured, with their interval." } else { "Points: measured." };
    let fitted = plot.line == Line::Fitted && curves.any(|curve| curve.line.len() > curve.measured.len());
    let lines = if fitted {
        "Lines: the fitted curve; without a fit they only join the points."
    } else {
        "Lines only join them."
    };
    format!("{points} {lines}")
}

fn table(plot: &Plot, view: &View, index: usize) -> Markup {
    let (divisor, unit) = plot.scale();
    let positions: BTreeSet<u64> =
        view.curves.iter().flat_map(|curve| &curve.line).map(|(x, _)| x.to_bits()).collect();
    html! {
        details.figures data-view=(index) hidden[index != plot.chosen] {
            summary { "Figures of this plot" @if plot.views.len() > 1 { ", " (view.name) } }
            div.scroll tabindex="0" role="region" aria-label=(format!("Figures: {}, {}", plot.title, view.name)) {
                table {
                    caption { span { (plot.y.name()) ", " (unit) @if has_fitted(view) { "; in \
                        italics: not measured" } } }
                    thead { tr {
                        th scope="col" { (plot.x.label()) }
                        @for curve in &view.curves { th scope="col" { bdi { (curve.label) } } }
                    } }
                    tbody {
                        // Positive floats have the same order as their bits.
                        @for x in positions.into_iter().map(f64::from_bits) {
                            tr {
                                th scope="row" { (plot.x.tick(x)) }
                                @for curve in &view.curves { (figure_cell(curve, x, divisor)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Bounds of a point in the table.
fn bounds(point: &Point, divisor: f64) -> Option<String> {
    let (low, high) = point.bounds?;
    text::bounds(&Interval { value: point.y, low, high }, |value| Quantity::bare(value / divisor))
}

fn has_fitted(view: &View) -> bool {
    view.curves.iter().any(|curve| curve.line.len() > curve.measured.len())
}

fn figure_cell(curve: &Curve, x: f64, divisor: f64) -> Markup {
    let number = |value: f64| text::significant(value / divisor, 3);
    let exact = |point: &&Point| point.x.total_cmp(&x).is_eq();
    let measured = curve.measured.iter().find(exact);
    let on_line = curve.line.iter().find(|(at, _)| at.total_cmp(&x).is_eq());
    html! {
        @match (measured, on_line) {
            (Some(point), _) => td {
                (number(point.y))
                @if let Some(bounds) = bounds(point, divisor) { span.bounds { " (" (bounds) ")" } }
            },
            (None, Some((_, y))) => td { em { (number(*y)) } },
            (None, None) => td.none { "–" },
        }
    }
}
