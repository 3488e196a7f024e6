//! Possible mistakes of a store, seeded to verify that the crash tests catch them. Each has a
//! one-line hook at the place of the mistake. Without the feature `defects`, which only those tests
//! enable, the hooks are constants and are compiled away.
#![cfg_attr(
    not(feature = "defects"),
    expect(unreachable_pub, dead_code, reason = "only the crash tests seed defects")
)]

/// A mistake that can be seeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// A commit is acknowledged without a flush.
    SkippedFlush,
    /// A header counts without its pages.
    PagesUnchecked,
    /// A group of batches counts without its end.
    HalfGroups,
    /// Extents count behind a missing one.
    GapsAccepted,
    /// Remains of an interrupted opening count again.
    EpochIgnored,
    /// Slots are freed before the flush that makes their pages durable at home.
    UnflushedHomes,
    /// Slots are reused before the ledger that frees them is durable.
    LedgerUnflushed,
    /// The slot of a rewritten page is reused immediately.
    LiveSlotReused,
    /// The older of two slots with one destination wins.
    OldestWins,
    /// Every ledger overwrites the previous one.
    LedgerInPlace,
    /// Pages are destaged before their batch is durable.
    HomeBeforeDurable,
    /// The slot of a discarded page is never declared dead.
    DiscardKeepsSlot,
    /// A slot is declared dead before the newer version is durable.
    DeadTooEarly,
    /// A failed flush counts as successful.
    FailedFlushForgotten,
    /// Checksums cover only the first sector of a page.
    PartialChecksum,
    /// An opening treats volatile extents as durable.
    TailTrusted,
    /// A renewal counts before it is durable.
    RenewalUnflushed,
    /// A ledger names unflushed checksums of home pages.
    SumsUnflushed,
    /// An opening reads chunks of checksums without later entries in the log.
    SumsLogIgnored,
    /// A growth counts before it is durable.
    GrowthUnflushed,
    /// A growth overwrites both of only two copies of the label concurrently.
    LabelsTogether,
    /// The label is written before the rest of a new store is durable.
    LabelFirst,
    /// Direct writes of pages that recovery finds in the staging area.
    HeldForgotten,
    /// Direct writes before the dead slots of their pages are durable.
    DeadSlotsNotPersisted,
    /// Direct writes aren't flushed before staging resumes.
    StraightUnflushed,
    /// Cleaning moves a page although a newer version was written meanwhile.
    StaleMove,
    /// A zone with a live page is freed.
    LiveZoneFreed,
    /// An opening reports an earlier batch than the last one present.
    BatchNumbersGoBack,
    /// A read of many pages counts although a batch changed one of them meanwhile.
    ManyOfSeveralStates,
    /// The exchange of names in a conversion isn't synced.
    ConversionUnsynced,
    /// The header is written in an earlier group than its batch.
    HeaderApart,
    /// Zones added by a growth are written before a durable ledger includes them.
    ZonesTooEarly,
    /// Clients use the zone that cleaning needs to proceed.
    ReserveTooSmall,
}

impl Defect {
    /// Defects of policies with a staging area.
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

    /// Defects of growth under any policy.
    pub const OF_GROWTH: [Self; 2] = [Self::GrowthUnflushed, Self::LabelsTogether];

    /// Defects of growth under `out-of-place`.
    pub const OF_ZONE_GROWTH: [Self; 1] = [Self::ZonesTooEarly];

    /// Defects that only reads of many pages reveal.
    pub const OF_READ_MANY: [Self; 1] = [Self::ManyOfSeveralStates];

    /// Defects that only a store with several chunks of checksums reveals.
    pub const OF_CHUNKS: [Self; 1] = [Self::SumsLogIgnored];

    /// Defects of `auto` when it changes its way.
    pub const OF_AUTO: [Self; 3] =
        [Self::HeldForgotten, Self::DeadSlotsNotPersisted, Self::StraightUnflushed];

    /// Defects of `out-of-place`, with zones in place of slots.
    /// [`ReserveTooSmall`](Self::ReserveTooSmall) loses nothing, but wedges the store.
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

    /// Returns true if the defect is seeded in this thread.
    #[cfg(feature = "defects")]
    pub(crate) fn is_seeded(self) -> bool {
        SEEDED.get() == Some(self)
    }

    /// Always false without the feature.
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

/// Seeds a defect, or none, in all stores of this thread.
#[cfg(feature = "defects")]
pub fn seed_defect(defect: Option<Defect>) {
    SEEDED.set(defect);
}
