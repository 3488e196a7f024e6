use std::cell::RefCell;
use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::PageNumber;
use crate::signal::Signal;

/// Grants pages to one task at a time, in order of requests. A task receives several pages all at
/// once.
#[derive(Debug, Default)]
pub(crate) struct PageTurns {
    state: RefCell<TurnsState>,
    changed: Signal,
}

#[derive(Debug, Default)]
struct TurnsState {
    taken: FxHashSet<PageNumber>,
    /// Waiting tasks by page, in order. A task's number is entered for all its pages together,
    /// which prevents deadlocks.
    waiting: FxHashMap<PageNumber, VecDeque<u64>>,
    /// Last number given to a waiting task.
    last_number: u64,
}

/// Pages granted to a task, until dropped.
#[derive(Debug)]
pub(crate) struct MyPages<'a> {
    turns: &'a PageTurns,
    pages: Vec<PageNumber>,
    /// Number of a task that is still waiting.
    waits_as: Option<u64>,
}

impl PageTurns {
    /// Waits for these pages. The order is that of the first polls.
    pub(crate) async fn take(&self, pages: Vec<PageNumber>) -> MyPages<'_> {
        let waits_as = self.state.borrow_mut().ask(&pages);
        let mut mine = MyPages { turns: self, pages, waits_as };
        if let Some(number) = waits_as {
            self.changed.wait(|| self.state.borrow_mut().try_take(number, &mine.pages).then_some(())).await;
            mine.waits_as = None;
        }
        mine
    }

    pub(crate) fn is_taken(&self, page: PageNumber) -> bool {
        self.state.borrow().taken.contains(&page)
    }

    /// Waits until the page is free. Another task may take it right afterwards.
    pub(crate) async fn is_free(&self, page: PageNumber) {
        self.changed.wait(|| (!self.is_taken(page)).then_some(())).await;
    }
}

impl TurnsState {
    /// Takes the pages if they are free and not awaited, otherwise returns a number to wait with.
    fn ask(&mut self, pages: &[PageNumber]) -> Option<u64> {
        let is_free = |page| !self.taken.contains(page) && !self.waiting.contains_key(page);
        if pages.iter().all(is_free) {
            self.taken.extend(pages);
            return None;
        }
        self.last_number += 1;
        debug_assert!(!pages.is_empty(), "a task waits for a page");
        for page in pages {
            self.waiting.entry(*page).or_default().push_back(self.last_number);
        }
        Some(self.last_number)
    }

    fn try_take(&mut self, number: u64, pages: &[PageNumber]) -> bool {
        let is_mine = |page| {
            let next = self.waiting.get(page).and_then(VecDeque::front);
            !self.taken.contains(page) && next == Some(&number)
        };
        if !pages.iter().all(is_mine) {
            return false;
        }
        self.stop_waiting(number, pages);
        debug_assert!(pages.iter().all(|page| !self.taken.contains(page)), "a page is one task's");
        self.taken.extend(pages);
        true
    }

    fn stop_waiting(&mut self, number: u64, pages: &[PageNumber]) {
        for page in pages {
            let Some(waiting) = self.waiting.get_mut(page) else { continue };
            waiting.retain(|other| *other != number);
            if waiting.is_empty() {
                self.waiting.remove(page);
            }
        }
    }
}

impl Drop for MyPages<'_> {
    fn drop(&mut self) {
        let mut state = self.turns.state.borrow_mut();
        match self.waits_as {
            Some(number) => state.stop_waiting(number, &self.pages),
            None => {
                for page in &self.pages {
                    let was_mine = state.taken.remove(page);
                    debug_assert!(was_mine, "{page} was this task's until now");
                }
            }
        }
        drop(state);
        self.turns.changed.notify();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn pages(numbers: &[u64]) -> Vec<PageNumber> {
        numbers.iter().copied().map(PageNumber).collect()
    }

    fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_later_task_waits_for_an_earlier_one() {
        let turns = PageTurns::default();
        let first = poll(pin!(turns.take(pages(&[1, 2])))).unwrap();
        let mut second = pin!(turns.take(pages(&[2, 3])));
        assert!(poll(second.as_mut()).is_none());
        let mut third = pin!(turns.take(pages(&[3])));
        assert!(poll(third.as_mut()).is_none(), "page 3 is free, and a task waits for it");
        drop(first);
        let mut late = pin!(turns.take(pages(&[2])));
        assert!(poll(late.as_mut()).is_none(), "no task overtakes one that waits");
        let second = poll(second.as_mut()).unwrap();
        assert!(poll(third.as_mut()).is_none() && turns.is_taken(PageNumber(3)));
        drop(second);
        let (third, late) = (poll(third.as_mut()).unwrap(), poll(late.as_mut()).unwrap());
        drop((third, late));
        assert!(turns.state.borrow().waiting.is_empty() && turns.state.borrow().taken.is_empty());
    }

    #[test]
    fn a_task_that_gives_up_makes_way() {
        let turns = PageTurns::default();
        let first = poll(pin!(turns.take(pages(&[1])))).unwrap();
        {
            let mut given_up = pin!(turns.take(pages(&[1, 2])));
            assert!(poll(given_up.as_mut()).is_none());
        }
        assert!(poll(pin!(turns.take(pages(&[2])))).is_some());
        drop(first);
        assert!(poll(pin!(turns.take(pages(&[1])))).is_some());
    }
}
