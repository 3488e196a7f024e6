use crate::PageNumber;

/// Destaging order of staged pages. Holds each staged page until it is handed out.
pub(crate) trait Order {
    /// Adds a staged page. The page may already be present.
    fn added(&mut self, page: PageNumber);

    /// Removes a discarded page. The page may be absent.
    fn removed(&mut self, page: PageNumber);

    /// Removes and returns up to `most` pages to destage, in write order.
    fn next(&mut self, most: usize) -> Option<Instance>;
}

/// Pages to destage together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instance {
    /// Index in [`Stats::instances`](crate::Stats::instances) of the decompositor that found it, if
    /// any.
    pub(crate) pattern: Option<usize>,
    pub(crate) pages: Vec<PageNumber>,
}
