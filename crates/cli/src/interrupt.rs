use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nandle_probe::load::Cancel;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::Exit;

/// A flag that Ctrl-C (or SIGTERM) raises, so that what runs can clean up and keep its results. A second Ctrl-C ends
/// the program at once; test files have no name, so they are gone even then.
pub(crate) fn cancel_on_signals() -> Cancel {
    let raised = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Registering fails only for signals that can't be caught, which these aren't.
        let _ = flag::register_conditional_shutdown(signal, Exit::Interrupted as i32, Arc::clone(&raised));
        let _ = flag::register(signal, Arc::clone(&raised));
    }
    Cancel::new(raised)
}
