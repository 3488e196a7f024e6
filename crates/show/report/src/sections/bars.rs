use maud::{Markup, html};

use crate::figures::{Bar, Bars, Group, Scale};
use crate::text;

/// Bars with their finding, as a table that needs no script and has a number for each length.
pub(super) fn bars(bars: &Bars) -> Markup {
    let note = if bars.groups.len() > 1 { ", each group with its own scale" } else { "" };
    drawn(bars, note, |group| Scale::Linear { greatest: group.greatest() })
}

/// Bars on one logarithmic scale.
pub(super) fn log_bars(bars: &Bars) -> Markup {
    let scale = bars.logarithmic();
    drawn(bars, ", on a logarithmic scale", |_| scale)
}

fn drawn(bars: &Bars, note: &str, scale_of: impl Fn(&Group) -> Scale) -> Markup {
    let heading = format!("{}-title", bars.id);
    html! {
        figure.plot.bar-figure id=(bars.id) aria-labelledby=(heading) {
            div {
                h3 id=(heading) { (bars.title) }
                p.finding { (text::bind(&bars.finding)) }
            }
            p.y-label { (bars.quantity) (note) }
            table.bars {
                @for group in &bars.groups {
                    @if !group.name.is_empty() { tr.group { th colspan="3" { (text::bind(&group.name)) } } }
                    @for bar in &group.bars { (row(bar, scale_of(group))) }
                }
            }
            figcaption { (text::bind(&bars.note)) }
        }
    }
}

fn row(bar: &Bar, scale: Scale) -> Markup {
    let share = scale.length_percent(bar.value);
    html! {
        tr {
            th scope="row" { bdi { (text::bind(&bar.label)) } }
            td.bar { span style=(format!("width: {share:.1}%; --ink: var(--kind-{})", bar.kind % 8)) {} }
            td { (text::bind(&bar.text)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Group;

    fn figure(groups: &[&[f64]]) -> Bars {
        let bar = |value| Bar { label: String::new(), value, text: String::new(), kind: 0 };
        let group =
            |values: &&[f64]| Group { name: "g".into(), bars: values.iter().copied().map(bar).collect() };
        Bars {
            id: "b",
            title: "",
            finding: String::new(),
            note: String::new(),
            quantity: String::new(),
            groups: groups.iter().map(group).collect(),
        }
    }

    fn widths(page: &Markup) -> Vec<&str> {
        page.0.split("width: ").skip(1).filter_map(|rest| rest.split(';').next()).collect()
    }

    #[test]
    fn each_group_has_its_own_scale_and_zero_has_no_length() {
        let page = bars(&figure(&[&[2.0, 1.0, 0.0], &[1e9]]));
        assert_eq!(widths(&page), ["100.0%", "50.0%", "0.0%", "100.0%"]);
    }

    #[test]
    fn groups_share_a_logarithmic_scale_and_zero_has_no_length() {
        let page = log_bars(&figure(&[&[2e3, 1e4, 0.0], &[1e7]]));
        assert_eq!(widths(&page), ["7.5%", "25.0%", "0.0%", "100.0%"]);
        assert_eq!(widths(&log_bars(&figure(&[&[0.0, 0.0]]))), ["0.0%", "0.0%"]);
        assert_eq!(widths(&log_bars(&figure(&[&[1000.0]]))), ["100.0%"]);
    }
}
