use nandle_io::{Completion, Operation, Wait};

use super::outstanding::Outstanding;
use super::{Cancel, Lane, LoadError};

impl Lane {
    /// Submits several operations at once and waits for all of them. `done` then holds exactly
    /// these operations in order of completion. Their tokens are their positions in `operations`. A
    /// failed operation carries its own error.
    ///
    /// # Errors
    /// The world has too few slots; the device stopped answering; or the user interrupted it, which
    /// is checked once all have completed.
    pub fn run_all(
        &mut self,
        operations: Vec<Operation>,
        done: &mut Vec<Completion>,
        cancel: &Cancel,
    ) -> Result<(), LoadError> {
        let queue_depth = u32::try_from(operations.len()).unwrap_or(u32::MAX);
        self.check_idle(queue_depth)?;
        let slots = self.io.slots();
        let mut outstanding = Outstanding::new(self.io.now(), queue_depth);
        for operation in operations {
            let (now, device) = (self.io.now(), self.device.id);
            let submitted = outstanding.submit(self.io.as_mut(), device, now, operation);
            submitted.map_err(|_| LoadError::TooDeep { queue_depth, slots })?;
        }
        self.wait_for_all(&mut outstanding, done)?;
        if cancel.is_cancelled() { Err(LoadError::Cancelled) } else { Ok(()) }
    }

    fn wait_for_all(
        &mut self,
        outstanding: &mut Outstanding,
        done: &mut Vec<Completion>,
    ) -> Result<(), LoadError> {
        done.clear();
        while outstanding.count() > 0 {
            let had = done.len();
            self.io.reap(Wait::until_completed(outstanding.count() as usize), done);
            for completion in done.iter().skip(had) {
                outstanding.completed(completion.completed_at, 1);
                outstanding.take(completion.token);
            }
            if done.len() == had {
                outstanding.check(self.io.now(), self.patience)?;
            }
        }
        Ok(())
    }
}
