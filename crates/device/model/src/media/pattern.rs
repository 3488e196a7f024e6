//! Correlation between the survivors of a power cut.

use super::dice::Dice;
use super::replay::{Replay, Version};

/// Pattern of volatile writes that survive. Writes are numbered in the order of submission.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pattern {
    /// Mixed-radix number with a digit for each block that selects its version. A digit's base is
    /// one more than the block's versions.
    Exactly {
        digits: u32,
    },
    Nothing,
    Everything,
    /// All writes before `last`, and the blocks of `last` before `torn_at`.
    InOrder {
        last: u32,
        torn_at: u64,
    },
    /// Writes from `first` on.
    Latest {
        first: u32,
    },
    /// Each operation independently, with this probability.
    Operations {
        per_million: u32,
    },
    /// Any one write of each block, independently, with this probability.
    Blocks {
        per_million: u32,
    },
    /// Each region of `blocks` independently.
    Regions {
        blocks: u64,
    },
}

/// Position among the devices that lose power together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    pub(super) device: usize,
    pub(super) devices: usize,
}

impl Pattern {
    pub(super) fn choose(replay: &Replay<'_>, choice: u32, member: Member, dice: Dice) -> Self {
        let odd = member.device % 2 == 1;
        match choice {
            0 => Self::Nothing,
            1 => Self::Everything,
            2 | 3 if member.devices > 1 && odd == (choice == 2) => Self::Everything,
            2 | 3 if member.devices > 1 => Self::Nothing,
            _ => Self::draw(replay, dice),
        }
    }

    fn draw(replay: &Replay<'_>, dice: Dice) -> Self {
        let per_million = match dice.of(2).below(3) {
            0 => 100_000,
            1 => 500_000,
            _ => 900_000,
        };
        match dice.of(3).below(8) {
            0 | 1 => Self::in_order(replay, dice.of(4)),
            2 => draw_write(replay, dice.of(4)).map_or(Self::Nothing, |first| Self::Latest { first }),
            3 | 4 => Self::Operations { per_million },
            5 | 6 => Self::Blocks { per_million },
            _ => Self::Regions { blocks: 2 << dice.of(4).below(7) },
        }
    }

    fn in_order(replay: &Replay<'_>, dice: Dice) -> Self {
        let Some(last) = draw_write(replay, dice) else { return Self::Nothing };
        let effects = replay.effects(last);
        debug_assert!(!effects.is_empty(), "write {last} has volatile blocks");
        let (Some((first, _)), Some((end, _))) = (effects.first(), effects.last()) else {
            return Self::Nothing;
        };
        Self::InOrder { last, torn_at: first + 1 + dice.of(1).below(end + 1 - first) }
    }

    /// Version of a block that survives, if any. Consumes a digit of `Exactly`.
    pub(super) fn pick<'a>(
        &mut self,
        block: u64,
        versions: &'a [Version],
        dice: Dice,
    ) -> Option<&'a Version> {
        let last = versions.last();
        // An operation or region has one draw for all its blocks.
        let shared = |number: u64| dice.of(5).of(number);
        let own = dice.of(1).of(block);
        match *self {
            Self::Exactly { ref mut digits } => next_digit(digits, versions),
            Self::Nothing => None,
            Self::Everything => last,
            Self::InOrder { last, torn_at } => versions
                .iter()
                .rfind(|version| version.write < last || (version.write == last && block < torn_at)),
            Self::Latest { first } => last.filter(|version| version.write >= first),
            Self::Operations { per_million } => {
                versions.iter().rfind(|version| shared(u64::from(version.write)).per_million(per_million))
            }
            Self::Blocks { per_million } => {
                let any = own.of(0).index(versions.len());
                versions.get(any).filter(|_| own.of(1).per_million(per_million))
            }
            Self::Regions { blocks } => last.filter(|_| shared(block / blocks).coin()),
        }
    }
}

/// Removes the lowest digit: 0 is old, others are versions.
fn next_digit<'a>(digits: &mut u32, versions: &'a [Version]) -> Option<&'a Version> {
    #[expect(clippy::cast_possible_truncation, reason = "asserted")]
    let base = 1 + versions.len() as u32;
    debug_assert!(base as usize == 1 + versions.len(), "digits are counted for fewer choices than that");
    let digit = *digits % base;
    *digits /= base;
    versions.get(digit.checked_sub(1)? as usize)
}

/// Draws one of the writes with volatile blocks.
fn draw_write(replay: &Replay<'_>, dice: Dice) -> Option<u32> {
    let versions = replay.volatile.values().nth(dice.index(replay.volatile.len()))?;
    debug_assert!(!versions.is_empty(), "a block without volatile versions is not listed");
    versions.get(dice.of(1).index(versions.len())).map(|version| version.write)
}
