//! Strategies in the form that users write.

use std::fmt;
use std::str::FromStr;

use nandle_units::{format_bytes, parse_bytes};

use crate::Strategy;

/// Error for an unknown strategy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected flexible, fixed-block, fixed-block:SIZE, whole-group or one-by-one:N (requests outstanding, 1 or more), got {got:?}"
)]
pub struct StrategyError {
    got: String,
}

impl FromStr for Strategy {
    type Err = StrategyError;

    fn from_str(text: &str) -> Result<Self, StrategyError> {
        let refused = || StrategyError { got: text.to_owned() };
        let (name, value) = text.split_once(':').map_or((text, None), |(name, value)| (name, Some(value)));
        match (name, value) {
            ("flexible", None) => Ok(Self::Flexible),
            ("whole-group", None) => Ok(Self::WholeGroup),
            ("fixed-block", None) => Ok(Self::FixedBlock { block_bytes: None }),
            ("fixed-block", Some(size)) => {
                let block_bytes = parse_bytes(size).ok().filter(|bytes| *bytes > 0).ok_or_else(refused)?;
                Ok(Self::FixedBlock { block_bytes: Some(block_bytes) })
            }
            ("one-by-one", None) => Ok(Self::OneByOne { depth: 1 }),
            ("one-by-one", Some(depth)) => {
                let depth = depth.parse().ok().filter(|depth| *depth > 0).ok_or_else(refused)?;
                Ok(Self::OneByOne { depth })
            }
            _ => Err(refused()),
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flexible => f.write_str("flexible"),
            Self::FixedBlock { block_bytes: None } => f.write_str("fixed-block"),
            Self::FixedBlock { block_bytes: Some(bytes) } => {
                write!(f, "fixed-block:{}", format_bytes(*bytes))
            }
            Self::WholeGroup => f.write_str("whole-group"),
            Self::OneByOne { depth } => write!(f, "one-by-one:{depth}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_read_back_as_they_print() {
        for text in ["flexible", "fixed-block", "fixed-block:8KiB", "whole-group", "one-by-one:32"] {
            assert_eq!(text.parse::<Strategy>().unwrap().to_string(), text);
        }
        assert_eq!("one-by-one".parse(), Ok(Strategy::OneByOne { depth: 1 }));
        for wrong in ["", "Flexible", "flexible:1", "fixed-block:0", "one-by-one:0", "one-by-one:", "whole"] {
            let error = wrong.parse::<Strategy>().unwrap_err();
            assert!(error.to_string().contains(&format!("{wrong:?}")), "{error}");
        }
    }
}
