use std::fmt;

use nandle_units::group_thousands;

/// Number and unit, kept apart so that an interval can print the unit once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quantity {
    pub(crate) number: String,
    pub(crate) unit: &'static str,
}

// A no-break space binds each unit to its number.
const DECIMAL_BANDWIDTHS: [(f64, &str); 4] =
    [(1e9, "\u{a0}GB/s"), (1e6, "\u{a0}MB/s"), (1e3, "\u{a0}kB/s"), (1.0, "\u{a0}B/s")];
const TIMES: [(f64, &str); 4] = [(1e9, "\u{a0}s"), (1e6, "\u{a0}ms"), (1e3, "\u{a0}µs"), (1.0, "\u{a0}ns")];
const DECIMAL_SIZES: [(f64, &str); 5] =
    [(1e12, "\u{a0}TB"), (1e9, "\u{a0}GB"), (1e6, "\u{a0}MB"), (1e3, "\u{a0}kB"), (1.0, "\u{a0}B")];
const BINARY_SIZES: [(u64, &str); 5] =
    [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")];

impl Quantity {
    pub(crate) fn bandwidth(bytes_per_s: f64) -> Self {
        Self::scaled(bytes_per_s, &DECIMAL_BANDWIDTHS)
    }

    pub(crate) fn time_ns(time_ns: f64) -> Self {
        Self::scaled(time_ns, &TIMES)
    }

    /// Capacity in decimal units, as drives are sold.
    pub(crate) fn capacity(bytes: u64) -> Self {
        Self::scaled(bytes as f64, &DECIMAL_SIZES)
    }

    /// Request size in binary units, as databases count: `4KiB`.
    pub(crate) fn size(bytes: u64) -> Self {
        let fits = |(scale, _): &&(u64, &str)| bytes >= *scale;
        let (scale, unit) = BINARY_SIZES.iter().find(fits).copied().unwrap_or((1, "B"));
        let number = if bytes.is_multiple_of(scale) {
            (bytes / scale).to_string()
        } else {
            significant(bytes as f64 / scale as f64, 3)
        };
        Self { number, unit }
    }

    pub(crate) fn bare(value: f64) -> Self {
        Self { number: significant(value, 3), unit: "" }
    }

    fn scaled(value: f64, scales: &[(f64, &'static str)]) -> Self {
        // Rounding to three digits could reach the next unit: 999.6 MB/s prints as 1.00 GB/s.
        let fits = |(scale, _): &&(f64, &str)| value.abs() >= scale * 0.9995;
        let (scale, unit) = scales.iter().find(fits).or(scales.last()).copied().unwrap_or((1.0, ""));
        Self { number: significant(value / scale, 3), unit }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.number, self.unit)
    }
}

/// Formats a number with `digits` significant digits and grouped thousands: `412 000`, `3.21`,
/// `0.0123`.
pub(crate) fn significant(value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return "unknown".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let step = 10_f64.powi(exponent(value) - digits + 1);
    let rounded = (value / step).round() * step;
    let decimals = usize::try_from(digits - 1 - exponent(rounded)).unwrap_or(0);
    grouped(&format!("{rounded:.decimals$}"))
}

#[allow(clippy::cast_possible_truncation, reason = "the exponent of a finite f64 is within ±324")]
fn exponent(value: f64) -> i32 {
    value.abs().log10().floor() as i32
}

/// Groups thousands by narrow no-break spaces from four digits on, as charts and the terminal do.
pub(crate) fn grouped(number: &str) -> String {
    group_thousands(number, '\u{202f}', 4)
}

/// Formats block sizes as ranges. Consecutive sizes double; any other step is a gap.
pub(crate) fn block_runs(mut block_bytes: Vec<u64>) -> String {
    block_bytes.sort_unstable();
    let run = |run: &[u64]| match run {
        [first, .., last] => format!("{} to {}", Quantity::size(*first), Quantity::size(*last)),
        [only] => Quantity::size(*only).to_string(),
        [] => String::new(),
    };
    let runs = block_bytes.chunk_by(|small, large| small * 2 == *large).map(run);
    super::join(&runs.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_print_in_their_best_unit() {
        assert_eq!(Quantity::size(4096).to_string(), "4KiB");
        assert_eq!(Quantity::size(1_536).to_string(), "1.50KiB");
        assert_eq!(Quantity::size(0).to_string(), "0B");
        assert_eq!(Quantity::bandwidth(3.214e9).to_string(), "3.21\u{a0}GB/s");
        assert_eq!(Quantity::bandwidth(999.6e6).to_string(), "1.00\u{a0}GB/s");
        assert_eq!(Quantity::time_ns(84_123.0).to_string(), "84.1\u{a0}µs");
        assert_eq!(Quantity::capacity(1_000_204_886_016).to_string(), "1.00\u{a0}TB");
        assert_eq!(Quantity::bare(412_345.0).number, "412\u{202f}000");
        assert_eq!(Quantity::bare(0.0).number, "0");
        assert_eq!(Quantity::bare(f64::NAN).number, "unknown");
        assert_eq!(significant(9.999, 3), "10.0");
        assert_eq!(grouped("7721"), "7\u{202f}721");
        assert_eq!(grouped("-1234567"), "-1\u{202f}234\u{202f}567");
    }
}
