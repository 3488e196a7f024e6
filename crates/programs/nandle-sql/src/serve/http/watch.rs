//! Detects new versions of the table and starts building their sums.

use std::sync::Arc;
use std::time::Duration;

use nandle_terminal::output;

use super::routes::Dashboard;

/// Interval between checks, each of which reads a table's pointer or the modification times of
/// files.
const LOOKS_AFTER: Duration = Duration::from_secs(1);

/// Checks until dropped, and builds sums for each version. A build is cancelled by the next
/// version or on drop. If the table can't be opened, the old version stays and the error is
/// reported once.
pub(super) async fn watch(dashboard: Arc<Dashboard>) {
    let mut said: Option<String> = None;
    let mut making = dashboard.current().make_sums();
    loop {
        tokio::time::sleep(LOOKS_AFTER).await;
        let looked = Arc::clone(&dashboard);
        let renewed = tokio::task::spawn_blocking(move || looked.renew()).await;
        match renewed {
            Ok(Ok(true)) => {
                drop(making);
                making = dashboard.current().make_sums();
                said = None;
            }
            Ok(Ok(false)) | Err(_) => said = None,
            Ok(Err(error)) => {
                let sentence = format!(
                    "looking for a new version of the table: {error}; the dashboard shows the one before"
                );
                if said.as_ref() != Some(&sentence) {
                    output::note(&sentence);
                }
                said = Some(sentence);
            }
        }
    }
}
