use rustix::io::Errno;

use crate::Cause;

/// Limit of fruitless tries of one system call. A signal or a shortage ends long before.
const TRIES_MAX: u16 = 1000;

/// Consecutive tries that the system interrupted or deferred.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tries(u16);

impl Tries {
    /// Permits another try after this error. Fails after the last try, and at once if a retry can't
    /// help.
    pub(crate) fn again(&mut self, errno: Errno) -> Result<(), Cause> {
        if !matches!(errno, Errno::INTR | Errno::AGAIN) {
            return Err(Cause::System(errno.raw_os_error()));
        }
        match self.exhausted() {
            None => Ok(()),
            Some(tries) => Err(Cause::TriesExhausted { tries, errno: errno.raw_os_error() }),
        }
    }

    /// Counts a fruitless try. Returns their number if it was the last.
    pub(crate) fn exhausted(&mut self) -> Option<u32> {
        self.0 = self.0.saturating_add(1);
        (self.0 >= TRIES_MAX).then_some(self.0.into())
    }

    /// Resets the count after progress.
    pub(crate) fn has_progressed(&mut self) {
        self.0 = 0;
    }

    /// Calls until success or the last try.
    pub(crate) fn until_done<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Cause> {
        let mut tries = Self::default();
        loop {
            match call() {
                Ok(done) => return Ok(done),
                Err(errno) => tries.again(errno)?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_is_put_off_for_ever_ends_with_an_error() {
        for errno in [Errno::INTR, Errno::AGAIN] {
            let mut calls = 0;
            let ended = Tries::until_done(|| -> Result<(), Errno> {
                calls += 1;
                Err(errno)
            });
            assert_eq!(ended, Err(Cause::TriesExhausted { tries: 1000, errno: errno.raw_os_error() }));
            assert_eq!(calls, 1000);
        }
    }

    #[test]
    fn one_that_is_interrupted_now_and_then_is_done() {
        let mut calls = 0;
        let done = Tries::until_done(|| {
            calls += 1;
            if calls < 900 { Err(Errno::INTR) } else { Ok(calls) }
        });
        assert_eq!(done, Ok(900));
        assert_eq!(Tries::until_done(|| -> Result<(), Errno> { Err(Errno::IO) }), Err(Cause::System(5)));
    }

    #[test]
    fn progress_begins_the_count_anew() {
        let mut tries = Tries::default();
        for _ in 0..3 {
            for _ in 0..TRIES_MAX - 1 {
                assert_eq!(tries.again(Errno::AGAIN), Ok(()));
            }
            tries.has_progressed();
        }
    }
}
