use crate::figures::Figures;
use crate::figures::words::whole;
use crate::settings::{Figure, MissingFigure};

/// From this ratio on a random write is expensive enough that sequential neighbours are worth writing along. uFLIP and
/// `StableBuffer` count up to 4 times sequential writing among the good patterns.
const EXPENSIVE_RATIO: f64 = 4.0;

/// Whether random writes are surely much more expensive than sequential ones: at the lower bound, too.
pub(crate) fn random_is_expensive(random_by_sequential: &Figure) -> bool {
    random_by_sequential.value.low >= EXPENSIVE_RATIO
}

/// Part of the steady state that background writing may take where its effect on reads wasn't measured.
const PART_OF_STEADY_STATE: f64 = 0.5;

/// Background writing has to go on, also where any of it is felt by reads.
const LEAST_PART_OF_STEADY_STATE: f64 = 0.05;

/// Bytes per second that background writing may take, with the figures and the words of the rule: what surely leaves the
/// latency of reads within twice its value, no more than the steady state and no less than a twentieth of it; half of the
/// steady state where interference was not measured. All of it by lower bounds: too high a rate hurts, and it is a
/// server that follows it, day and night.
pub(crate) fn background_write_rate(
    figures: &Figures<'_>,
) -> Result<(f64, Vec<Figure>, String), MissingFigure> {
    let steady = figures.steady_write_bandwidth()?;
    let Ok(beside) = figures.write_bandwidth_beside_reads() else {
        let rate = steady.value.low * PART_OF_STEADY_STATE;
        let rule = "half of the steady state, for want of a measurement of what writes do to reads";
        return Ok((rate, vec![steady], rule.into()));
    };
    let most = steady.value.low;
    let least = most * LEAST_PART_OF_STEADY_STATE;
    let (rate, rule) = if beside.value.low >= most {
        (most, "the steady state: even then the latency of reads stays within twice its value")
    } else if beside.value.low >= least {
        (
            beside.value.low,
            "the rate of writing up to which the latency of reads surely stays within twice its value",
        )
    } else {
        (
            least,
            "a twentieth of the steady state: reads feel any that much and more, but work in the background has to go on",
        )
    };
    Ok((rate, vec![beside, steady], rule.into()))
}

/// Bytes of pages that the device writes back at a rate in the time of a checkpoint: more log between two checkpoints leaves
/// more to be written back than is written back.
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
