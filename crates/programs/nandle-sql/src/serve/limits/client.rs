use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::Ended;
use super::admission::{Admission, Place};

/// Admission slot shared by all queries of a client, so that a half-read query doesn't block the
/// client's next one. Otherwise clients could wait for each other's slots until they time out.
#[derive(Debug, Default)]
pub(crate) struct ClientPlace(Mutex<Weak<Place>>);

impl ClientPlace {
    /// Slot that the client holds, or the next free one.
    pub(super) async fn admit(&self, admission: &Admission) -> Result<Arc<Place>, Ended> {
        if let Some(place) = self.held() {
            return Ok(place);
        }
        let place = Arc::new(admission.admit().await?);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(&place);
        Ok(place)
    }

    fn held(&self) -> Option<Arc<Place>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[test]
    fn a_client_has_one_place_for_all_of_its_queries() {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
            let admission = Admission::new(NonZeroUsize::MIN, 1);
            let (one, other) = (ClientPlace::default(), ClientPlace::default());
            let first = one.admit(&admission).await.unwrap();
            let second = one.admit(&admission).await.unwrap();
            let soon = Duration::from_millis(10);
            drop(first);
            assert!(timeout(soon, other.admit(&admission)).await.is_err(), "it waits for both");
            drop(second);
            let third = other.admit(&admission).await.unwrap();
            assert!(timeout(soon, one.admit(&admission)).await.is_err(), "its place has gone");
            drop(third);
        });
    }
}
