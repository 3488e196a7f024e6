use std::rc::Rc;

use nandle_io::{Arena, Buffer, BufferMut};

use super::format;
use super::space::Slot;
use crate::disk::Disk;
use crate::home::Home;
use crate::label::Label;
use crate::policy::Parts;
use crate::signal::Signal;
use crate::{OpenOptions, PageError, PageNumber};

/// The store that the owners of a staging area's state work for.
pub(super) struct Context {
    pub(super) home: Rc<Home>,
    pub(super) disk: Rc<Disk>,
    pub(super) label: Label,
    pub(super) options: OpenOptions,
    /// For pages on their way home; the clients' memory is another.
    pub(super) arena: Arena,
    /// Something that others may wait for is different, whoever owns it.
    pub(super) changed: Signal,
}

impl Context {
    pub(super) fn new(parts: Parts) -> Rc<Self> {
        let Parts { home, options, arena } = parts;
        let (disk, label) = (Rc::clone(home.disk()), home.label().clone());
        Rc::new(Self { home, disk, label, options, arena, changed: Signal::default() })
    }

    /// Waits until something is so; an error if the store stops meanwhile.
    pub(super) async fn wait_until(&self, is_so: impl Fn() -> bool) -> Result<(), PageError> {
        let is_over = || is_so() || self.disk.check_writable().is_err();
        self.changed.wait(|| is_over().then_some(())).await;
        self.disk.check_writable()
    }

    /// See [`format::largest_group`].
    pub(super) fn largest_group(&self) -> usize {
        format::largest_group(&self.label)
    }

    /// Where a slot begins on the device.
    pub(super) fn offset_of(&self, slot: Slot) -> u64 {
        self.label.offset_of(slot.block(self.label.page_blocks()))
    }

    pub(super) async fn read_slot(&self, slot: Slot, into: BufferMut) -> Result<Buffer, PageError> {
        self.disk.read("reading a staged page", self.offset_of(slot), into).await
    }
}

pub(super) fn staged_damage(page: PageNumber, got: u32, expected: u32) -> PageError {
    PageError::Damaged { page, place: "the staging area", got, expected }
}
