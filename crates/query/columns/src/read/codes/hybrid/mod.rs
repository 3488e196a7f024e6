//! Parquet's hybrid of run lengths and bit packing (parquet-format, `Encodings.md`, "Run Length
//! Encoding / Bit-Packing Hybrid"). The decoder of the Parquet crate isn't public.
//!
//! ```text
//! run       := header payload
//! header    := varint; its lowest bit selects the kind of run
//!    ...0   := header >> 1 times one value, which has ceil(width / 8) bytes, little-endian
//!    ...1   := (header >> 1) * 8 values of `width` bits each, the lowest bit first
//! ```

use bytes::Bytes;
use pulp::{Arch, Simd, WithSimd};

use super::runs::Runs;

mod zeros;

/// The encoded bytes are truncated or contain an invalid run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

/// Decoder of values with a fixed width of 0 to 32 bits.
#[derive(Debug, Clone, Default)]
pub(super) struct Hybrid {
    bytes: Bytes,
    at: usize,
    width: u8,
    run: Run,
}

#[derive(Debug, Clone, Copy)]
enum Run {
    Repeated {
        value: u32,
        left: usize,
    },
    /// `skipped` values of the current group were already handed out.
    Packed {
        left: usize,
        skipped: usize,
    },
}

impl Default for Run {
    fn default() -> Self {
        Self::Repeated { value: 0, left: 0 }
    }
}

impl Hybrid {
    pub(super) fn new(bytes: Bytes, width: u8) -> Result<Self, Malformed> {
        if width > 32 {
            return Err(Malformed);
        }
        Ok(Self { bytes, at: 0, width, run: Run::default() })
    }

    /// Copies the remaining bytes, to free the rest of the page.
    pub(super) fn detach(&mut self) {
        self.bytes = Bytes::copy_from_slice(self.bytes.get(self.at..).unwrap_or_default());
        self.at = 0;
    }

    /// Fills `into` with the next values.
    pub(super) fn fill(&mut self, mut into: &mut [u32]) -> Result<(), Malformed> {
        while !into.is_empty() {
            let (run, taken) = match self.run {
                Run::Repeated { left: 0, .. } | Run::Packed { left: 0, .. } => (self.next_run()?, 0),
                Run::Repeated { value, left } => {
                    let taken = left.min(into.len());
                    into.get_mut(..taken).into_iter().for_each(|now| now.fill(value));
                    (Run::Repeated { value, left: left - taken }, taken)
                }
                Run::Packed { left, skipped } => {
                    let taken = left.min(into.len());
                    let skipped = self.unpack(skipped, into.get_mut(..taken).unwrap_or_default())?;
                    (Run::Packed { left: left - taken, skipped }, taken)
                }
            };
            self.run = run;
            into = into.get_mut(taken..).unwrap_or_default();
        }
        Ok(())
    }

    /// Appends the next values as runs, while runs are worthwhile. Returns the number of values.
    pub(super) fn fill_runs(&mut self, values: usize, runs: &mut Runs<'_>) -> Result<usize, Malformed> {
        let mut left_values = values;
        while left_values > 0 {
            let (run, taken) = match self.run {
                Run::Repeated { left: 0, .. } | Run::Packed { left: 0, .. } => (self.next_run()?, 0),
                Run::Repeated { value, left } => {
                    let taken = left.min(left_values);
                    runs.add(value, taken);
                    (Run::Repeated { value, left: left - taken }, taken)
                }
                Run::Packed { left, .. } if left > SHORT_VALUES => break,
                Run::Packed { left, skipped } => {
                    let taken = left.min(left_values);
                    let mut short = [0; SHORT_VALUES];
                    let short = short.get_mut(..taken).unwrap_or_default();
                    let skipped = self.unpack(skipped, short)?;
                    for value in short.iter() {
                        runs.add(*value, 1);
                    }
                    (Run::Packed { left: left - taken, skipped }, taken)
                }
            };
            self.run = run;
            left_values -= taken;
        }
        Ok(values - left_values)
    }

    /// Skips the next values.
    pub(super) fn skip(&mut self, mut values: usize) -> Result<(), Malformed> {
        while values > 0 {
            let (run, taken) = match self.run {
                Run::Repeated { left: 0, .. } | Run::Packed { left: 0, .. } => (self.next_run()?, 0),
                Run::Repeated { value, left } => {
                    (Run::Repeated { value, left: left - left.min(values) }, left.min(values))
                }
                Run::Packed { left, skipped } => {
                    let taken = left.min(values);
                    let passed = skipped + taken;
                    self.at += passed / 8 * usize::from(self.width);
                    (Run::Packed { left: left - taken, skipped: passed % 8 }, taken)
                }
            };
            self.run = run;
            values -= taken;
        }
        Ok(())
    }

    /// Returns the next value and its repetitions; 0 repetitions if unknown.
    pub(super) fn repeated(&mut self) -> Result<(u32, usize), Malformed> {
        if matches!(self.run, Run::Repeated { left: 0, .. } | Run::Packed { left: 0, .. }) {
            self.run = self.next_run()?;
        }
        Ok(match self.run {
            Run::Repeated { value, left } => (value, left),
            Run::Packed { .. } => (0, 0),
        })
    }

    fn next_run(&mut self) -> Result<Run, Malformed> {
        let header = self.varint()?;
        let count = usize::try_from(header >> 1).map_err(|_| Malformed)?;
        if header & 1 == 1 {
            return Ok(Run::Packed { left: count.checked_mul(8).ok_or(Malformed)?, skipped: 0 });
        }
        let length = usize::from(self.width.div_ceil(8));
        let bytes = self.bytes.get(self.at..self.at + length).ok_or(Malformed)?;
        self.at += length;
        let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
        // Levels beyond 1 would be counted as more values than there are rows.
        if value.checked_shr(u32::from(self.width)).is_some_and(|beyond| beyond != 0) {
            return Err(Malformed);
        }
        Ok(Run::Repeated { value, left: count })
    }

    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for shift in (0..35).step_by(7) {
            let byte = *self.bytes.get(self.at).ok_or(Malformed)?;
            self.at += 1;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed)
    }

    /// Unpacks from the current group on, of which `skipped` values are done. Returns the number of
    /// values done in the last group.
    fn unpack(&mut self, skipped: usize, mut into: &mut [u32]) -> Result<usize, Malformed> {
        let width = usize::from(self.width);
        let mut skipped = skipped;
        while !into.is_empty() {
            let rest = self.bytes.get(self.at..).ok_or(Malformed)?;
            if skipped == 0 && into.len() >= BLOCK_VALUES && rest.len() >= 4 * width {
                // A width of 0 takes no bytes for any number of blocks.
                let blocks =
                    rest.len().checked_div(4 * width).unwrap_or(usize::MAX).min(into.len() / BLOCK_VALUES);
                let (now, later) = into.split_at_mut(blocks * BLOCK_VALUES);
                unpack_blocks(self.width, rest, now);
                self.at += blocks * 4 * width;
                into = later;
                continue;
            }
            let mut group = [0; BLOCK_VALUES];
            // A writer may omit the end of the last group.
            let packed = rest.get(..rest.len().min(width)).ok_or(Malformed)?;
            let mut padded = [0; 128];
            padded.get_mut(..packed.len()).ok_or(Malformed)?.copy_from_slice(packed);
            unpack_blocks(self.width, &padded, &mut group);
            let whole = (packed.len() * 8).checked_div(width).map_or(8, |whole| whole.min(8));
            let taken = (8 - skipped).min(into.len());
            if skipped + taken > whole {
                return Err(Malformed);
            }
            let (now, later) = into.split_at_mut(taken);
            now.copy_from_slice(group.get(skipped..skipped + taken).ok_or(Malformed)?);
            into = later;
            skipped += taken;
            if skipped == 8 {
                skipped = 0;
                self.at += width;
            }
        }
        Ok(skipped)
    }
}

/// Maximum packed values between runs of one value.
const SHORT_VALUES: usize = 64;

/// Values unpacked at once: 4 bytes per bit of width.
const BLOCK_VALUES: usize = 32;

/// Unpacks whole blocks of values of `width` bits.
fn unpack_blocks(width: u8, packed: &[u8], into: &mut [u32]) {
    Arch::new().dispatch(Unpacking { width, packed, into });
}

/// Compiled for several processor generations and selected at run time.
struct Unpacking<'a> {
    width: u8,
    packed: &'a [u8],
    into: &'a mut [u32],
}

impl WithSimd for Unpacking<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        macro_rules! widths {
            ($($width:literal)*) => {
                match self.width {
                    $($width => unpack_of::<$width>(self.packed, self.into),)*
                    _ => self.into.fill(0),
                }
            };
        }
        widths!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
    }
}

/// Width and number are constants, so a block compiles to shifts by fixed distances, without loops
/// and branches.
#[inline(always)]
fn unpack_of<const WIDTH: usize>(packed: &[u8], into: &mut [u32]) {
    macro_rules! values {
        ($words:ident: $($number:literal)*) => { [$(value::<WIDTH, $number>(&$words)),*] };
    }
    let (quads, _) = packed.as_chunks::<4>();
    let (words, _) = quads.as_chunks::<WIDTH>();
    let (blocks, _) = into.as_chunks_mut::<BLOCK_VALUES>();
    for (words, block) in words.iter().zip(blocks) {
        let words = words.map(u32::from_le_bytes);
        *block = values!(words: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    }
}

/// Extracts a value of a block.
#[expect(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the processor's wide registers"
)]
#[inline(always)]
fn value<const WIDTH: usize, const NUMBER: usize>(words: &[u32; WIDTH]) -> u32 {
    let (word, shift) = (NUMBER * WIDTH / 32, NUMBER * WIDTH % 32);
    let word_of = |word: usize| words.get(word).copied().unwrap_or_default();
    let high = if shift + WIDTH > 32 { word_of(word + 1) << (32 - shift) } else { 0 };
    (word_of(word) >> shift | high) & (u32::MAX >> (32 - WIDTH))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A slow encoder for runs of given kinds and lengths.
    fn encode(width: u8, runs: &[(bool, Vec<u32>)]) -> (Vec<u8>, Vec<u32>) {
        let (mut bytes, mut values) = (Vec::new(), Vec::new());
        let varint = |bytes: &mut Vec<u8>, mut number: usize| {
            while number >= 128 {
                bytes.push(number.to_le_bytes()[0] | 128);
                number /= 128;
            }
            bytes.push(number.to_le_bytes()[0]);
        };
        for (is_packed, run) in runs {
            if *is_packed {
                let padded = run.len().div_ceil(8) * 8;
                varint(&mut bytes, ((padded / 8) << 1) | 1);
                let bits = run.iter().chain(std::iter::repeat(&0)).take(padded);
                let bits: Vec<bool> =
                    bits.flat_map(|value| (0..width).map(move |bit| value >> bit & 1 == 1)).collect();
                bytes.extend(
                    bits.chunks(8)
                        .map(|byte| byte.iter().rev().fold(0, |sum, bit| sum << 1 | u8::from(*bit))),
                );
                values.extend(run.iter().chain(std::iter::repeat(&0)).take(padded));
            } else {
                varint(&mut bytes, run.len() << 1);
                bytes.extend(&run[0].to_le_bytes()[..usize::from(width.div_ceil(8))]);
                values.extend(std::iter::repeat_n(run[0], run.len()));
            }
        }
        (bytes, values)
    }

    #[test]
    fn a_value_wider_than_the_width_is_refused() {
        for (width, value, is_sound) in
            [(1, 1, true), (1, 2, false), (1, 255, false), (3, 7, true), (3, 8, false)]
        {
            let bytes = Bytes::from(vec![4 << 1, value]);
            let sound = |bytes: &Bytes| Hybrid::new(bytes.clone(), width).unwrap();
            assert_eq!(sound(&bytes).fill(&mut [0; 4]).is_ok(), is_sound, "{width} {value}");
            assert_eq!(sound(&bytes).repeated().is_ok(), is_sound, "{width} {value}");
        }
        assert!(Hybrid::new(Bytes::from(vec![2, 255, 255, 255, 255]), 32).unwrap().fill(&mut [0]).is_ok());
    }

    proptest! {
        #[test]
        fn reads_what_was_encoded(
            width in 0_u8..=32,
            runs in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<u32>(), 1..200)), 1..6),
            pieces in prop::collection::vec((any::<bool>(), 1_usize..100), 0..40),
        ) {
            let mask = if width == 0 { 0 } else { u32::MAX >> (32 - width) };
            let runs: Vec<(bool, Vec<u32>)> =
                runs.into_iter().map(|(kind, run)| (kind, run.into_iter().map(|value| value & mask).collect())).collect();
            let (bytes, expected) = encode(width, &runs);
            let mut hybrid = Hybrid::new(bytes.into(), width).unwrap();
            let mut at = 0;
            for (skips, length) in pieces {
                let length = length.min(expected.len() - at);
                let mut got = vec![0; length];
                if skips {
                    hybrid.skip(length).unwrap();
                } else {
                    hybrid.fill(&mut got).unwrap();
                    prop_assert_eq!(&got, &expected[at..at + length]);
                }
                at += length;
            }
            let mut rest = vec![0; expected.len() - at];
            hybrid.fill(&mut rest).unwrap();
            prop_assert_eq!(rest, &expected[at..]);
            prop_assert_eq!(hybrid.fill(&mut [0]), Err(Malformed));
        }

        #[test]
        fn garbage_is_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), width in 0_u8..=32) {
            let mut hybrid = Hybrid::new(bytes.into(), width).unwrap();
            let mut values = vec![0; 300];
            let _ = hybrid.skip(3);
            let _ = hybrid.fill(&mut values);
        }
    }
}
