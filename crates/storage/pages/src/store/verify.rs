use super::Store;
use crate::{PageError, PageNumber};

impl Store {
    /// Reads and checks all pages with known contents, and the header: staged pages, and home pages
    /// written since the opening, or ever if the store [checks its
    /// pages](crate::Promises::checks_pages). Returns their number.
    ///
    /// # Errors
    /// The first page that is damaged or unreadable.
    pub async fn verify(&self) -> Result<u64, PageError> {
        self.home.disk().check_running()?;
        let known = self.known();
        for page in &known {
            let verified = self.policy.verify(*page, self.buffer()?).await;
            verified.map_err(|error| self.outer_error(error))?;
        }
        let is_page = |page: &&PageNumber| self.home.label().header_page != Some(**page);
        Ok(known.iter().filter(is_page).count() as u64)
    }
}
