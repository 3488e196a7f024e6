use super::Store;
use crate::{PageError, PageNumber};

impl Store {
    /// Reads and checks all pages whose contents are known: those in the staging area, and those at home that were written
    /// since the store was opened, or ever where it [checks its pages](crate::Promises::checks_pages).
    /// Returns how many they were. Checks the header as well.
    ///
    /// # Errors
    /// The first page that is damaged or can't be read.
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
