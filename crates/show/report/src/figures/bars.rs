/// Figures of unordered things, drawn as bars from zero with the numbers beside them.
pub(crate) struct Bars {
    /// Anchor on the page.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// What the data say, computed from them.
    pub(crate) finding: String,
    /// How to read it.
    pub(crate) note: String,
    /// What the bars are, with its unit.
    pub(crate) quantity: String,
    pub(crate) groups: Vec<Group>,
}

/// Bars that belong together.
pub(crate) struct Group {
    /// Empty where there is but one group.
    pub(crate) name: String,
    pub(crate) bars: Vec<Bar>,
}

/// One bar.
pub(crate) struct Bar {
    pub(crate) label: String,
    /// The length, from zero; in the same unit on all bars of its group.
    pub(crate) value: f64,
    /// The value with its unit and, where it has one, its interval.
    pub(crate) said: String,
    /// Which of the colours.
    pub(crate) kind: usize,
}

impl Group {
    /// The length that fills the room: a group has a scale of its own, so that a median isn't lost beside the longest of all.
    pub(crate) fn greatest(&self) -> f64 {
        let values = self.bars.iter().map(|bar| bar.value);
        values.filter(|value| value.is_finite()).fold(0.0, f64::max)
    }

    /// The only group of its figure.
    pub(crate) fn alone(bars: Vec<Bar>) -> Vec<Self> {
        vec![Self { name: String::new(), bars }]
    }
}
