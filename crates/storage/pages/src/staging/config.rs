use super::order::Order;
use super::space::Placement;

/// Parameters that distinguish the staging policies.
pub(crate) struct StagingConfig {
    pub(crate) placement: Placement,
    pub(crate) order: Box<dyn Order>,
    /// Keeps all pages in memory until they are destaged, regardless of the options.
    pub(crate) keeps_memory: bool,
    pub(crate) thresholds: Thresholds,
}

/// Thresholds of background destaging, as fractions of the staging area.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thresholds {
    /// Destaging starts when less than 1/`starts_below` is free; 1 starts at once.
    pub(crate) starts_below: u64,
    /// Destaging ends when more than 1/`ends_above` is free.
    pub(crate) ends_above: u64,
    /// Slots are reclaimed when 1/`reclaims_at` of the area is reclaimable.
    pub(crate) reclaims_at: u64,
}
