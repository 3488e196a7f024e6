//! Volatile writes that survive a power cut: the choices of the [fault model](super::faults).

use super::contents::Contents;
use super::dice::Dice;
use super::page::Page;
use super::pattern::{Member, Pattern};
use super::replay::{Replay, Version};

/// Parameters of a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PowerCut {
    /// Seed of all random choices.
    pub seed: u64,
    /// Limit of choices at each cut. If blocks don't tear and there are no more ways to survive
    /// than this, each way is taken once; with no volatile data that is one. Otherwise the first
    /// choice keeps nothing volatile, and the second the last write of everything. In an array, the
    /// third and fourth keep everything on every other device and nothing on the rest. Further ones
    /// are random.
    pub choices: u32,
    /// Granularity of torn writes.
    pub tearing: Tearing,
}

/// Granularity at which an unflushed write may tear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tearing {
    /// Between logical blocks.
    #[default]
    BetweenBlocks,
    /// Within blocks as well. In random choices, one in eight surviving blocks is partly new and
    /// partly old, or garbage.
    InsideBlocks,
}

impl PowerCut {
    /// Two choices at each cut, nothing and everything, and no torn blocks.
    pub fn seeded(seed: u64) -> Self {
        Self { seed, choices: 2, tearing: Tearing::default() }
    }
}

/// Coordinates of a power cut.
#[derive(Debug, Clone, Copy)]
pub(super) struct Which {
    pub(super) cut: u64,
    pub(super) choice: u32,
    /// True if the choices enumerate all ways to survive.
    pub(super) is_exact: bool,
}

/// Number of choices at a cut, and true if they are exhaustive.
pub(super) fn choices(replays: &[Replay<'_>], power: PowerCut) -> (u32, bool) {
    let versions = replays.iter().flat_map(|replay| replay.volatile.values());
    let mut ways = 1_u32;
    for versions in versions {
        debug_assert!(!versions.is_empty(), "a block without volatile versions is not listed");
        ways = ways.saturating_mul(crate::flash::units::saturating_u32(1 + versions.len() as u64));
        let tears = power.tearing == Tearing::InsideBlocks;
        if ways > power.choices || tears {
            return (power.choices, false);
        }
    }
    debug_assert!(ways >= 1, "there is always a way to survive");
    (ways.min(power.choices), true)
}

/// Contents of each device after the power cut. If all ways are enumerated, choices beyond them
/// repeat.
pub(super) fn survive(replays: &[Replay<'_>], power: PowerCut, which: Which) -> Vec<Contents> {
    let devices = replays.len();
    debug_assert!(which.choice < power.choices, "{which:?} of {power:?}");
    let dice = Dice::new(power.seed).of(which.cut).of(u64::from(which.choice));
    let mut digits = which.choice;
    let mut contents = Vec::with_capacity(devices);
    for (device, replay) in replays.iter().enumerate() {
        let dice = dice.of(device as u64);
        let mut pattern = if which.is_exact {
            Pattern::Exactly { digits }
        } else {
            Pattern::choose(replay, which.choice, Member { device, devices }, dice)
        };
        let tears = power.tearing == Tearing::InsideBlocks && which.choice >= 2;
        contents.push(survive_one(replay, &mut pattern, tears, dice));
        if let Pattern::Exactly { digits: left } = pattern {
            digits = left;
        }
    }
    debug_assert_eq!(contents.len(), devices, "each device holds something");
    contents
}

fn survive_one(replay: &Replay<'_>, pattern: &mut Pattern, tears: bool, dice: Dice) -> Contents {
    let mut contents = replay.durable.clone();
    if matches!(pattern, Pattern::Nothing) {
        return contents;
    }
    for (&block, versions) in &replay.volatile {
        let Some(version) = pattern.pick(block, versions, dice) else { continue };
        debug_assert!(
            versions.iter().any(|other| std::ptr::eq(other, version)),
            "what survives in block {block} was on its way there"
        );
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
    let at = dice.of(1).index(block_bytes);
    Page::torn(version.page.as_ref(), durable.page(block), at, block_bytes)
}
