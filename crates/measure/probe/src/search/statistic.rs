use std::collections::BTreeSet;
use std::str::FromStr;

/// Part of the read statistics that an ablation can leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Statistic {
    /// The five-parameter curve.
    Curve,
    /// Residuals shared by neighbouring cells.
    Kriging,
    /// Shrinkage of a cell's scatter to that of its neighbours.
    Shrinkage,
    /// Correction by the reference cell's pace.
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
            format!("unknown statistic {text:?}; expected one of {}", known.join(", "))
        })
    }
}

/// Statistics that are left out.
pub type OmittedStatistics = BTreeSet<Statistic>;
