use nandle_io::{Completion, DeviceId, Io, Nanos, Operation, Request};

use super::LoadError;

/// Outstanding requests of a run: their number over time, and the time since the last completion.
pub(super) struct Outstanding {
    count: u32,
    area_ns: f64,
    last_change: Nanos,
    last_progress: Nanos,
    /// Token of the first request. Other tokens follow consecutively.
    first_token: u64,
    free_tokens: Vec<u32>,
    by_token: Vec<Option<RequestInfo>>,
}

/// Facts of a request for the stall message, and its due time.
#[derive(Clone, Copy)]
pub(super) struct RequestInfo {
    pub(super) due: Nanos,
    offset_bytes: u64,
    operation: &'static str,
}

impl Outstanding {
    pub(super) fn new(now: Nanos, queue_depth: u32) -> Self {
        Self::with_tokens_from(0, now, queue_depth)
    }

    /// Uses tokens from `first_token` on, so that several streams can share a world.
    pub(super) fn with_tokens_from(first_token: u64, now: Nanos, queue_depth: u32) -> Self {
        Self {
            first_token,
            count: 0,
            area_ns: 0.0,
            last_change: now,
            last_progress: now,
            free_tokens: (0..queue_depth).rev().collect(),
            by_token: vec![None; queue_depth as usize],
        }
    }

    pub(super) fn count(&self) -> u32 {
        self.count
    }

    pub(super) fn area_ns(&self) -> f64 {
        self.area_ns
    }

    /// Time up to which the number of outstanding requests is recorded.
    pub(super) fn as_of(&self) -> Nanos {
        self.last_change
    }

    /// Resets the integral of outstanding requests.
    pub(super) fn restart_area(&mut self) {
        self.area_ns = 0.0;
    }

    pub(super) fn is_full(&self) -> bool {
        self.free_tokens.is_empty()
    }

    /// Submits an operation that was due at `due`. Returns it if the queue is full.
    pub(super) fn submit(
        &mut self,
        io: &mut dyn Io,
        device: DeviceId,
        due: Nanos,
        operation: Operation,
    ) -> Result<(), Operation> {
        let Some(token) = self.free_tokens.pop() else { return Err(operation) };
        let info = RequestInfo { due, offset_bytes: operation.offset_bytes(), operation: operation.name() };
        let request = Request { token: self.first_token + u64::from(token), operation };
        if let Err(full) = io.submit(device, request) {
            self.free_tokens.push(token);
            return Err(full.0.operation);
        }
        self.count += 1;
        if let Some(place) = self.by_token.get_mut(token as usize) {
            *place = Some(info);
        }
        Ok(())
    }

    /// Advances the time. An idle device isn't silent.
    pub(super) fn pass(&mut self, now: Nanos) {
        self.area_ns += f64::from(self.count) * now.since(self.last_change).0 as f64;
        self.last_change = self.last_change.max(now);
        if self.count == 0 {
            self.last_progress = self.last_change;
        }
    }

    /// Records that `count` requests completed at one time, as far as the world can see. A world
    /// that sees completions late gives several the same time. They are assumed to be spread evenly
    /// since the previous time.
    pub(super) fn completed(&mut self, at: Nanos, count: u32) {
        let mean = f64::from(self.count) - f64::from(count.saturating_sub(1)) / 2.0;
        self.area_ns += mean * at.since(self.last_change).0 as f64;
        self.count = self.count.saturating_sub(count);
        self.last_change = self.last_change.max(at);
        self.last_progress = self.last_change;
    }

    /// Frees a completed request's token and returns the request's facts.
    pub(super) fn take(&mut self, token: u64) -> Option<RequestInfo> {
        let token = u32::try_from(token.checked_sub(self.first_token)?).ok()?;
        let info = self.by_token.get_mut(token as usize)?.take()?;
        self.free_tokens.push(token);
        Some(info)
    }

    /// # Errors
    /// Nothing completed for `patience`, though requests are outstanding.
    pub(super) fn check(&self, now: Nanos, patience: Nanos) -> Result<(), LoadError> {
        let silent = now.since(self.last_progress);
        if self.count == 0 || silent < patience {
            return Ok(());
        }
        let oldest = self.by_token.iter().flatten().min_by_key(|info| info.due);
        let (operation, offset_bytes, age) = oldest.map_or(("request", 0, silent), |oldest| {
            (oldest.operation, oldest.offset_bytes, now.since(oldest.due))
        });
        Err(LoadError::Stalled { silent, outstanding: self.count as usize, operation, offset_bytes, age })
    }
}

/// Number of leading completions with the same time.
pub(super) fn same_time_count(completions: &[Completion]) -> usize {
    completions.chunk_by(|a, b| a.completed_at == b.completed_at).next().map_or(0, <[_]>::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_out_of_order_do_not_count_time_twice() {
        let mut outstanding = Outstanding::new(Nanos(0), 4);
        outstanding.count = 4;
        for at in [1000, 500, 1000, 2000] {
            outstanding.completed(Nanos(at), 1);
            outstanding.count = 4;
        }
        assert!((outstanding.area_ns() - 4.0 * 2000.0).abs() < 1e-9, "{}", outstanding.area_ns());
    }
}
