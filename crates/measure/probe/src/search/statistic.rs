use std::collections::BTreeSet;
use std::str::FromStr;

/// A part of the read side's statistics that an ablation leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Statistic {
    /// The curve of five parameters.
    Curve,
    /// Quirks that neighbouring cells share.
    Kriging,
    /// A cell's scatter drawn towards that of the cells about it.
    Shrinkage,
    /// The correction by the reference cell's pace.
    Drift,
    /// Pooling of depths at which bandwidth falls.
    Pooling,
}

impl Statistic {
    const NAMED: [(&str, Self); 5] = [
        ("curve", Self::Curve),
        ("kriging", Self::Kriging),
        ("shrinkage", Self::Shrinkage),
        ("drift", Self::Drift),
        ("pooling", Self::Pooling),
    ];
}

impl FromStr for Statistic {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let named = Self::NAMED.iter().find(|(name, _)| *name == text);
        named.map(|(_, part)| *part).ok_or_else(|| {
            let known: Vec<&str> = Self::NAMED.iter().map(|(name, _)| *name).collect();
            format!("{text:?} is no part of the statistics; those are {}", known.join(", "))
        })
    }
}

/// Parts that are left out.
pub type Without = BTreeSet<Statistic>;
