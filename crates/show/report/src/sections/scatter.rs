use std::fmt::Write as _;

use maud::{Markup, html};

use crate::figures::{Axis, Dots, Scatter};
use crate::text;

/// Size of the image on both axes, in its own units; the page stretches it.
const EXTENT: f64 = 1000.0;

/// Scatter plot with its finding. The image contains no text, so it can be stretched.
pub(super) fn scatter(scatter: &Scatter) -> Markup {
    let heading = format!("{}-title", scatter.id);
    let label = format!("Points: {}. {}", scatter.title, scatter.finding);
    html! {
        figure.plot.scatter-figure id=(scatter.id) aria-labelledby=(heading) {
            div {
                h3 id=(heading) { (scatter.title) }
                p.finding { (text::bind(&scatter.finding)) }
            }
            div {
                p.scatter-key {
                    @for dots in &scatter.dots {
                        span { span.swatch style=(ink(dots)) {} (text::bind(&dots.label)) }
                    }
                }
                p.y-label { (scatter.y.label) }
            }
            div.scatter {
                div.scatter-y { @for tick in scatter.y.ticks().rev() { span { (scatter.y.tick_text(tick)) } } }
                svg viewBox=(format!("0 0 {EXTENT} {EXTENT}")) preserveAspectRatio="none" role="img" aria-label=(label) {
                    path.grid d=(grid(&scatter.x, &scatter.y)) {}
                    @for mark in &scatter.marks { path.mark d=(format!("M{} 0V{EXTENT}", across(&scatter.x, *mark))) {} }
                    @for dots in &scatter.dots { path.dots style=(ink(dots)) d=(path(scatter, dots)) {} }
                }
                div.scatter-x { @for tick in scatter.x.ticks() { span { (scatter.x.tick_text(tick)) } } }
                div.scatter-name { (scatter.x.label) }
            }
            figcaption { (text::bind(&scatter.note)) }
        }
    }
}

fn ink(dots: &Dots) -> String {
    format!("--ink: var(--kind-{})", dots.kind % 8)
}

fn across(axis: &Axis, value: f64) -> f64 {
    (EXTENT * axis.place(value)).round()
}

fn grid(x: &Axis, y: &Axis) -> String {
    let lines =
        |steps: u32| (0..=steps).map(move |number| (EXTENT * f64::from(number) / f64::from(steps)).round());
    let mut path = String::new();
    for at in lines(x.steps()) {
        let _ = write!(path, "M{at} 0V{EXTENT}");
    }
    for at in lines(y.steps()) {
        let _ = write!(path, "M0 {at}H{EXTENT}");
    }
    path
}

/// Lines of length zero with round ends, which draw the points.
fn path(scatter: &Scatter, dots: &Dots) -> String {
    let mut path = String::new();
    for (x, y) in &dots.points {
        let _ = write!(path, "M{} {}h0", across(&scatter.x, *x), EXTENT - across(&scatter.y, *y));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_placed_by_value_with_the_origin_at_the_bottom() {
        let axis = || Axis::to("x".to_owned(), 10.0);
        let dots = Dots { label: "a".into(), kind: 9, points: vec![(0.0, 0.0), (5.0, 10.0)] };
        let shown = scatter(&Scatter {
            id: "s",
            title: "t".into(),
            finding: String::new(),
            note: String::new(),
            x: axis(),
            y: axis(),
            dots: vec![dots],
            marks: vec![2.5],
        });
        let page = shown.into_string();
        assert!(page.contains("d=\"M0 1000h0M500 0h0\"") && page.contains("var(--kind-1)"), "{page}");
        assert!(page.contains("d=\"M250 0V1000\""), "{page}");
    }
}
