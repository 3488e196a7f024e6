//! Disk speed of a run, and the initial location of its files.

use serde::Serialize;

use super::cgroup::ReadLimit;
use crate::Outcome;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Speed {
    /// Full disk speed, with files evicted from the page cache.
    AsIs,
    /// Reads limited to those of a small cloud volume, also cold.
    Limited,
    /// Files in the page cache, right after a run of the same program.
    Warm,
}

impl Speed {
    pub(super) const COLD: [Self; 2] = [Self::AsIs, Self::Limited];
    const ALL: [Self; 3] = [Self::AsIs, Self::Limited, Self::Warm];
    /// Read limits of a small cloud volume.
    pub(super) const SMALL_VOLUME: ReadLimit = ReadLimit { bytes_per_s: 125_000_000, reads_per_s: 3_000 };

    /// Name in records; command lines use a dash instead of the space.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::AsIs => "as is",
            Self::Limited => "limited",
            Self::Warm => "warm",
        }
    }

    pub(super) fn limit(self) -> ReadLimit {
        match self {
            Self::AsIs | Self::Warm => ReadLimit::NONE,
            Self::Limited => Self::SMALL_VOLUME,
        }
    }

    /// Parses a list such as `as-is,limited,warm`.
    pub(super) fn list(text: &str) -> Outcome<Vec<Self>> {
        let named = |word: &str| Self::ALL.into_iter().find(|speed| speed.name().replace(' ', "-") == word);
        let speeds = text.split(',').map(|word| {
            named(word)
                .ok_or_else(|| format!("there is no speed {word:?}; as-is, limited and warm are").into())
        });
        speeds.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Speed;

    #[test]
    fn speeds_are_read() {
        assert_eq!(Speed::list("warm,as-is").unwrap(), [Speed::Warm, Speed::AsIs]);
        assert!(Speed::list("as is").unwrap_err().to_string().contains("\"as is\""));
    }
}
