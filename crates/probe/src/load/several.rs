use std::sync::Barrier;

use nandle_io::{Device, Io};

use super::{Lane, LaneOptions, LoadError, Measurement};

/// Opens the device in a world of its own for each submitting thread, with room for that many requests.
pub type Opener<'a> = dyn Fn(u32) -> Result<(Box<dyn Io>, Device), String> + Sync + 'a;

/// Runs the same load on several threads at once, each on its own lane, and adds up what they gave. They begin
/// together, when the last one is set up. `run` gets the thread's number and its lane.
///
/// A single thread is the caller's own: a thread that ends while the device owes it an answer is held by the kernel
/// until the answer comes, and whoever waits for the thread would wait with it.
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
    if threads <= 1 {
        return run(0, &mut open_lane(open, slots, options)?);
    }
    let start = Barrier::new(threads as usize);
    let on_thread = |number| {
        let lane = open_lane(open, slots, options);
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

fn open_lane(open: &Opener<'_>, slots: u32, options: LaneOptions) -> Result<Lane, LoadError> {
    let (io, device) = open(slots).map_err(LoadError::Opening)?;
    Lane::new(io, device, options).map_err(|error| LoadError::Opening(error.to_string()))
}
