use maud::{Markup, html};

use crate::figures::{Heat, HeatCell};
use crate::text;

/// Heat map with its finding, as a table. The colours repeat the numbers.
pub(super) fn heat(heat: &Heat) -> Markup {
    let heading = format!("{}-title", heat.id);
    let legend = heat.legend();
    html! {
        figure.plot.heat-figure id=(heat.id) aria-labelledby=(heading) {
            div {
                h3 id=(heading) { (heat.title) }
                p.finding { (text::bind(&heat.finding)) }
            }
            div {
                p.y-label { (heat.quantity) }
                @if !legend.is_empty() {
                    p.heat-legend {
                        "Colour, logarithmic:"
                        @for value in legend { span style=(share(heat, value)) { (text::significant(value, 2)) } }
                    }
                }
            }
            div.scroll tabindex="0" role="region" aria-label=(heat.title) {
                table.map {
                    thead { tr {
                        th scope="col" { (heat.corner) }
                        @for column in &heat.columns { th scope="col" { (column) } }
                    } }
                    tbody { @for row in &heat.rows { tr {
                        th scope="row" { (row.label) }
                        @for cell in &row.cells { (field(heat, cell.as_ref())) }
                    } } }
                }
            }
            figcaption { @if heat.has_missed() { (text::bind(&heat.missed)) " " } (text::bind(&heat.note)) }
        }
    }
}

fn share(heat: &Heat, value: f64) -> String {
    format!("--share: {:.0}%", heat.ink(value))
}

fn field(heat: &Heat, cell: Option<&HeatCell>) -> Markup {
    html! {
        @match cell {
            None => td.none { "–" },
            Some(cell) => td.missed[cell.missed] style=(share(heat, cell.value)) title=(cell.title) {
                @if cell.missed { s { (cell.text) } } @else { (cell.text) }
            },
        }
    }
}
