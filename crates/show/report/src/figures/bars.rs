/// Figure of unordered items: bars with their numbers. They start at zero, or on a logarithmic
/// scale at a power of ten.
pub(crate) struct Bars {
    /// Anchor on the page.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Finding computed from the data.
    pub(crate) finding: String,
    /// Instruction for reading the figure.
    pub(crate) note: String,
    /// Quantity of the bars, with its unit.
    pub(crate) quantity: String,
    pub(crate) groups: Vec<Group>,
}

/// Group of related bars.
pub(crate) struct Group {
    /// Name of the group; empty for a single group.
    pub(crate) name: String,
    pub(crate) bars: Vec<Bar>,
}

/// Bar of one item.
pub(crate) struct Bar {
    pub(crate) label: String,
    /// Length from zero, in the same unit for all bars of the group.
    pub(crate) value: f64,
    /// Value with its unit and, if it has one, its interval.
    pub(crate) text: String,
    /// Index of the colour.
    pub(crate) kind: usize,
}

/// Scale of the bars' lengths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scale {
    /// Linear scale; `greatest` fills the width.
    Linear { greatest: f64 },
    /// Logarithmic scale; `least` has no length and `greatest` fills the width.
    Logarithmic { least: f64, greatest: f64 },
}

impl Scale {
    /// Width of a bar in per cent. Zero has no length on either scale.
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
    /// Common logarithmic scale of all groups. It starts at the power of ten below the least
    /// positive value.
    pub(crate) fn logarithmic(&self) -> Scale {
        let values = self.groups.iter().flat_map(|group| &group.bars).map(|bar| bar.value);
        let positive = values.filter(|value| *value > 0.0 && value.is_finite());
        let least = positive.fold(f64::INFINITY, f64::min);
        let greatest = self.groups.iter().map(Group::greatest).fold(0.0, f64::max);
        // The division keeps the least bar visible.
        let below = 10_f64.powf((least / 1.5).log10().floor());
        Scale::Logarithmic { least: if least.is_finite() { below } else { 1.0 }, greatest }
    }
}

impl Group {
    /// Greatest value of the group. Each group has its own scale, so that a median isn't lost next
    /// to a long tail.
    pub(crate) fn greatest(&self) -> f64 {
        let values = self.bars.iter().map(|bar| bar.value);
        values.filter(|value| value.is_finite()).fold(0.0, f64::max)
    }

    /// Single group of a figure.
    pub(crate) fn single(bars: Vec<Bar>) -> Vec<Self> {
        vec![Self { name: String::new(), bars }]
    }
}
