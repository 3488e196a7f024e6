/// Receives the progress of a long run.
pub trait Observer {
    /// Reports that `doing` is under way and that `share` (0 to 1) of the run is done.
    fn progress(&mut self, doing: &str, share: f64);
}

/// Observer that ignores all progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn progress(&mut self, _doing: &str, _share: f64) {}
}
