use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use nandle_io::{Buffer, BufferMut, Durability, WriteBuffers};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::disk::{Disk, Writing};
use crate::label::Label;
use crate::page::checksum;
use crate::size::to_u32;
use crate::sums::Sums;
use crate::turns::PageTurns;
use crate::{PageError, PageNumber};

/// Home places of all pages. Writes of a page never overlap on the device, and take place in call
/// order. Reads are checked if the last write is known: since the opening, or always with durable
/// [checksums](crate::home_sums).
pub(crate) struct Home {
    disk: Rc<Disk>,
    /// Label at the time of the opening.
    label: Label,
    /// Current number of pages.
    pages: Cell<u64>,
    sums: RefCell<Sums>,
    /// Pages with unknown contents after a failed write. The store has stopped.
    half_written: RefCell<FxHashSet<PageNumber>>,
    /// Pages with a write or a discard in flight.
    turns: PageTurns,
}

impl Home {
    pub(crate) fn new(disk: &Rc<Disk>, label: &Label) -> Rc<Self> {
        Rc::new(Self {
            disk: Rc::clone(disk),
            label: label.clone(),
            pages: Cell::new(label.pages),
            sums: RefCell::default(),
            half_written: RefCell::default(),
            turns: PageTurns::default(),
        })
    }

    /// Adopts checksums known to an earlier opening.
    pub(crate) fn remember(&self, known: impl IntoIterator<Item = (PageNumber, u32)>) {
        let mut sums = self.sums.borrow_mut();
        known.into_iter().for_each(|(page, sum)| sums.set(page, sum));
    }

    /// Marks a page's contents as unknown.
    pub(crate) fn forget(&self, page: PageNumber) {
        self.sums.borrow_mut().forget(page);
    }

    pub(crate) fn disk(&self) -> &Rc<Disk> {
        &self.disk
    }

    pub(crate) fn label(&self) -> &Label {
        &self.label
    }

    /// Number of pages.
    pub(crate) fn pages(&self) -> u64 {
        self.pages.get()
    }

    /// Sets the number of pages.
    pub(crate) fn grow(&self, pages: u64) {
        assert!(pages >= self.pages(), "{} pages don't become {pages}", self.pages());
        self.pages.set(pages);
    }

    /// Offset of a page. Policies and recovery never pass pages beyond the end.
    fn place_of(&self, page: PageNumber) -> u64 {
        debug_assert!(page.0 < self.pages(), "{page} is beyond the end, which is at {}", self.pages());
        self.label.home_of(page)
    }

    /// Offset of a run of pages to be written.
    fn place_of_run(&self, run: &Run) -> u64 {
        debug_assert_eq!(run.pages.len(), run.sums.len(), "each page has its checksum");
        debug_assert!(
            run.first.0 + run.pages.len() as u64 <= self.pages(),
            "{} pages from {} on reach beyond the end, which is at {}",
            run.pages.len(),
            run.first,
            self.pages()
        );
        debug_assert!(
            run.pages.iter().all(|page| page.len() as u64 == self.label.page_bytes),
            "what is written home has the length of a page"
        );
        self.label.home_of(run.first)
    }

    /// Writes runs of pages, with up to `depth()` requests in flight.
    pub(crate) async fn write(&self, runs: Vec<Run>, depth: impl Fn() -> usize) -> Result<(), PageError> {
        let _mine = self.turns.take(runs.iter().flat_map(Run::numbers).collect()).await;
        let mut on_their_way = VecDeque::new();
        let mut result = Ok(());
        for run in runs {
            let offset_bytes = self.place_of_run(&run);
            let Run { first, pages, sums } = run;
            while on_their_way.len() >= depth().max(1) {
                result = result.and(self.oldest_written(&mut on_their_way).await);
            }
            let writing = self.disk.write("writing pages home", offset_bytes, pages);
            on_their_way.push_back((writing, first, sums));
        }
        while !on_their_way.is_empty() {
            result = result.and(self.oldest_written(&mut on_their_way).await);
        }
        result
    }

    /// Writes a run in one request that is durable at completion.
    pub(crate) async fn write_durably(&self, run: Run) -> Result<(), PageError> {
        let _mine = self.turns.take(run.numbers().collect()).await;
        let offset_bytes = self.place_of_run(&run);
        let Run { first, pages, sums } = run;
        let writing = self.disk.send("writing pages home durably", offset_bytes, pages, Durability::Durable);
        self.written(writing, first, sums).await
    }

    async fn oldest_written(&self, on_their_way: &mut OnTheirWay) -> Result<(), PageError> {
        let Some((writing, first, checksums)) = on_their_way.pop_front() else { return Ok(()) };
        self.written(writing, first, checksums).await
    }

    async fn written(
        &self,
        writing: Writing,
        first: PageNumber,
        checksums: SmallVec<[u32; 1]>,
    ) -> Result<(), PageError> {
        let written = writing.await;
        let mut sums = self.sums.borrow_mut();
        for (number, sum) in (first.0..).map(PageNumber).zip(checksums) {
            match &written {
                Ok(()) => sums.set(number, sum),
                // No request was sent, so the page is unchanged.
                Err(PageError::Latched { .. } | PageError::ReadOnly) => {}
                Err(_) => {
                    sums.forget(number);
                    self.half_written.borrow_mut().insert(number);
                }
            }
        }
        written
    }

    /// Discards a page on the device.
    pub(crate) async fn discard(&self, page: PageNumber) -> Result<(), PageError> {
        let _mine = self.turns.take(vec![page]).await;
        self.sums.borrow_mut().forget(page);
        self.disk.discard(self.place_of(page), self.label.page_bytes).await
    }

    /// Reads and checks a page. Refuses one whose write failed, and reads again after a concurrent
    /// write.
    pub(crate) async fn read(&self, page: PageNumber, mut into: BufferMut) -> Result<Buffer, PageError> {
        loop {
            self.turns.is_free(page).await;
            if self.half_written.borrow().contains(&page) {
                self.disk.check_writable()?;
                debug_assert!(false, "a write that fails stops the store");
            }
            debug_assert_eq!(into.len() as u64, self.label.page_bytes, "memory for {page}");
            let expected = self.sums.borrow().get(page);
            let contents = self.disk.read("reading a page", self.place_of(page), into).await?;
            let Some(expected) = expected else { return Ok(contents) };
            let got = checksum(page, &contents);
            if got == expected {
                return Ok(contents);
            }
            let overtaken = self.turns.is_taken(page) || self.sums.borrow().get(page) != Some(expected);
            match contents.thaw() {
                Ok(buffer) if overtaken => into = buffer,
                _ => return Err(PageError::Damaged { page, place: "its home", got, expected }),
            }
        }
    }

    /// Place and checksum of a page; `None` during a write, and for unknown contents.
    pub(crate) fn locate(&self, page: PageNumber) -> Option<Place> {
        if self.turns.is_taken(page) {
            return None;
        }
        let sum = self.sums.borrow().get(page)?;
        let stored_bytes = to_u32(self.label.page_bytes);
        Some(Place { offset_bytes: self.place_of(page), stored_bytes, sum })
    }

    /// Pages with known contents.
    pub(crate) fn known(&self) -> Vec<PageNumber> {
        self.sums.borrow().pages()
    }
}

/// Place of a page's newest version on the device, with its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) offset_bytes: u64,
    /// Length of the page, or less if compressed.
    pub(crate) stored_bytes: u32,
    /// Checksum of the uncompressed page.
    pub(crate) sum: u32,
}

/// Requests in flight in order, with the first page and the checksums of each.
type OnTheirWay = VecDeque<(Writing, PageNumber, SmallVec<[u32; 1]>)>;

/// Consecutive pages, written in one request.
#[derive(Debug)]
pub(crate) struct Run {
    first: PageNumber,
    pages: WriteBuffers,
    sums: SmallVec<[u32; 1]>,
}

impl Run {
    /// Run of a single page with its checksum.
    pub(crate) fn of(page: PageNumber, contents: Buffer, sum: u32) -> Self {
        let (pages, sums) = (WriteBuffers::from_buf([contents]), SmallVec::from_buf([sum]));
        Self { first: page, pages, sums }
    }

    /// Adds the page that follows the last one. Returns it if it is another page, or the run is
    /// full.
    pub(crate) fn extend(
        &mut self,
        page: PageNumber,
        contents: Buffer,
        sum: u32,
        longest_pages: usize,
    ) -> Result<(), Buffer> {
        let length = self.pages.len();
        if self.first.0 + length as u64 != page.0 || length >= longest_pages {
            return Err(contents);
        }
        self.pages.push(contents);
        self.sums.push(sum);
        Ok(())
    }

    fn numbers(&self) -> impl Iterator<Item = PageNumber> + use<> {
        (self.first.0..self.first.0 + self.pages.len() as u64).map(PageNumber)
    }
}
