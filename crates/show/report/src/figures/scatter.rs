/// Scatter plot in a few colours, drawn as an image without the page's script.
pub(crate) struct Scatter {
    /// Anchor on the page.
    pub(crate) id: &'static str,
    pub(crate) title: String,
    /// Finding computed from the data.
    pub(crate) finding: String,
    /// Instruction for reading the figure.
    pub(crate) note: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Points by colour; later ones are drawn on top.
    pub(crate) dots: Vec<Dots>,
    /// Events on the x axis that the note explains, drawn as dashed vertical lines.
    pub(crate) marks: Vec<f64>,
}

/// Linear axis from zero, divided evenly.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    /// Quantity with its unit.
    pub(crate) label: String,
    step: f64,
    steps: u32,
}

/// Points of one colour.
pub(crate) struct Dots {
    pub(crate) label: String,
    /// Index of the colour.
    pub(crate) kind: usize,
    pub(crate) points: Vec<(f64, f64)>,
}

impl Axis {
    /// Greatest number of steps.
    const STEPS_MAX: f64 = 6.0;

    /// Axis with round steps that reaches at least `greatest`.
    pub(crate) fn to(label: String, greatest: f64) -> Self {
        let greatest = if greatest.is_finite() && greatest > 0.0 { greatest } else { 1.0 };
        let decade = 10_f64.powf((greatest / Self::STEPS_MAX).log10().floor());
        let round = [1.0, 2.0, 5.0, 10.0].map(|digit| digit * decade);
        let step = round.into_iter().find(|step| greatest / step <= Self::STEPS_MAX).unwrap_or(10.0 * decade);
        let steps = (1..10_u32).find(|steps| f64::from(*steps) * step >= greatest).unwrap_or(10);
        Self { label, step, steps }
    }

    pub(crate) fn steps(&self) -> u32 {
        self.steps
    }

    /// Evenly spaced numbers from zero to the end.
    pub(crate) fn ticks(&self) -> impl DoubleEndedIterator<Item = f64> {
        let step = self.step;
        (0..=self.steps).map(move |number| f64::from(number) * step)
    }

    /// Number of a tick, with the decimals that the steps need.
    pub(crate) fn tick_text(&self, tick: f64) -> String {
        let decimals = (0_usize..9).find(|decimals| {
            let shifted = self.step * 10_f64.powf(*decimals as f64);
            (shifted - shifted.round()).abs() < 1e-6
        });
        crate::text::grouped(&format!("{tick:.0$}", decimals.unwrap_or(9)))
    }

    /// Position of a value, 0 to 1.
    pub(crate) fn place(&self, value: f64) -> f64 {
        (value / (self.step * f64::from(self.steps))).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_few_round_steps() {
        let ticks = |greatest| Axis::to(String::new(), greatest).ticks().collect::<Vec<_>>();
        assert_eq!(ticks(206.0), [0.0, 50.0, 100.0, 150.0, 200.0, 250.0]);
        assert_eq!(ticks(6.0), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(ticks(0.0).len(), 6, "of nothing");
        let ticks = |greatest| {
            let axis = Axis::to(String::new(), greatest);
            axis.ticks().map(|tick| axis.tick_text(tick)).collect::<Vec<_>>()
        };
        assert_eq!(ticks(0.12), ["0.00", "0.02", "0.04", "0.06", "0.08", "0.10", "0.12"]);
        assert_eq!(ticks(3100.0), ["0", "1\u{202f}000", "2\u{202f}000", "3\u{202f}000", "4\u{202f}000"]);
        for exponent in -30..30 {
            let greatest = 1.7_f64.powi(exponent);
            let axis = Axis::to(String::new(), greatest);
            assert!((1..=6).contains(&axis.steps()), "{greatest}: {axis:?}");
            assert!(axis.place(greatest) <= 1.0 && axis.place(greatest) > 0.4, "{greatest}: {axis:?}");
        }
    }
}
