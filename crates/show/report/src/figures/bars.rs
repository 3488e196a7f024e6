/// Figures of unordered things, drawn as bars with the numbers beside them: from zero, or, on a logarithmic scale, from a power of ten.
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

/// What a bar's length means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    /// In proportion; so much fills the room.
    Linear { greatest: f64 },
    /// In powers of ten, from the least, which has no length, to the greatest, which fills the room.
    Logarithmic { least: f64, greatest: f64 },
}

impl Scale {
    /// Per cent of the room that a bar fills. Nothing has no length on either scale.
    pub(crate) fn length_percent(self, value: f64) -> f64 {
        let share = match self {
            Self::Linear { greatest } if greatest > 0.0 => value / greatest,
            Self::Logarithmic { least, greatest } if value > 0.0 && greatest > least => {
                (value / least).log10() / (greatest / least).log10()
            }
            Self::Linear { .. } | Self::Logarithmic { .. } => 0.0,
        };
        (100.0 * share).clamp(0.0, 100.0)
    }
}

impl Bars {
    /// The logarithmic scale on which all groups have their places: from the power of ten below the least that isn't nothing.
    pub(crate) fn logarithmic(&self) -> Scale {
        let values = self.groups.iter().flat_map(|group| &group.bars).map(|bar| bar.value);
        let positive = values.filter(|value| *value > 0.0 && value.is_finite());
        let least = positive.fold(f64::INFINITY, f64::min);
        let greatest = self.groups.iter().map(Group::greatest).fold(0.0, f64::max);
        // The least is to have a length of its own.
        let below = 10_f64.powf((least / 1.5).log10().floor());
        Scale::Logarithmic { least: if least.is_finite() { below } else { 1.0 }, greatest }
    }
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
