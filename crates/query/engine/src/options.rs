//! Session settings of this project: `SET nandle.reads = 'flexible'`.

use std::fmt;
use std::str::FromStr;

use datafusion::common::config::{ConfigExtension, ConfigField, Visit};
use datafusion::common::{DataFusionError, extensions_options};
use nandle_reads::Strategy;

/// Read mode of a session's scans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Planned reads.
    Planned(Strategy),
    /// The engine's own reader.
    Engine,
}

impl Default for Reads {
    fn default() -> Self {
        Self::Planned(Strategy::Flexible)
    }
}

impl FromStr for Reads {
    type Err = DataFusionError;

    fn from_str(text: &str) -> Result<Self, DataFusionError> {
        if text == "engine" {
            return Ok(Self::Engine);
        }
        let refused = |error: nandle_reads::StrategyError| {
            DataFusionError::Configuration(format!("nandle.reads: {error}; or engine"))
        };
        text.parse().map(Self::Planned).map_err(refused)
    }
}

impl fmt::Display for Reads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Planned(strategy) => strategy.fmt(f),
            Self::Engine => f.write_str("engine"),
        }
    }
}

impl ConfigField for Reads {
    fn visit<V: Visit>(&self, visitor: &mut V, key: &str, description: &'static str) {
        visitor.some(key, self, description);
    }

    fn set(&mut self, _key: &str, value: &str) -> Result<(), DataFusionError> {
        *self = value.parse()?;
        Ok(())
    }
}

extensions_options! {
    /// Session settings of this project.
    pub struct NandleOptions {
        /// Read mode: flexible, fixed-block, fixed-block:SIZE, whole-group, one-by-one:N, or engine
        /// for the engine's own reader
        pub reads: Reads, default = Reads::default()
    }
}

impl ConfigExtension for NandleOptions {
    const PREFIX: &'static str = "nandle";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_of_reading_have_names() {
        for name in ["flexible", "fixed-block", "whole-group", "one-by-one:3", "engine"] {
            assert_eq!(name.parse::<Reads>().unwrap().to_string(), name);
        }
        let refusal = "page-cache".parse::<Reads>().unwrap_err().to_string();
        assert!(refusal.contains("flexible") && refusal.contains("engine"), "{refusal}");
    }
}
