use nandle_probe::load::Cancel;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::error::{CliError, Exit};

/// A flag that Ctrl-C (or SIGTERM) raises, so that what runs can clean up and keep its results. A second one ends the
/// program at once; test files have no name, so they are gone even then.
///
/// One thread takes the signals one after the other: handlers of two that come together could run at the same
/// time, and each take itself for the first.
pub(crate) fn cancel_on_signals() -> Result<Cancel, CliError> {
    let cancel = Cancel::default();
    let raised = cancel.clone();
    let signals = Signals::new([SIGINT, SIGTERM]);
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
