use std::fmt;
use std::str::FromStr;

use nandle_units::{format_bytes_exact, parse_bytes};

use super::{Area, Focused, Grouped, Ordered, Partitioned, Pattern, Random, Sequential, Zipf};

/// Pattern as the user writes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PatternSpec {
    /// `random`: [`Random`], or [`Grouped`] if groups have more than one block.
    Random,
    /// `sequential`: [`Sequential`].
    Sequential,
    /// `focused:8MiB`: [`Focused`].
    Focused {
        /// Size of the addressed part.
        focus_bytes: u64,
    },
    /// `partitioned:8`: [`Partitioned`].
    Partitioned {
        /// Number of streams.
        streams: u64,
    },
    /// `ordered:2`, `ordered:-1`, `ordered:0`: [`Ordered`].
    Ordered {
        /// Distance between consecutive blocks.
        stride_blocks: i64,
    },
    /// `zipf:0.8`: [`Zipf`].
    Zipf {
        /// Skew of the distribution.
        theta: f64,
    },
}

/// The text is not a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid pattern {got:?}; expected random, sequential, focused:SIZE (focused:8MiB), partitioned:STREAMS \
     (partitioned:8), ordered:STRIDE (ordered:2, ordered:-1, ordered:0) or zipf:SKEW (zipf:0.8)"
)]
pub struct PatternError {
    /// The rejected text.
    pub got: String,
}

impl PatternSpec {
    /// Returns true if the pattern depends on the group size.
    pub fn takes_groups(&self) -> bool {
        matches!(self, Self::Random)
    }

    /// Returns true if the pattern depends on the seed.
    pub fn takes_seed(&self) -> bool {
        !matches!(self, Self::Partitioned { .. } | Self::Ordered { .. })
    }

    /// Returns true if the seed chooses a single position, where the pattern starts or stays.
    pub fn has_one_place(&self) -> bool {
        matches!(self, Self::Sequential | Self::Focused { .. })
    }

    /// Starts the pattern over an area. Only [`PatternSpec::Random`] uses `group_blocks`.
    pub fn start(&self, area: Area, group_blocks: u64, seed: u64) -> Pattern {
        match *self {
            Self::Random if group_blocks > 1 => Box::new(Grouped::new(area, group_blocks, seed)),
            Self::Random => Box::new(Random::new(area, seed)),
            Self::Sequential => Box::new(Sequential::new(area, seed)),
            Self::Focused { focus_bytes } => Box::new(Focused::new(area, focus_bytes, seed)),
            Self::Partitioned { streams } => Box::new(Partitioned::new(area, streams)),
            Self::Ordered { stride_blocks } => Box::new(Ordered::new(area, stride_blocks)),
            Self::Zipf { theta } => match Zipf::new(area, theta, seed) {
                Some(zipf) => Box::new(zipf),
                // `from_str` rejects every other skew; a skew of 0 is uniform.
                None => Box::new(Random::new(area, seed)),
            },
        }
    }
}

impl fmt::Display for PatternSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.write_str("random"),
            Self::Sequential => f.write_str("sequential"),
            Self::Focused { focus_bytes } => write!(f, "focused:{}", format_bytes_exact(*focus_bytes)),
            Self::Partitioned { streams } => write!(f, "partitioned:{streams}"),
            Self::Ordered { stride_blocks } => write!(f, "ordered:{stride_blocks}"),
            Self::Zipf { theta } => write!(f, "zipf:{theta}"),
        }
    }
}

impl FromStr for PatternSpec {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let (name, argument) = text.split_once(':').unwrap_or((text, ""));
        let spec = match name {
            "random" | "sequential" if text != name => None,
            "random" => Some(Self::Random),
            "sequential" => Some(Self::Sequential),
            "focused" => {
                positive(parse_bytes(argument).ok()).map(|focus_bytes| Self::Focused { focus_bytes })
            }
            "partitioned" => positive(argument.parse().ok()).map(|streams| Self::Partitioned { streams }),
            "ordered" => argument.parse().ok().map(|stride_blocks| Self::Ordered { stride_blocks }),
            "zipf" => skew(argument).map(|theta| Self::Zipf { theta }),
            _ => None,
        };
        spec.ok_or_else(|| PatternError { got: text.into() })
    }
}

fn positive(number: Option<u64>) -> Option<u64> {
    number.filter(|number| *number > 0)
}

fn skew(text: &str) -> Option<f64> {
    text.parse().ok().filter(|theta: &f64| theta.is_finite() && *theta >= 0.0)
}
