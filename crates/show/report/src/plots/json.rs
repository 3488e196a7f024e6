use serde_json::{Value, json};

use super::{Curve, Plot, View, XAxis};

impl Plot {
    /// Plot data for the page's script. Values have the unit of the axis and five digits.
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

/// Rounds to five significant digits. No figure has more, and the page is half as large.
fn round(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

/// Short form of a label: the letter of a device, or the whole label.
fn short(label: &str) -> &str {
    label.split_once(crate::device::AFTER_LETTER).map_or(label, |(letter, _)| letter)
}
