use crate::PageNumber;

/// The order in which staged pages go home. It knows each staged page until it handed it out.
pub(crate) trait Order {
    /// A page is staged, or staged again after it was handed out; may be called for a page that is known.
    fn added(&mut self, page: PageNumber);

    /// A page is staged no more, because it was discarded; may be called for a page that is unknown.
    fn removed(&mut self, page: PageNumber);

    /// Pages to destage now, at most so many, which are forgotten thereby; in the order in which they shall be written.
    fn next(&mut self, most: usize) -> Option<Instance>;
}

/// Pages that go home together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instance {
    /// Which decompositor found it, if one did: the place in [`Stats::instances`](crate::Stats::instances).
    pub(crate) pattern: Option<usize>,
    pub(crate) pages: Vec<PageNumber>,
}
