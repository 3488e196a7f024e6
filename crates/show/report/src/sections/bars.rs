use maud::{Markup, html};

use crate::figures::{Bar, Bars};
use crate::text;

/// Bars with their finding above them: a table, so that it needs no script and every length has its number.
pub(super) fn bars(bars: &Bars) -> Markup {
    let heading = format!("{}-title", bars.id);
    html! {
        figure.plot.bar-figure id=(bars.id) aria-labelledby=(heading) {
            div {
                h3 id=(heading) { (bars.title) }
                p.finding { (text::bind(&bars.finding)) }
            }
            p.y-label { (bars.quantity) }
            table.bars {
                @for group in &bars.groups {
                    @if !group.name.is_empty() { tr.group { th colspan="3" { (text::bind(&group.name)) } } }
                    @for bar in &group.bars { (row(bar, bars.greatest())) }
                }
            }
            figcaption { (text::bind(&bars.note)) }
        }
    }
}

fn row(bar: &Bar, greatest: f64) -> Markup {
    let share = if greatest > 0.0 { (100.0 * bar.value / greatest).clamp(0.0, 100.0) } else { 0.0 };
    html! {
        tr {
            th scope="row" { bdi { (text::bind(&bar.label)) } }
            td.bar { span style=(format!("width: {share:.1}%; --ink: var(--kind-{})", bar.kind % 8)) {} }
            td { (text::bind(&bar.said)) }
        }
    }
}
