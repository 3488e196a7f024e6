//! Positions of 0 in one-bit values: nulls, which are rare in most columns.

use super::{Hybrid, Malformed, Run};

/// Values per byte at a width of 1.
const BYTE_VALUES: usize = 8;

impl Hybrid {
    /// Finds zeros among the next one-bit values: their ascending positions, counted from the first
    /// of these values.
    pub(in super::super) fn zeros(&mut self, values: usize, places: &mut Vec<u32>) -> Result<(), Malformed> {
        places.clear();
        let mut at = 0;
        while at < values {
            let (run, taken) = match self.run {
                Run::Repeated { left: 0, .. } | Run::Packed { left: 0, .. } => (self.next_run()?, 0),
                Run::Repeated { value, left } => {
                    let taken = left.min(values - at);
                    if value == 0 {
                        places.extend((at..at + taken).map(place));
                    }
                    (Run::Repeated { value, left: left - taken }, taken)
                }
                Run::Packed { left, skipped } => {
                    let taken = left.min(values - at);
                    let skipped = self.zeros_of_packed(skipped, taken, at, places)?;
                    (Run::Packed { left: left - taken, skipped }, taken)
                }
            };
            self.run = run;
            at += taken;
        }
        Ok(())
    }

    /// Finds zeros among packed values, after `skipped` values of the current byte. Returns the
    /// number of values done in the last byte.
    fn zeros_of_packed(
        &mut self,
        skipped: usize,
        values: usize,
        first_place: usize,
        places: &mut Vec<u32>,
    ) -> Result<usize, Malformed> {
        let end = skipped + values;
        let packed = self.bytes.get(self.at..self.at + end.div_ceil(BYTE_VALUES)).ok_or(Malformed)?;
        for (number, byte) in packed.iter().enumerate() {
            let begin = number * BYTE_VALUES;
            let mut zeros = !byte;
            if begin < skipped {
                zeros &= u8::MAX << skipped;
            }
            if end - begin < BYTE_VALUES {
                zeros &= !(u8::MAX << (end - begin));
            }
            while zeros != 0 {
                places.push(place(first_place + begin + zeros.trailing_zeros() as usize - skipped));
                zeros &= zeros - 1;
            }
        }
        self.at += end / BYTE_VALUES;
        Ok(end % BYTE_VALUES)
    }
}

#[allow(clippy::cast_possible_truncation, reason = "a page has fewer rows")]
fn place(row: usize) -> u32 {
    row as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Encodes runs like a writer: repeated values, and bytes of packed ones.
    fn encode(runs: &[Result<(bool, u8), Vec<u8>>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for run in runs {
            match run {
                Ok((value, length)) => bytes.extend([(length % 64) << 1, u8::from(*value)]),
                Err(packed) => {
                    bytes.push(u8::try_from(packed.len() << 1 | 1).unwrap());
                    bytes.extend(packed);
                }
            }
        }
        bytes
    }

    proptest! {
        #[test]
        fn zeros_are_where_values_are_zero(
            runs in prop::collection::vec(
                prop_oneof![
                    any::<(bool, u8)>().prop_map(Ok),
                    prop::collection::vec(prop_oneof![Just(255), any::<u8>()], 1..20).prop_map(Err),
                ],
                1..8,
            ),
            pieces in prop::collection::vec((any::<bool>(), 0_usize..40), 0..40),
        ) {
            let bytes = bytes::Bytes::from(encode(&runs));
            let (mut values, mut zeros) = (Hybrid::new(bytes.clone(), 1).unwrap(), Hybrid::new(bytes, 1).unwrap());
            for (skips, length) in pieces {
                if skips {
                    prop_assert_eq!(values.skip(length), zeros.skip(length));
                    continue;
                }
                let (mut each, mut places) = (vec![0; length], vec![7]);
                let filled = values.fill(&mut each);
                prop_assert_eq!(filled, zeros.zeros(length, &mut places));
                if filled.is_err() {
                    break;
                }
                let expected: Vec<usize> = (0..length).filter(|row| each[*row] == 0).collect();
                let got: Vec<usize> = places.iter().map(|place| *place as usize).collect();
                prop_assert_eq!(got, expected);
            }
        }
    }
}
