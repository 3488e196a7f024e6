use std::collections::BTreeSet;
use std::ops::Range;

use super::contents::Contents;
use super::recording::Recording;
use super::replay::Replay;
use super::survivors::{PowerCut, Which, choices, survive};

/// What a power cut left on the devices of a recorded run.
#[derive(Debug, Clone)]
pub struct CrashImage {
    /// The power was cut after so many events of the run's [`Sequence`](super::Sequence).
    pub cut: u64,
    /// Which choice of survivors this is.
    pub choice: u32,
    /// What each device holds, in the order in which the recordings were given.
    pub contents: Vec<Contents>,
}

impl CrashImage {
    /// Of one cut and one choice alone: the same image as [`CrashImages`] gives, at the price of playing the
    /// recordings from their start. For looking at a failure again.
    pub fn at(recordings: &[&Recording], power: PowerCut, cut: u64, choice: u32) -> Self {
        let mut replays: Vec<_> = recordings.iter().map(|recording| Replay::new(recording)).collect();
        for replay in &mut replays {
            replay.advance(cut);
        }
        let (_, is_exact) = choices(&replays, power);
        Self::of(&replays, power, Which { cut, choice, is_exact })
    }

    /// The [hashes](Contents::hash) of all devices in one.
    pub fn hash(&self) -> u128 {
        let hashes = self.contents.iter().flat_map(|contents| contents.hash().to_le_bytes());
        xxhash_rust::xxh3::xxh3_128(&hashes.collect::<Vec<_>>())
    }

    fn of(replays: &[Replay<'_>], power: PowerCut, which: Which) -> Self {
        let contents = survive(replays, power, which);
        Self { cut: which.cut, choice: which.choice, contents }
    }
}

/// Every power cut of a run, with some choices of survivors each: first by cut, from the first to the last, then by
/// choice. An image costs what is volatile at its cut, and not what went before or what is on the device.
///
/// Several recordings are of the devices of an array, or of one store on several devices. They share a
/// [`Sequence`](super::Sequence), the power goes off for all of them at once, and each has survivors of its own. No
/// cut leaves out an acknowledged guarantee of one device: the host may have acted on it on another.
///
/// A cut after which nothing happened to these devices until the next is given once.
#[derive(Debug, Clone)]
pub struct CrashImages<'a> {
    replays: Vec<Replay<'a>>,
    power: PowerCut,
    cut: u64,
    end: u64,
    choice: u32,
    /// Choices at this cut.
    choices: u32,
    is_exact: bool,
}

impl<'a> CrashImages<'a> {
    /// All cuts, also before the first event and after the last.
    pub fn new(recordings: &[&'a Recording], power: PowerCut) -> Self {
        let end = recordings.iter().map(|recording| recording.sequence().position()).max().unwrap_or(0);
        debug_assert!(
            recordings
                .windows(2)
                .all(|pair| matches!(pair, [one, next] if one.sequence().is_same(next.sequence()))),
            "devices that lose their power together share a sequence"
        );
        let replays = recordings.iter().map(|recording| Replay::new(recording)).collect();
        let mut images = Self { replays, power, cut: 0, end: end + 1, choice: 0, choices: 0, is_exact: true };
        images.go_to(0);
        images
    }

    /// Only the cuts in a range, so that several threads can share the work. The first of them is given even where
    /// nothing happened just before it.
    #[must_use]
    pub fn within(mut self, cuts: Range<u64>) -> Self {
        self.end = self.end.min(cuts.end);
        self.go_to(self.cut.max(cuts.start));
        self
    }

    /// Leaves out images that were given before with the same contents and the same epoch of their cut.
    ///
    /// The epoch is whatever a check depends on beside the contents, such as how many batches were acknowledged at
    /// the cut. Without it contents that are right before an acknowledgement would hide the same contents after it,
    /// where they are a loss.
    pub fn distinct<E: Ord>(self, epoch: impl Fn(u64) -> E) -> impl Iterator<Item = CrashImage> {
        let mut given = BTreeSet::new();
        self.filter(move |image| given.insert((epoch(image.cut), image.hash())))
    }

    /// Goes to the next cut at which a device has changed.
    fn next_cut(&mut self) {
        self.go_to(self.replays.iter().filter_map(Replay::next_cut).min().unwrap_or(self.end));
    }

    fn go_to(&mut self, cut: u64) {
        debug_assert!(cut >= self.cut, "from cut {} there is no way back to {cut}", self.cut);
        self.cut = cut;
        for replay in &mut self.replays {
            replay.advance(cut);
        }
        self.choice = 0;
        (self.choices, self.is_exact) = choices(&self.replays, self.power);
    }
}

impl Iterator for CrashImages<'_> {
    type Item = CrashImage;

    fn next(&mut self) -> Option<CrashImage> {
        if self.choice == self.choices {
            self.next_cut();
        }
        if self.cut >= self.end || self.choices == 0 {
            return None;
        }
        debug_assert!(self.choice < self.choices, "choice {} of {}", self.choice, self.choices);
        let which = Which { cut: self.cut, choice: self.choice, is_exact: self.is_exact };
        self.choice += 1;
        Some(CrashImage::of(&self.replays, self.power, which))
    }
}
