//! Looks for new versions of the table.

use std::sync::Arc;
use std::time::Duration;

use nandle_terminal::output;

use super::routes::Dashboard;

/// How often it looks: a directory's pointer is read, or the times of files.
const LOOKS_AFTER: Duration = Duration::from_secs(1);

/// Looks until it is dropped. A table that can't be opened stays as it was, which is said once.
pub(super) async fn watch(dashboard: Arc<Dashboard>) {
    let mut said: Option<String> = None;
    loop {
        tokio::time::sleep(LOOKS_AFTER).await;
        let looked = Arc::clone(&dashboard);
        let renewed = tokio::task::spawn_blocking(move || looked.renew()).await;
        match renewed {
            Ok(Ok(())) | Err(_) => said = None,
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
