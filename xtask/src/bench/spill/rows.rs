//! Files to sort and to join: lines of 100 bytes.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Outcome;

/// Bytes of a line, including its end.
pub(super) const ROW_BYTES: usize = 100;
const SEED: u64 = 1;
/// Alphabet of the lines.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Prefixes of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keys {
    Random,
    /// An integer of eight bytes in hexadecimal, which sorts correctly as bytes.
    Integers,
    /// Sixty constant letters.
    CommonPrefix,
    Sorted,
    Reversed,
    /// Nine of ten lines are equal.
    MostlyEqual,
}

impl Keys {
    pub(super) const ALL: [Self; 6] =
        [Self::Random, Self::Integers, Self::CommonPrefix, Self::Sorted, Self::Reversed, Self::MostlyEqual];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Random => "random lines",
            Self::Integers => "integers of eight bytes",
            Self::CommonPrefix => "lines that begin alike",
            Self::Sorted => "sorted lines",
            Self::Reversed => "reversed lines",
            Self::MostlyEqual => "lines of which nine in ten are equal",
        }
    }

    /// Writes a file of `rows` lines.
    pub(super) fn write(self, path: &Path, rows: u64) -> Outcome {
        write_lines(path, rows, SEED, |text, row, random| self.begin(text, row, rows, random))
    }

    fn begin(self, text: &mut [u8], row: u64, rows: u64, random: &mut Xoshiro256PlusPlus) {
        let number = match self {
            Self::Sorted => row,
            Self::Reversed => rows - row,
            Self::Random => return,
            Self::Integers => {
                let digits = format!("{:016x}", random.random::<u64>());
                return text.iter_mut().zip(digits.bytes()).for_each(|(into, digit)| *into = digit);
            }
            Self::CommonPrefix => return text.iter_mut().take(60).for_each(|byte| *byte = b'a'),
            Self::MostlyEqual if random.random_range(0..10) == 0 => return,
            Self::MostlyEqual => return text.fill(b'm'),
        };
        let digits = format!("{number:020}");
        text.iter_mut().zip(digits.bytes()).for_each(|(into, digit)| *into = digit);
    }
}

/// Keys of a joined table: numbers below its row count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JoinKeys {
    /// Each number once, in random order.
    EachOnce,
    Random,
    /// Half of them 0, the others random.
    HalfAlike,
}

impl JoinKeys {
    /// Writes a file of `rows` lines: a key of eight digits, a comma, and letters.
    pub(super) fn write(self, path: &Path, rows: u64) -> Outcome {
        let rows = rows.max(1);
        write_lines(path, rows, SEED + self as u64, |text, row, random| {
            let key = match self {
                // A prime above the count generates each number once.
                Self::EachOnce => row * FACTOR % rows,
                Self::HalfAlike if random.random() => 0,
                Self::Random | Self::HalfAlike => random.random_range(0..rows),
            };
            let begin = format!("{key:08},");
            text.iter_mut().zip(begin.bytes()).for_each(|(into, byte)| *into = byte);
        })
    }
}

/// A prime above any row count with keys of eight digits.
const FACTOR: u64 = 2_654_435_761;

fn write_lines(
    path: &Path,
    rows: u64,
    seed: u64,
    mut begin: impl FnMut(&mut [u8], u64, &mut Xoshiro256PlusPlus),
) -> Outcome {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut line = [b'\n'; ROW_BYTES];
    for row in 0..rows {
        let text = line.get_mut(..ROW_BYTES - 1).unwrap_or_default();
        fill(text, &mut random);
        begin(text, row, &mut random);
        file.write_all(&line)?;
    }
    file.into_inner().map_err(|error| error.to_string())?.sync_all()?;
    Ok(())
}

fn fill(text: &mut [u8], random: &mut Xoshiro256PlusPlus) {
    for letters in text.chunks_mut(10) {
        let mut bits: u64 = random.random();
        for letter in letters {
            *letter =
                LETTERS.get(usize::try_from(bits % 64).unwrap_or_default()).copied().unwrap_or_default();
            bits /= 64;
        }
    }
}
