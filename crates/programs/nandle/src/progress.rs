use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nandle_probe::Observer;

/// A bar on standard error with what is being done and the time left; nothing when that is no terminal, or when the
/// user wants none.
pub(crate) struct Progress {
    bar: ProgressBar,
    began: Instant,
}

/// Steps of the bar.
const STEPS: u64 = 10_000;

impl Progress {
    pub(crate) fn new(wanted: bool) -> Self {
        let target = if wanted { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(STEPS), target);
        let style = ProgressStyle::with_template("{bar:16.cyan/dim} {percent:>3}%  {prefix:>9}  {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(250));
        Self { bar, began: Instant::now() }
    }

    /// Starts anew, for the next stage.
    pub(crate) fn restart(&mut self) {
        self.began = Instant::now();
        self.bar.set_position(0);
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Tells something above the bar.
    pub(crate) fn note(&self, text: &str) {
        self.bar.suspend(|| crate::output::note(text));
    }

    fn left(&self, share: f64) -> String {
        let passed = self.began.elapsed().as_secs_f64();
        if share < 0.01 || passed < 0.5 {
            return String::new();
        }
        let left = passed * (1.0 - share) / share;
        if left < 90.0 { format!("{left:.0}s left") } else { format!("{:.0}min left", left / 60.0) }
    }
}

impl Observer for Progress {
    fn progress(&mut self, doing: &str, share: f64) {
        let share = share.clamp(0.0, 1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and STEPS")]
        self.bar.set_position((share * STEPS as f64) as u64);
        self.bar.set_prefix(self.left(share));
        self.bar.set_message(doing.to_owned());
    }
}
