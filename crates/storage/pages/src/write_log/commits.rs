use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use super::context::Context;

/// Counts the groups that commits wait for. While the maximum is in flight, later commits gather in
/// memory. Once one group is durable, a waiting commit sends the gathered changes of all.
pub(super) struct CommitGroups {
    context: Rc<Context>,
    most: Cell<usize>,
    under_way: Cell<usize>,
    newest: RefCell<Weak<CommitGroup>>,
}

/// Group in flight, held while a commit waits for it.
pub(super) struct CommitGroup(Rc<CommitGroups>);

impl CommitGroups {
    /// Starts without a limit until one is [set](Self::set_most).
    pub(super) fn new(context: &Rc<Context>) -> Rc<Self> {
        let (most, under_way, newest) = (Cell::new(usize::MAX), Cell::default(), RefCell::default());
        Rc::new(Self { context: Rc::clone(context), most, under_way, newest })
    }

    /// Sets the maximum number of groups in flight.
    pub(super) fn set_most(&self, groups: usize) {
        debug_assert!(groups > 0, "a commit needs a group");
        self.most.set(groups);
    }

    pub(super) fn may_begin(&self) -> bool {
        self.under_way.get() < self.most.get()
    }

    pub(super) fn begin(self: &Rc<Self>) -> Rc<CommitGroup> {
        debug_assert!(self.may_begin(), "{} groups are on their way", self.under_way.get());
        self.under_way.update(|groups| groups + 1);
        let group = Rc::new(CommitGroup(Rc::clone(self)));
        *self.newest.borrow_mut() = Rc::downgrade(&group);
        group
    }

    /// Newest group, if a commit still waits for it.
    pub(super) fn newest(&self) -> Option<Rc<CommitGroup>> {
        self.newest.borrow().upgrade()
    }
}

impl Drop for CommitGroup {
    fn drop(&mut self) {
        let CommitGroups { context, under_way, .. } = &*self.0;
        debug_assert!(under_way.get() > 0, "a group counts itself");
        under_way.update(|groups| groups - 1);
        context.changed.notify();
    }
}
