use std::cell::RefCell;
use std::rc::Rc;

use nandle_io::{Buffer, BufferMut, WriteBuffers};
use rustc_hash::FxHashSet;

use crate::disk::Disk;
use crate::label::Label;
use crate::page::checksum;
use crate::signal::Signal;
use crate::sums::Sums;
use crate::{PageError, PageNumber};

/// Where every page has its own place. Writes of one page never overlap on the device, and what is read is checked
/// where it was written since the store was opened.
pub(crate) struct Home {
    disk: Rc<Disk>,
    label: Label,
    sums: RefCell<Sums>,
    /// Pages with a write or a discard on its way.
    busy: RefCell<FxHashSet<PageNumber>>,
    changed: Signal,
}

impl Home {
    pub(crate) fn new(disk: &Rc<Disk>, label: &Label) -> Rc<Self> {
        Rc::new(Self {
            disk: Rc::clone(disk),
            label: label.clone(),
            sums: RefCell::default(),
            busy: RefCell::default(),
            changed: Signal::default(),
        })
    }

    pub(crate) fn disk(&self) -> &Rc<Disk> {
        &self.disk
    }

    pub(crate) fn label(&self) -> &Label {
        &self.label
    }

    /// Writes pages that follow one another, with their checksums, in one request.
    pub(crate) async fn write(&self, first: PageNumber, pages: Vec<(Buffer, u32)>) -> Result<(), PageError> {
        let numbers = first.0..first.0 + pages.len() as u64;
        let _mine = self.claim(numbers.clone().map(PageNumber).collect()).await;
        let (from, checksums): (WriteBuffers, Vec<u32>) = pages.into_iter().unzip();
        let written = self.disk.write("writing pages home", self.label.home_of(first), from).await;
        let mut sums = self.sums.borrow_mut();
        for (number, sum) in numbers.map(PageNumber).zip(checksums) {
            match &written {
                Ok(()) => sums.set(number, sum),
                Err(_) => sums.forget(number),
            }
        }
        written
    }

    /// Lets the device forget a page.
    pub(crate) async fn discard(&self, page: PageNumber) -> Result<(), PageError> {
        let _mine = self.claim(vec![page]).await;
        self.sums.borrow_mut().forget(page);
        self.disk.discard(self.label.home_of(page), self.label.page_bytes).await
    }

    /// Reads a page and checks it. A write that came in between makes it read again.
    pub(crate) async fn read(&self, page: PageNumber, mut into: BufferMut) -> Result<Buffer, PageError> {
        loop {
            self.changed.wait(|| (!self.busy.borrow().contains(&page)).then_some(())).await;
            let expected = self.sums.borrow().get(page);
            let contents = self.disk.read("reading a page", self.label.home_of(page), into).await?;
            let Some(expected) = expected else { return Ok(contents) };
            let got = checksum(page, &contents);
            if got == expected {
                return Ok(contents);
            }
            let overtaken =
                self.busy.borrow().contains(&page) || self.sums.borrow().get(page) != Some(expected);
            match contents.thaw() {
                Ok(buffer) if overtaken => into = buffer,
                _ => return Err(PageError::Damaged { page, place: "its home", got, expected }),
            }
        }
    }

    /// Pages whose contents are known.
    pub(crate) fn known(&self) -> Vec<PageNumber> {
        self.sums.borrow().pages()
    }

    async fn claim(&self, pages: Vec<PageNumber>) -> Mine<'_> {
        let free = || !pages.iter().any(|page| self.busy.borrow().contains(page));
        self.changed.wait(|| free().then_some(())).await;
        self.busy.borrow_mut().extend(pages.iter().copied());
        Mine { home: self, pages }
    }
}

/// Pages that nobody else writes meanwhile.
struct Mine<'a> {
    home: &'a Home,
    pages: Vec<PageNumber>,
}

impl Drop for Mine<'_> {
    fn drop(&mut self) {
        let mut busy = self.home.busy.borrow_mut();
        for page in &self.pages {
            busy.remove(page);
        }
        drop(busy);
        self.home.changed.notify();
    }
}
