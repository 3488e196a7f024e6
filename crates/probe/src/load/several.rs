use std::sync::Barrier;

use nandle_io::{Device, Io};

use super::{Lane, LaneOptions, LoadError, Measurement};

/// Opens the device in a world of its own for each submitting thread, with room for that many requests.
pub type Opener<'a> = dyn Fn(u32) -> Result<(Box<dyn Io>, Device), String> + Sync + 'a;

/// Runs the same load on several threads at once, each on its own lane, and adds up what they gave. They begin
/// together, when the last one is set up. `run` gets the thread's number and its lane.
///
/// # Errors
/// The first thread's that has one.
pub fn run_on_threads(
    open: &Opener<'_>,
    threads: u32,
    slots: u32,
    options: LaneOptions,
    run: &(dyn Fn(u32, &mut Lane) -> Result<Measurement, LoadError> + Sync),
) -> Result<Measurement, LoadError> {
    let start = Barrier::new(threads as usize);
    let on_thread = |number| {
        let lane = open(slots).map_err(LoadError::Opening).and_then(|(io, device)| {
            Lane::new(io, device, options).map_err(|e| LoadError::Opening(e.to_string()))
        });
        // Every thread comes to the barrier, also one that could not be set up.
        start.wait();
        run(number, &mut lane?)
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|number| scope.spawn(move || on_thread(number))).collect();
        handles.into_iter().map(|handle| handle.join().map_err(std::panic::resume_unwind)).collect()
    });
    let mut sum = Measurement::new();
    for result in results.into_iter().flatten() {
        sum.merge(&result?);
    }
    Ok(sum)
}
