use std::collections::BTreeSet;
use std::ops::Range;

use super::contents::Contents;
use super::recording::Recording;
use super::replay::Replay;
use super::survivors::{PowerCut, Which, choices, survive};

/// Contents of the devices of a recorded run after a power cut.
#[derive(Debug, Clone)]
pub struct CrashImage {
    /// Events of the run's [`Sequence`](super::Sequence) before the power cut.
    pub cut: u64,
    /// Number of the choice of survivors.
    pub choice: u32,
    /// Contents of each device, in the order of the recordings.
    pub contents: Vec<Contents>,
}

impl CrashImage {
    /// Image of a single cut and choice, equal to that of [`CrashImages`]. It replays the
    /// recordings from their start. For reproducing a failure.
    pub fn at(recordings: &[&Recording], power: PowerCut, cut: u64, choice: u32) -> Self {
        let mut replays: Vec<_> = recordings.iter().map(|recording| Replay::new(recording)).collect();
        for replay in &mut replays {
            replay.advance(cut);
        }
        let (_, is_exact) = choices(&replays, power);
        Self::of(&replays, power, Which { cut, choice, is_exact })
    }

    /// Hash of all devices' [hashes](Contents::hash).
    pub fn hash(&self) -> u128 {
        let hashes = self.contents.iter().flat_map(|contents| contents.hash().to_le_bytes());
        xxhash_rust::xxh3::xxh3_128(&hashes.collect::<Vec<_>>())
    }

    fn of(replays: &[Replay<'_>], power: PowerCut, which: Which) -> Self {
        let contents = survive(replays, power, which);
        Self { cut: which.cut, choice: which.choice, contents }
    }
}

/// Every power cut of a run, each with some choices of survivors, ordered by cut, then by choice.
/// The cost of an image depends on the volatile data at its cut, not on the history or the device's
/// size.
///
/// Several recordings belong to the devices of an array, or to one store on several devices. They
/// share a [`Sequence`](super::Sequence) and lose power at once, but their survivors are
/// independent. No cut drops an acknowledged guarantee of one device, since the host may have acted
/// on it on another.
///
/// Cuts between which nothing happened to these devices yield one set of images.
#[derive(Debug, Clone)]
pub struct CrashImages<'a> {
    replays: Vec<Replay<'a>>,
    power: PowerCut,
    cut: u64,
    end: u64,
    choice: u32,
    /// Number of choices at this cut.
    choices: u32,
    is_exact: bool,
}

impl<'a> CrashImages<'a> {
    /// All cuts, including before the first event and after the last.
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

    /// Limits the cuts to a range, so that several threads can share the work. The first cut of the
    /// range is included even if no event precedes it directly.
    #[must_use]
    pub fn within(mut self, cuts: Range<u64>) -> Self {
        self.end = self.end.min(cuts.end);
        self.go_to(self.cut.max(cuts.start));
        self
    }

    /// Skips images whose contents and epoch have occurred before.
    ///
    /// The epoch is any state besides the contents that a check depends on, such as the number of
    /// batches acknowledged at the cut. Without it, valid contents before an acknowledgement would
    /// hide the same contents after it, where they are a loss.
    pub fn distinct<E: Ord>(self, epoch: impl Fn(u64) -> E) -> impl Iterator<Item = CrashImage> {
        let mut given = BTreeSet::new();
        self.filter(move |image| given.insert((epoch(image.cut), image.hash())))
    }

    /// Advances to the next cut at which a device has changed.
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
