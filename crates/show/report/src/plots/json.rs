use serde_json::{Value, json};

use super::{Curve, Plot, View, XAxis};

impl Plot {
    /// What the page's script draws. Values are in the unit that the axis names, to five digits.
    pub(crate) fn to_json(&self) -> Value {
        let (divisor, unit) = self.scale();
        json!({
            "id": self.id,
            "x": {
                "kind": match self.x {
                    XAxis::BlockSize | XAxis::Size(_) => "size",
                    XAxis::Elapsed | XAxis::Seconds(_) => "time",
                    _ => "count",
                },
                "label": self.x.label(),
            },
            "y": { "label": self.y.name(), "unit": unit, "log": self.is_logarithmic() },
            "marks": self.marks,
            "chosen": self.chosen,
            "views": self.views.iter().map(|view| view.to_json(divisor)).collect::<Vec<_>>(),
        })
    }
}

impl View {
    fn to_json(&self, divisor: f64) -> Value {
        let curves: Vec<_> = self.curves.iter().map(|curve| curve.to_json(divisor)).collect();
        json!({ "name": self.name, "curves": curves })
    }
}

impl Curve {
    fn to_json(&self, divisor: f64) -> Value {
        let scaled = |value: f64| round(value / divisor);
        let measured = self.measured.iter().map(|point| {
            let (low, high) = point.bounds.unzip();
            json!([point.x, scaled(point.y), low.map(scaled), high.map(scaled)])
        });
        json!({
            "label": self.label,
            "short": short(&self.label),
            "colour": self.look.colour(),
            "marker": self.look.marker(),
            "dash": self.look.dash(),
            "shown": self.shown,
            "measured": measured.collect::<Vec<_>>(),
            "line": self.line.iter().map(|(x, y)| json!([x, scaled(*y)])).collect::<Vec<_>>(),
        })
    }
}

/// Five significant digits: more than any figure here has, and half the size of the page.
fn round(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

/// What is left of a label where there is no room: of a device its letter, of anything else all of it.
fn short(label: &str) -> &str {
    label.split_once(crate::device::AFTER_LETTER).map_or(label, |(letter, _)| letter)
}
