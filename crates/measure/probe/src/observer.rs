/// Is told how far a long run has come.
pub trait Observer {
    /// `doing` is under way, and `share` (0 to 1) of all of it is done.
    fn progress(&mut self, doing: &str, share: f64);
}

/// Is told and takes no notice.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn progress(&mut self, _doing: &str, _share: f64) {}
}
