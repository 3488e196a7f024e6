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
            p.y-label { (bars.quantity) @if bars.groups.len() > 1 { ", each group on a scale of its own" } }
            table.bars {
                @for group in &bars.groups {
                    @if !group.name.is_empty() { tr.group { th colspan="3" { (text::bind(&group.name)) } } }
                    @for bar in &group.bars { (row(bar, group.greatest())) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Group;

    #[test]
    fn a_group_has_a_scale_of_its_own_and_nothing_has_no_length() {
        let bar = |value| Bar { label: String::new(), value, said: String::new(), kind: 0 };
        let group =
            |values: &[f64]| Group { name: "g".into(), bars: values.iter().copied().map(bar).collect() };
        let figure = Bars {
            id: "b",
            title: "",
            finding: String::new(),
            note: String::new(),
            quantity: String::new(),
            groups: vec![group(&[2.0, 1.0, 0.0]), group(&[1e9])],
        };
        let page = bars(&figure).into_string();
        let widths: Vec<_> =
            page.split("width: ").skip(1).filter_map(|rest| rest.split(';').next()).collect();
        assert_eq!(widths, ["100.0%", "50.0%", "0.0%", "100.0%"]);
    }
}
