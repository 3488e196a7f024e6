use nandle_session::Cancel;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::{CliError, Exit};

/// A flag that Ctrl-C raises (or SIGTERM, or SIGHUP when the terminal goes away), so that what runs can clean up. A second one ends the
/// program at once: what a load has written by then is no part of the table, and the next load removes it.
pub(crate) fn cancel_on_signals() -> Result<Cancel, CliError> {
    let cancel = Cancel::default();
    let raised = cancel.clone();
    let signals = Signals::new([SIGINT, SIGTERM, SIGHUP]);
    let watching = signals.and_then(|mut signals| {
        let watch = move || signals.forever().for_each(|_| raise(&raised));
        std::thread::Builder::new().name("nandle-signals".into()).spawn(watch)
    });
    watching.map_err(|error| CliError::failed(format!("watching for Ctrl-C: {error}")))?;
    Ok(cancel)
}

fn raise(cancel: &Cancel) {
    if cancel.is_cancelled() {
        #[expect(clippy::exit, reason = "the user has asked twice")]
        std::process::exit(Exit::Interrupted as i32);
    }
    cancel.cancel();
}
