use std::str::FromStr;

use nandle_io::Nanos;
use nandle_probe::pattern::PatternSpec;
use nandle_units::{parse_bytes, parse_duration};

/// Pattern and amount of writing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Wear {
    pub(super) pattern: PatternSpec,
    pub(super) amount: Amount,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Amount {
    Bytes(u64),
    Time(Nanos),
}

impl FromStr for Wear {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || format!("{text:?}: expected PATTERN:AMOUNT, such as random:10GiB or focused:8MiB:1h");
        let (pattern, amount) = text.rsplit_once(':').ok_or_else(expected)?;
        let pattern = pattern.parse().map_err(|error| format!("{}; {error}", expected()))?;
        let time = parse_duration(amount).map(Amount::Time).ok();
        let amount = time.or_else(|| parse_bytes(amount).map(Amount::Bytes).ok()).ok_or_else(expected)?;
        Ok(Self { pattern, amount })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_a_pattern_and_an_amount() {
        let wear = |text: &str| text.parse::<Wear>();
        assert_eq!(wear("random:10GiB").unwrap().amount, Amount::Bytes(10 << 30));
        let focused = wear("focused:8MiB:2h").unwrap();
        assert_eq!(focused.amount, Amount::Time(Nanos::from_secs(7200)));
        assert_eq!(focused.pattern, "focused:8MiB".parse().unwrap());
        for wrong in ["random", "random:", "random:much", "focussed:8MiB:2h", ":1h"] {
            assert!(wear(wrong).unwrap_err().contains("PATTERN:AMOUNT"), "{wrong}");
        }
    }
}
