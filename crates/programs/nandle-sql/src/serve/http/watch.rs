//! Looks for new versions of the table, and has sums made of each.

use std::sync::Arc;
use std::time::Duration;

use nandle_terminal::output;

use super::routes::Dashboard;

/// How often it looks: a directory's pointer is read, or the times of files.
const LOOKS_AFTER: Duration = Duration::from_secs(1);

/// Looks until it is dropped, and has sums made of each version; those that aren't ready when there is another one, or when it is dropped, are given
/// up. A table that can't be opened stays as it was, which is said once.
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
