use nandle_io::{Completion, Operation, Wait};

use super::outstanding::Outstanding;
use super::{Cancel, Lane, LoadError};

impl Lane {
    /// Submits some operations at once and waits until all of them are done; `done` then holds them and nothing else,
    /// in the order in which they completed, their tokens counting the operations from 0. What has failed says so
    /// itself.
    ///
    /// # Errors
    /// There are more than the world has room for; the device stopped answering; the user ended it, which is looked
    /// for when all are done.
    pub fn together(
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
