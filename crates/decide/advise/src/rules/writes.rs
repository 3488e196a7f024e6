use crate::figures::Figures;
use crate::figures::words::whole;
use crate::settings::{Figure, MissingFigure};

/// Ratio of random to sequential writes from which writing neighbouring pages along pays. uFLIP and
/// `StableBuffer` count ratios up to 4 among the good patterns.
const EXPENSIVE_RATIO: f64 = 4.0;

/// Returns true if random writes are much more expensive than sequential ones, even at the lower
/// bound.
pub(crate) fn random_is_expensive(random_by_sequential: &Figure) -> bool {
    random_by_sequential.value.low >= EXPENSIVE_RATIO
}

/// Share of the steady state for background writes if interference wasn't measured.
const PART_OF_STEADY_STATE: f64 = 0.5;

/// Least share of the steady state for background writes, which must proceed even if they disturb
/// reads.
const LEAST_PART_OF_STEADY_STATE: f64 = 0.05;

/// Bandwidth of background writes, with its figures and the rule in words. It is the bandwidth at
/// which the read latency at most doubles, between a twentieth of the steady state and all of it.
/// If interference wasn't measured, it is half of the steady state. All figures are lower bounds,
/// because a server writes at this rate all the time.
pub(crate) fn background_write_rate(
    figures: &Figures<'_>,
) -> Result<(f64, Vec<Figure>, String), MissingFigure> {
    let steady = figures.steady_write_bandwidth()?;
    let Ok(beside) = figures.write_bandwidth_beside_reads() else {
        let rate = steady.value.low * PART_OF_STEADY_STATE;
        let rule = "half of the steady state, because the effect of writes on reads wasn't \
            measured";
        return Ok((rate, vec![steady], rule.into()));
    };
    let most = steady.value.low;
    let least = most * LEAST_PART_OF_STEADY_STATE;
    let (rate, rule) = if beside.value.low >= most {
        (most, "the steady state: even then the latency of reads stays within twice its value")
    } else if beside.value.low >= least {
        (
            beside.value.low,
            "the write rate up to which the latency of reads surely stays within twice its value",
        )
    } else {
        (
            least,
            "a twentieth of the steady state: any such rate disturbs reads, but background work \
            must proceed",
        )
    };
    Ok((rate, vec![beside, steady], rule.into()))
}

/// Bytes that the device writes back at a rate during one checkpoint. A larger log between
/// checkpoints leaves more than can be written back.
pub(crate) fn written_back_bytes(bytes_per_s: f64) -> u64 {
    const CHECKPOINT_S: f64 = 300.0;
    const COMPLETION: f64 = 0.9;
    whole(bytes_per_s * CHECKPOINT_S * COMPLETION)
}

#[cfg(test)]
mod tests {
    use nandle_profile::Interval;

    use super::*;

    #[test]
    fn a_ratio_that_may_be_below_the_bound_is_not_expensive() {
        let figure = |value, low, high| Figure::new("ratio", Interval { value, low, high }, "");
        assert!(random_is_expensive(&figure(10.8, 9.9, 11.6)));
        assert!(!random_is_expensive(&figure(4.2, 3.8, 4.6)));
    }
}
