use super::held::Page;

/// Allowed numbers of pages after a power cut, and contents of new pages.
#[derive(Debug, Clone)]
pub(crate) struct Growth {
    new_page: Page,
    /// Acknowledged and requested sizes, each with the event from which it is promised, if any.
    sizes: Vec<(u64, Option<u64>)>,
}

impl Growth {
    /// A store that durably has this number of pages.
    pub(crate) fn of(pages: u64, new_page: Page) -> Self {
        Self { new_page, sizes: vec![(pages, Some(0))] }
    }

    pub(super) fn from(&self, pages: u64) -> Self {
        Self::of(pages, self.new_page.clone())
    }

    pub(super) fn asked(&mut self, pages: u64) {
        assert!(pages > self.promised(u64::MAX), "a store is asked for more pages than it has");
        self.sizes.push((pages, None));
    }

    pub(super) fn answered(&mut self, position: u64, pages: u64) {
        let Some((_, since)) = self.sizes.iter_mut().rfind(|(size, _)| *size == pages) else {
            panic!("{pages} pages were never asked for");
        };
        since.get_or_insert(position);
    }

    pub(super) fn promised(&self, cut: u64) -> u64 {
        let sizes = self.sizes.iter().filter(|(_, since)| since.is_some_and(|since| since <= cut));
        sizes.map(|(pages, _)| *pages).fold(0, u64::max)
    }

    pub(super) fn check(&self, pages: u64, promised: u64) -> Result<(), String> {
        if pages < promised {
            return Err(format!("the store has {pages} pages, and had acknowledged {promised}"));
        }
        if self.sizes.iter().any(|(size, _)| *size == pages) {
            return Ok(());
        }
        Err(format!("the store has {pages} pages, which it was never asked for"))
    }

    pub(super) fn new_page(&self) -> &Page {
        &self.new_page
    }
}
