//! Which volatile writes survive a power cut: the choices of the [fault model](super::faults).

use super::contents::Contents;
use super::dice::Dice;
use super::page::Page;
use super::replay::{Replay, Version};

/// How the power is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PowerCut {
    /// All chance depends on it.
    pub seed: u64,
    /// Choices of survivors at each cut. Where there are no more than these without torn blocks, and blocks don't tear,
    /// each of them is made, once; where nothing is volatile, that is one. Otherwise the first choice is that nothing
    /// volatile survives, the second that the last write of everything does, and with an array the third and the
    /// fourth that nothing does on every other device and everything on the rest; further ones are drawn.
    pub choices: u32,
    /// Whether blocks tear.
    pub tearing: Tearing,
}

/// Where an unflushed write may tear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tearing {
    /// Between logical blocks.
    #[default]
    BetweenBlocks,
    /// Inside them as well: one in eight of the blocks of drawn choices that would survive is half new and half old,
    /// or garbage.
    InsideBlocks,
}

impl PowerCut {
    /// Two choices at each cut, nothing and everything, and no torn blocks.
    pub fn seeded(seed: u64) -> Self {
        Self { seed, choices: 2, tearing: Tearing::default() }
    }
}

/// Which of many power cuts this is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Which {
    pub(super) cut: u64,
    pub(super) choice: u32,
    /// There are as many choices as ways to survive, and each choice is one of these.
    pub(super) is_exact: bool,
}

/// A device among those that lose their power together.
#[derive(Debug, Clone, Copy)]
struct Place {
    device: usize,
    devices: usize,
}

/// How many choices are made at a cut, and whether these are all there are.
pub(super) fn choices(replays: &[Replay<'_>], power: PowerCut) -> (u32, bool) {
    let versions = replays.iter().flat_map(|replay| replay.volatile.values());
    let mut ways = 1_u32;
    for versions in versions {
        ways = ways.saturating_mul(u32::try_from(1 + versions.len()).unwrap_or(u32::MAX));
        let tears = power.tearing == Tearing::InsideBlocks;
        if ways > power.choices || tears {
            return (power.choices, false);
        }
    }
    (ways.min(power.choices), true)
}

/// How the survivors hang together. Writes are numbered in the order of submission.
#[derive(Debug, Clone, Copy)]
enum Pattern {
    /// The digits of this number, each to the base of a block's versions and one, say which of them.
    Exactly {
        digits: u32,
    },
    Nothing,
    Everything,
    /// All writes before this one, and its blocks before `torn_at`.
    InOrder {
        last: u32,
        torn_at: u64,
    },
    /// This write and later ones.
    Latest {
        first: u32,
    },
    /// Each operation by itself, so often.
    Operations {
        per_million: u32,
    },
    /// Each block by itself, and any of its writes, so often.
    Blocks {
        per_million: u32,
    },
    /// Each region of so many blocks by itself.
    Regions {
        blocks: u64,
    },
}

/// What each device holds after the power cut.
pub(super) fn survive(replays: &[Replay<'_>], power: PowerCut, which: Which) -> Vec<Contents> {
    let devices = replays.len();
    let dice = Dice::new(power.seed).of(which.cut).of(u64::from(which.choice));
    let mut digits = which.choice;
    let mut contents = Vec::with_capacity(devices);
    for (device, replay) in replays.iter().enumerate() {
        let dice = dice.of(device as u64);
        let mut pattern = if which.is_exact {
            Pattern::Exactly { digits }
        } else {
            Pattern::choose(replay, which.choice, Place { device, devices }, dice)
        };
        let tears = power.tearing == Tearing::InsideBlocks && which.choice >= 2;
        contents.push(survive_one(replay, &mut pattern, tears, dice));
        if let Pattern::Exactly { digits: left } = pattern {
            digits = left;
        }
    }
    contents
}

fn survive_one(replay: &Replay<'_>, pattern: &mut Pattern, tears: bool, dice: Dice) -> Contents {
    let mut contents = replay.durable.clone();
    if matches!(pattern, Pattern::Nothing) {
        return contents;
    }
    for (&block, versions) in &replay.volatile {
        let Some(version) = pattern.pick(block, versions, dice) else { continue };
        let dice = dice.of(6).of(block);
        let page = if tears && dice.of(1).below(8) == 0 {
            Some(tear(&replay.durable, block, version, dice.of(2)))
        } else {
            version.page.clone()
        };
        contents.set(block, page);
    }
    contents
}

fn tear(durable: &Contents, block: u64, version: &Version, dice: Dice) -> Page {
    let block_bytes = durable.block_bytes();
    if dice.coin() {
        return Page::garbage(dice, block_bytes);
    }
    let at = usize::try_from(dice.of(1).below(block_bytes as u64)).unwrap_or(0);
    Page::torn(version.page.as_ref(), durable.page(block), at, block_bytes)
}

impl Pattern {
    fn choose(replay: &Replay<'_>, choice: u32, place: Place, dice: Dice) -> Self {
        let odd = place.device % 2 == 1;
        match choice {
            0 => Self::Nothing,
            1 => Self::Everything,
            2 | 3 if place.devices > 1 && odd == (choice == 2) => Self::Everything,
            2 | 3 if place.devices > 1 => Self::Nothing,
            _ => Self::draw(replay, dice),
        }
    }

    fn draw(replay: &Replay<'_>, dice: Dice) -> Self {
        let per_million = [100_000, 500_000, 900_000];
        let often = usize::try_from(dice.of(2).below(3)).ok().and_then(|index| per_million.get(index));
        let per_million = often.copied().unwrap_or(500_000);
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
        let effects = replay.recording.writes.get(last as usize);
        let blocks = effects.map(|effects| effects.iter().map(|(block, _)| *block));
        let Some((first, end)) = blocks.and_then(|mut blocks| {
            let first = blocks.next()?;
            Some((first, blocks.next_back().unwrap_or(first) + 1))
        }) else {
            return Self::Nothing;
        };
        Self::InOrder { last, torn_at: first + 1 + dice.of(1).below(end - first) }
    }

    /// The version of a block that survives, if any. Exact digits are used up.
    fn pick<'a>(&mut self, block: u64, versions: &'a [Version], dice: Dice) -> Option<&'a Version> {
        let last = versions.last();
        // What is drawn for an operation or a region is the same for all its blocks.
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
                let any = usize::try_from(own.of(0).below(versions.len() as u64)).ok()?;
                versions.get(any).filter(|_| own.of(1).per_million(per_million))
            }
            Self::Regions { blocks } => last.filter(|_| shared(block / blocks).coin()),
        }
    }
}

/// Takes the lowest digit off: 0 is old, others are versions.
fn next_digit<'a>(digits: &mut u32, versions: &'a [Version]) -> Option<&'a Version> {
    let base = u32::try_from(1 + versions.len()).unwrap_or(u32::MAX);
    let digit = *digits % base;
    *digits /= base;
    versions.get(digit.checked_sub(1)? as usize)
}

/// One of the writes that have volatile blocks.
fn draw_write(replay: &Replay<'_>, dice: Dice) -> Option<u32> {
    let blocks = replay.volatile.len() as u64;
    let nth = usize::try_from(dice.below(blocks)).ok()?;
    let versions = replay.volatile.values().nth(nth)?;
    let any = usize::try_from(dice.of(1).below(versions.len() as u64)).ok()?;
    versions.get(any).map(|version| version.write)
}
