use super::order::Order;
use super::space::Placement;

/// What makes one staging policy differ from another.
pub(crate) struct StagingConfig {
    pub(crate) placement: Placement,
    pub(crate) order: Box<dyn Order>,
    /// All pages stay in memory until they are home, whatever the options say.
    pub(crate) keeps_memory: bool,
    pub(crate) thresholds: Thresholds,
}

/// When pages are destaged in the background, in parts of the staging area.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thresholds {
    /// Destaging starts when less than 1/this is free; 1: at once.
    pub(crate) starts_below: u64,
    /// It ends when more than 1/this is free.
    pub(crate) ends_above: u64,
    /// Slots are reclaimed when 1/this of the area could be.
    pub(crate) reclaims_at: u64,
}
