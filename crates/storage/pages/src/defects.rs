//! Mistakes that a store like this one could make, to be seeded where the crash tests want to know whether they would be
//! caught. Each has a hook of one line where the mistake would be. Without the feature `defects`, which only those tests
//! turn on, the hooks are constants and nothing is left of them.
#![cfg_attr(
    not(feature = "defects"),
    expect(unreachable_pub, dead_code, reason = "only the crash tests seed defects")
)]

/// A mistake that can be seeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// A commit is acknowledged without a flush.
    SkippedFlush,
    /// A header counts although its pages aren't there.
    PagesUnchecked,
    /// A group of batches counts although its end isn't there.
    HalfGroups,
    /// Extents count although one before them is missing.
    GapsAccepted,
    /// What an earlier opening cut off counts again.
    EpochIgnored,
    /// Slots are given back before the flush that makes their pages durable at home.
    UnflushedHomes,
    /// Slots are used again before the ledger that frees them is durable.
    LedgerUnflushed,
    /// The slot of a page that is written again is used at once.
    LiveSlotReused,
    /// Of two slots with one destination the older one wins.
    OldestWins,
    /// Every ledger overwrites the one before.
    LedgerInPlace,
    /// Pages go home before their batch is durable.
    HomeBeforeDurable,
    /// The slot of a discarded page is never called dead.
    DiscardKeepsSlot,
    /// A slot is called dead before the newer version is durable.
    DeadTooEarly,
    /// A failed flush passes for one that succeeded.
    FailedFlushForgotten,
    /// Checksums cover the first sector of a page.
    PartialChecksum,
    /// An opening takes for durable what may never have been.
    TailTrusted,
    /// What an opening writes once more counts before it is durable.
    RenewalUnflushed,
    /// A ledger names checksums of home pages that aren't flushed.
    SumsUnflushed,
    /// An opening takes chunks of checksums as they were written last, without what the log tells since.
    SumsLogIgnored,
    /// A growth counts before it is durable.
    GrowthUnflushed,
    /// A store has two copies of the label, and a growth overwrites both at the same time.
    LabelsTogether,
    /// The label is written before the rest of a new store is durable.
    LabelFirst,
    /// Pages go straight home although recovery finds them in the staging area.
    HeldForgotten,
    /// Pages go straight home before it is durable that their slots are dead.
    DeadSlotsNotPersisted,
    /// What went straight home isn't flushed before the staging area is taken again.
    StraightUnflushed,
    /// Cleaning moves what it read although a newer version was written meanwhile.
    StaleMove,
    /// A zone is given back with a page alive in it.
    LiveZoneFreed,
    /// An opening says the number of an earlier batch than the last one that is there.
    BatchNumbersGoBack,
    /// A read of many counts although a batch has changed one of its pages meanwhile.
    ManyOfSeveralStates,
    /// The names that a conversion exchanges aren't synced.
    ConversionUnsynced,
    /// The header is written in a group before that of its batch.
    HeaderApart,
    /// The zones of a growth are written to before a durable ledger has them.
    ZonesTooEarly,
    /// Clients take the zone without which cleaning can't go on.
    ReserveTooSmall,
}

impl Defect {
    /// Those that the policies with a staging area could have.
    pub const OF_STAGING: [Self; 21] = [
        Self::SkippedFlush,
        Self::PagesUnchecked,
        Self::HalfGroups,
        Self::GapsAccepted,
        Self::EpochIgnored,
        Self::UnflushedHomes,
        Self::LedgerUnflushed,
        Self::LiveSlotReused,
        Self::OldestWins,
        Self::LedgerInPlace,
        Self::HomeBeforeDurable,
        Self::DiscardKeepsSlot,
        Self::DeadTooEarly,
        Self::FailedFlushForgotten,
        Self::PartialChecksum,
        Self::TailTrusted,
        Self::RenewalUnflushed,
        Self::SumsUnflushed,
        Self::LabelFirst,
        Self::BatchNumbersGoBack,
        Self::HeaderApart,
    ];

    /// Those that a store could have that grows, whatever its policy.
    pub const OF_GROWTH: [Self; 2] = [Self::GrowthUnflushed, Self::LabelsTogether];

    /// Those that a growth of `out-of-place` could have.
    pub const OF_ZONE_GROWTH: [Self; 1] = [Self::ZonesTooEarly];

    /// Those that only reads of many pages show.
    pub const OF_READ_MANY: [Self; 1] = [Self::ManyOfSeveralStates];

    /// Those that only a store with several chunks of checksums could have.
    pub const OF_CHUNKS: [Self; 1] = [Self::SumsLogIgnored];

    /// Those that `auto` could have when it changes its way.
    pub const OF_AUTO: [Self; 3] =
        [Self::HeldForgotten, Self::DeadSlotsNotPersisted, Self::StraightUnflushed];

    /// Those that `out-of-place` could have; its slots are zones. [`ReserveTooSmall`](Self::ReserveTooSmall) loses nothing, but the
    /// store wedges.
    pub const OF_OUT_OF_PLACE: [Self; 17] = [
        Self::SkippedFlush,
        Self::PagesUnchecked,
        Self::HalfGroups,
        Self::GapsAccepted,
        Self::EpochIgnored,
        Self::LedgerUnflushed,
        Self::OldestWins,
        Self::DeadTooEarly,
        Self::FailedFlushForgotten,
        Self::PartialChecksum,
        Self::TailTrusted,
        Self::RenewalUnflushed,
        Self::LabelFirst,
        Self::StaleMove,
        Self::LiveZoneFreed,
        Self::BatchNumbersGoBack,
        Self::HeaderApart,
    ];

    /// Whether it is seeded in this thread.
    #[cfg(feature = "defects")]
    pub(crate) fn is_seeded(self) -> bool {
        SEEDED.get() == Some(self)
    }

    /// It never is.
    #[cfg(not(feature = "defects"))]
    #[expect(clippy::unused_self, reason = "the same signature as with the feature")]
    pub(crate) const fn is_seeded(self) -> bool {
        false
    }
}

#[cfg(feature = "defects")]
thread_local! {
    static SEEDED: std::cell::Cell<Option<Defect>> = const { std::cell::Cell::new(None) };
}

/// Seeds a defect in all stores of this thread, or none.
#[cfg(feature = "defects")]
pub fn seed_defect(defect: Option<Defect>) {
    SEEDED.set(defect);
}
