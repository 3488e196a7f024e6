//! Validation of the costs before reads are planned with them.

use super::{BatchCost, RequestCost, SequenceCost};
use crate::{Estimate, ReadCosts, ReadsError};

/// Limit on request length: no system accepts longer requests, and planning stores a price for each
/// length.
const REQUEST_BYTES_MAX: u64 = 1 << 30;

type Checked = Result<(), ReadsError>;

impl ReadCosts {
    /// Checks that the figures are valid and complete.
    ///
    /// # Errors
    /// No size was measured, a figure isn't a number or is out of range, bounds are out of order,
    /// or the largest request is shorter than a logical block.
    pub fn check(&self) -> Result<(), ReadsError> {
        self.check_lengths()?;
        if self.random.is_empty() {
            return fault("random requests of some size were measured", "none".to_owned());
        }
        for cost in self.random.iter().chain(&self.sequential) {
            check_request(cost)?;
        }
        self.batches.iter().try_for_each(check_batch)?;
        self.sequences.iter().try_for_each(check_sequence)?;
        if !(self.price_error.is_finite() && self.price_error >= 0.0) {
            return fault(
                "the error of a price is a share of it, zero or more",
                self.price_error.to_string(),
            );
        }
        Ok(())
    }

    fn check_lengths(&self) -> Checked {
        let block_bytes = self.logical_block_bytes;
        if block_bytes == 0 || !block_bytes.is_power_of_two() {
            return fault("the logical block is a power of two", format!("{block_bytes} bytes"));
        }
        let largest = format!("{} bytes", self.largest_request_bytes);
        if self.largest_request_bytes < block_bytes {
            return fault("the largest request has a logical block or more", largest);
        }
        if self.largest_request_bytes > REQUEST_BYTES_MAX {
            return fault("no request has more than 1 GiB", format!("a largest one of {largest}"));
        }
        Ok(())
    }
}

fn check_request(cost: &RequestCost) -> Checked {
    if is_ordered(cost.seconds) && cost.seconds.low > 0.0 && cost.depth > 0 && cost.request_bytes > 0 {
        return Ok(());
    }
    fault("sizes, depths and times are above zero, bounds in order", format!("{cost:?}"))
}

fn check_batch(cost: &BatchCost) -> Checked {
    if is_ordered(cost.seconds) && cost.seconds.low > 0.0 && cost.requests > 0 && cost.request_bytes > 0 {
        return Ok(());
    }
    fault("sizes, requests and times of batches are above zero, bounds in order", format!("{cost:?}"))
}

fn check_sequence(cost: &SequenceCost) -> Checked {
    if is_ordered(cost.seconds) && cost.requests >= 2 && cost.request_bytes > 0 {
        return Ok(());
    }
    fault(
        "a sequence has two requests or more, of some size, and takes no less than they do, bounds in order",
        format!("{cost:?}"),
    )
}

/// Returns true if the value is finite, not negative and within its bounds.
fn is_ordered(Estimate { value, low, high }: Estimate) -> bool {
    0.0 <= low && low <= value && value <= high && high.is_finite()
}

fn fault(what: &'static str, got: String) -> Checked {
    Err(ReadsError::Costs { what, got })
}

#[cfg(test)]
mod tests {
    use super::super::tests::flash;
    use super::*;

    #[test]
    fn figures_that_make_no_sense_are_named() {
        assert!(flash().check().is_ok());
        let endless = ReadCosts { largest_request_bytes: u64::MAX, ..flash() };
        assert!(endless.check().unwrap_err().to_string().contains("1 GiB"));
        let none = ReadCosts { random: Vec::new(), ..flash() };
        assert!(none.check().unwrap_err().to_string().contains("measured"));
        let block = ReadCosts { logical_block_bytes: 1000, ..flash() };
        assert!(block.check().unwrap_err().to_string().contains("1000 bytes"));
        let mut wrong = flash();
        wrong.sequential[0].seconds = Estimate { value: 1.0, low: 2.0, high: 3.0 };
        assert!(wrong.check().unwrap_err().to_string().contains("bounds"));
    }

    #[test]
    fn sequences_and_the_error_of_a_price_are_checked_as_well() {
        let of = |requests, seconds| ReadCosts {
            sequences: vec![SequenceCost { request_bytes: 4096, requests, seconds }],
            ..flash()
        };
        assert!(of(2, Estimate::exact(0.0)).check().is_ok());
        for wrong in [
            of(1, Estimate::exact(0.0)),
            of(2, Estimate::exact(-1.0)),
            of(2, Estimate { value: 1.0, low: 2.0, high: 3.0 }),
            of(2, Estimate::exact(f64::NAN)),
        ] {
            assert!(wrong.check().unwrap_err().to_string().contains("sequence"));
        }
        for price_error in [-0.1, f64::NAN, f64::INFINITY] {
            let wrong = ReadCosts { price_error, ..flash() };
            assert!(wrong.check().unwrap_err().to_string().contains("share"));
        }
    }
}
