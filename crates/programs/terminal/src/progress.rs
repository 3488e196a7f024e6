//! Progress of long work.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nandle_session::{Observer, Progress, time_left};

/// Progress bar on standard error with the current activity and the remaining time. Hidden if
/// standard error isn't a terminal, or if the user disabled it.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
    began: Instant,
}

/// Resolution of the bar.
const STEPS: u64 = 10_000;

impl Bar {
    /// Creates the bar, hidden unless `wanted`.
    pub fn new(wanted: bool) -> Self {
        let target = if wanted { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(STEPS), target);
        let style = ProgressStyle::with_template("{bar:16.cyan/dim} {percent:>3}%  {prefix:>9}  {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(250));
        Self { bar, began: Instant::now() }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn left(&self, share: f64) -> String {
        let Some(left) = time_left(self.began.elapsed(), share) else { return String::new() };
        let left_s = left.as_secs_f64();
        if left_s < 90.0 { format!("{left_s:.0}s left") } else { format!("{:.0}min left", left_s / 60.0) }
    }
}

impl Observer for Bar {
    fn progress(&mut self, doing: &str, share: f64) {
        let share = share.clamp(0.0, 1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and STEPS")]
        self.bar.set_position((share * STEPS as f64) as u64);
        self.bar.set_prefix(self.left(share));
        self.bar.set_message(doing.to_owned());
    }
}

impl Progress for Bar {
    fn begin_stage(&mut self) {
        self.began = Instant::now();
        self.bar.set_position(0);
    }

    /// Prints a remark above the bar.
    fn remark(&self, sentence: &str) {
        self.bar.suspend(|| crate::output::note(sentence));
    }
}
